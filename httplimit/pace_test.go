package httplimit

import (
	"strconv"
	"testing"
	"time"
)

func TestPacerSpreads(t *testing.T) {
	for _, tc := range []struct {
		name string
		told told
		want []time.Duration // of requests that come at once
	}{
		{"plenty", told{"a", 100, 50, 10 * time.Second}, []time.Duration{0, 0, 0}},
		{"a quarter", told{"a", 40, 10, 10 * time.Second}, []time.Duration{0, time.Second, 2 * time.Second}},
		{"few of who knows how many", told{"a", 0, 5, 10 * time.Second}, []time.Duration{0, 2 * time.Second, 4 * time.Second}},
		{"one", told{"a", 100, 1, 10 * time.Second}, []time.Duration{0, 10 * time.Second, 10 * time.Second}},
		{"none", told{"a", 100, 0, 10 * time.Second}, []time.Duration{10 * time.Second, 10 * time.Second}},
		{"none, and no time", told{"a", 100, 0, 0}, []time.Duration{0, 0}},
	} {
		var p pacer
		p.end("h", false, []told{tc.told}, noon)
		for i, want := range tc.want {
			if have, _ := p.begin("h", noon); have != want {
				t.Errorf("%s: request %d waits %v, want %v", tc.name, i+1, have, want)
			}
		}
		if have, _ := p.begin("h", noon.Add(tc.told.reset)); have != 0 {
			t.Errorf("%s: %v after the reset", tc.name, have)
		}
		if have, known := p.begin("other", noon); have != 0 || known {
			t.Errorf("%s: another host waits %v", tc.name, have)
		}
	}
}

// TestPacerCountsWhatIsUnderWay: what the server has not seen yet is not left.
func TestPacerCountsWhatIsUnderWay(t *testing.T) {
	var p pacer
	plenty := []told{{"a", 100, 90, time.Minute}}
	p.end("h", false, plenty, noon)
	for range 3 {
		p.begin("h", noon)
	}
	p.end("h", true, []told{{"a", 100, 2, time.Minute}}, noon) // two more are on their way
	if have, _ := p.begin("h", noon); have != time.Minute {
		t.Errorf("waits %v", have)
	}
}

// TestPacerKeepsLimitsApart: the longest wait of a host's limits counts.
func TestPacerKeepsLimitsApart(t *testing.T) {
	var p pacer
	p.end("h", false, []told{{"a", 100, 0, time.Second}, {"b", 100, 90, time.Minute}}, noon)
	if have, _ := p.begin("h", noon); have != time.Second {
		t.Errorf("waits %v", have)
	}
	p.end("h", true, []told{{"b", 100, 0, time.Minute}}, noon)
	if have, _ := p.begin("h", noon); have != time.Minute {
		t.Errorf("then waits %v", have)
	}
}

func TestPacerIsBounded(t *testing.T) {
	var p pacer
	for i := range 3 * maxHosts {
		limits := make([]told, maxLimits+5)
		for j := range limits {
			limits[j] = told{strconv.Itoa(j), 1, 1, time.Hour}
		}
		p.end(strconv.Itoa(i), false, limits, noon)
	}
	if n := len(p.mu.hosts); n > maxHosts {
		t.Errorf("%d hosts", n)
	}
	for _, h := range p.mu.hosts {
		if len(h.limits) > maxLimits {
			t.Fatalf("%d limits", len(h.limits))
		}
	}
	for i := 0; len(p.mu.hosts) < maxHosts; i++ {
		p.end("more"+strconv.Itoa(i), false, []told{{"a", 1, 1, time.Hour}}, noon)
	}
	// All are over by then, and make room for one.
	p.end("new", false, []told{{"a", 1, 1, time.Hour}}, noon.Add(2*time.Hour))
	if n := len(p.mu.hosts); n != 1 {
		t.Errorf("%d hosts later", n)
	}
	p.begin("new", noon.Add(4*time.Hour))
	p.end("new", true, nil, noon.Add(4*time.Hour))
}
