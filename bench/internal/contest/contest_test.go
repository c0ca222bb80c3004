package contest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir/bench/internal/rlsload"
)

// The clock of this process moves with work, in steps far below a tick.
func TestCPUOf(t *testing.T) {
	before, err := cpuOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	after := before
	for deadline := time.Now().Add(10 * time.Second); after == before && time.Now().Before(deadline); {
		if after, err = cpuOf(os.Getpid()); err != nil {
			t.Fatal(err)
		}
	}
	if d := after - before; d <= 0 || d >= 10*time.Millisecond {
		t.Errorf("the first step is %v", d)
	}
	const nobody = 1<<22 + 1 // above the kernel's greatest
	if _, err := cpuOf(nobody); err == nil {
		t.Error("a process that is not there has used processor time")
	}
}

func TestParseSources(t *testing.T) {
	got, err := parseSources(strings.NewReader(`# HELP weir_decisions_total decisions
weir_decisions_total{domain="bench",outcome="allow",rule="a",source="store",version="v"} 60
weir_decisions_total{domain="bench",outcome="deny",rule="a",source="store",version="v"} 15
weir_decisions_total{domain="bench",outcome="deny",rule="a",source="deny_cache",version="v"} 2.5e+01
weir_decisions_total{domain="bench",outcome="deny",rule="a",source="lease",version="v"} 0
weir_other_total{source="store"} 7
`))
	if want := map[string]float64{"store": 0.75, "deny_cache": 0.25}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("sources %v, %v, want %v", got, err, want)
	}
}

func TestEngines(t *testing.T) {
	if got := engines("--grpc address"); !slices.Equal(got, []string{""}) {
		t.Errorf("engines %q of a program without the choice", got)
	}
	two := weirs(engines("      --grpc-engine name   fast or stock"), ", leased", false, "--lease", "auto")
	if len(two) != 2 || two[1].Name != "Weir, leased, fast engine" ||
		!slices.Equal(two[1].Args, []string{"--grpc-engine", "fast", "--lease", "auto"}) {
		t.Errorf("systems %+v", two)
	}
}

// A seed gives the same requests, another seed others.
func TestRecordingsAreTheSeeds(t *testing.T) {
	for _, sc := range scenarios([]string{""}) {
		a, b, c := sc.Record(seeded(1), 500), sc.Record(seeded(1), 500), sc.Record(seeded(2), 500)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: two recordings of one seed differ", sc.Name)
		}
		if sc.Name != HotKey && reflect.DeepEqual(a, c) {
			t.Errorf("%s: recordings of two seeds are the same", sc.Name)
		}
	}
}

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 0)) }

func TestDifferences(t *testing.T) {
	ok := rlsload.Answer{Code: rlsload.CodeOK, Statuses: []rlsload.Status{{Code: rlsload.CodeOK, Limited: true, Requests: 5, Remaining: 4, Reset: time.Hour}}}
	change := func(f func(*rlsload.Answer)) rlsload.Answer {
		a := rlsload.Answer{Code: ok.Code, Statuses: slices.Clone(ok.Statuses)}
		f(&a)
		return a
	}
	got := []rlsload.Answer{
		change(func(a *rlsload.Answer) { a.Statuses[0].Reset -= 10 * time.Second }), // the same
		change(func(a *rlsload.Answer) { a.Code = rlsload.CodeOverLimit }),
		change(func(a *rlsload.Answer) { a.Statuses[0].Remaining-- }),
		change(func(a *rlsload.Answer) { a.Statuses = nil }),
		change(func(a *rlsload.Answer) { a.Statuses[0].Reset = time.Minute }),
	}
	want := slices.Repeat([]rlsload.Answer{ok}, len(got))
	m := differences("w", make(rlsload.Recording, len(got)), want, got)
	if m.Count != 4 || len(m.Examples) != maxExamples || !strings.HasPrefix(m.Examples[0], "request 2, ") {
		t.Errorf("differences %+v", m)
	}
}

// A turn that measured something else than its title says is refused.
func TestCheck(t *testing.T) {
	ours := System{Ours: true}
	through := Scenario{Name: OneDescriptor, Redis: true}
	store := map[string]float64{"store": 1}
	for _, c := range []struct {
		name string
		sc   Scenario
		sys  System
		s    Sample
		ok   bool
	}{
		{"allowed by Redis", through, ours, Sample{OK: 1000, Sources: store}, true},
		{"a peer has no sources", through, System{}, Sample{OK: 1000}, true},
		{"allowed by a fallback", through, ours, Sample{OK: 1000, Sources: map[string]float64{"store": 0.9, "backstop": 0.1}}, false},
		{"nothing", through, System{}, Sample{}, false},
		{"failures", through, System{}, Sample{OK: 1000, Failed: 10}, false},
		{"denials", through, System{}, Sample{OK: 1000, Denied: 1}, false},
		{"a flood", Scenario{Name: DeniedFlood}, ours, Sample{Denied: 5000, OK: 2}, true},
		{"no flood", Scenario{Name: DeniedFlood}, ours, Sample{Denied: 500, OK: 500}, false},
	} {
		if err := c.sc.check(c.sys, c.s); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Whatever the number of rules, the counters are as many.
func TestRuleRecordingHasOneNumberOfCounters(t *testing.T) {
	for _, n := range []int{10, 1000, 100_000} {
		tenants, rules := map[string]bool{}, map[string]bool{}
		for _, r := range ruleRecording(n) {
			rules[r.Descriptors[0][0].Value] = true
			tenants[r.Descriptors[0][0].Value+r.Descriptors[0][1].Value] = true
		}
		if len(tenants) < counters*99/100 || len(tenants) > counters || len(rules) > n || len(rules) < min(n, counters)*99/100 {
			t.Errorf("%d rules: %d counters of %d rules", n, len(tenants), len(rules))
		}
		files := ruleFiles(n)
		if got := strings.Count(strings.Join(files, ""), "rate_limit"); got != n {
			t.Errorf("%d limits for %d rules", got, n)
		}
		last := uint64(n - 1)
		if text := files[len(files)-1]; !strings.HasPrefix(text, "domain: "+ruleDomain(last)+"\n") ||
			!strings.Contains(text, rlsload.Number(last)) {
			t.Errorf("%d rules: the last is not in its domain", n)
		}
	}
}

func TestResultAsJSON(t *testing.T) {
	want := Result{Peer: "v1", Rounds: 3, Scenarios: []Table{{Name: HotKey, Rows: []Row{{System: PeerTuned, Samples: []Sample{{Rate: 5, Server: 1, RedisCPU: 2}}}}}}}
	var b bytes.Buffer
	if err := want.Write(&b); err != nil {
		t.Fatal(err)
	}
	var got Result
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v", got, err)
	}
	if cpu := got.Scenarios[0].Rows[0].Samples[0].CPU(); cpu != 3 {
		t.Errorf("CPU %v, want 3", cpu)
	}
}

func TestInterleave(t *testing.T) {
	calls := 0.0
	c, err := interleave(growthPlan{samples: 3}, func(p growthPlan) (Curve, error) {
		if p.samples != 1 {
			t.Errorf("%d samples at once", p.samples)
		}
		calls++
		return Curve{Name: "c", Points: []Point{{X: 1, Samples: []Sample{{Server: calls}}}, {X: 2, Samples: []Sample{{Server: 10 * calls}}}}}, nil
	})
	cpu := Of(c.Points[1].Samples, Sample.CPU)
	if err != nil || c.Name != "c" || len(c.Points) != 2 || !slices.Equal(cpu, []float64{10, 20, 30}) {
		t.Errorf("curve %+v, %v", c, err)
	}
}

func TestCapacityIsTheMedianOfTheJudged(t *testing.T) {
	res := &Result{Scenarios: []Table{{Name: Embedded, Rows: []Row{
		{System: PeerTuned, Samples: []Sample{{Rate: 9000}}},
		{System: "Weir", Ours: true, Samples: []Sample{{Rate: 100}, {Rate: 900}, {Rate: 300}}},
	}}}}
	if rate, ok := res.capacity(Embedded); !ok || rate != 300 {
		t.Errorf("capacity %v, %v, want 300", rate, ok)
	}
	if _, ok := res.capacity(HotKey); ok {
		t.Error("a scenario that was not measured has a capacity")
	}
}
