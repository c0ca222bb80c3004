package chaos

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/loadgen"
)

// What judges the rows is judged here, with the race detector as well.

const metricsText = `
# TYPE weir_check_duration_seconds histogram
weir_check_duration_seconds_bucket{source="store",le="0.001"} 90
weir_check_duration_seconds_bucket{source="store",le="0.015"} 95
weir_check_duration_seconds_bucket{source="store",le="+Inf"} 98
weir_check_duration_seconds_sum{source="store"} 1
weir_check_duration_seconds_count{source="store"} 98
weir_check_duration_seconds_bucket{source="backstop",le="0.001"} 0
weir_check_duration_seconds_bucket{source="backstop",le="0.015"} 2
weir_check_duration_seconds_bucket{source="backstop",le="+Inf"} 2
weir_check_duration_seconds_sum{source="backstop"} 1
weir_check_duration_seconds_count{source="backstop"} 2
# TYPE weir_degraded_total counter
weir_degraded_total{reason="timeout",rule="a"} 1
weir_degraded_total{reason="timeout",rule="b"} 1
# TYPE weir_store_errors_total counter
weir_store_errors_total{reason="refused",shard="a:1"} 3
# TYPE weir_breaker_state gauge
weir_breaker_state{shard="a:1"} 1
# TYPE weir_breaker_transitions_total counter
weir_breaker_transitions_total{shard="a:1",state="open"} 2
# TYPE go_goroutines gauge
go_goroutines 42
`

func TestSample(t *testing.T) {
	s, err := parseSample(time.Now(), metricsText)
	if err != nil {
		t.Fatal(err)
	}
	if s.degraded["timeout"] != 2 || s.storeErrors["refused"] != 3 || s.breakers["a:1"] != 1 || s.turns["open"] != 2 ||
		s.goroutines != 42 || s.sources["store"] != 98 || s.sources["backstop"] != 2 {
		t.Errorf("%+v", s)
	}
	if share, err := s.slower(15 * time.Millisecond); err != nil || share < 0.0299 || share > 0.0301 {
		t.Errorf("slower than 15 ms: %v, %v; want 3 of 100", share, err)
	}
	if _, err := s.slower(16 * time.Millisecond); err == nil {
		t.Error("a share of what is not counted")
	}
	for q, want := range map[float64]time.Duration{0.5: time.Millisecond, 0.95: 15 * time.Millisecond, 0.99: time.Hour} {
		if got := s.quantile(q); got != want {
			t.Errorf("quantile %v = %v, want %v", q, got, want)
		}
	}
	for q, want := range map[float64]time.Duration{0.5: 544 * time.Microsecond, 0.95: 9680 * time.Microsecond, 0.99: time.Hour} {
		if got := within(s.stored, q); got.Round(time.Microsecond) != want {
			t.Errorf("the store's quantile %v = %v, want %v", q, got, want)
		}
	}
	if got := within(s.less(s).stored, 0.5); got != 0 {
		t.Errorf("half of none took %v", got)
	}
	none := s.less(s)
	if total(none.degraded) != 0 || len(none.turns) != 0 || none.goroutines != 42 {
		t.Errorf("since itself: %+v", none)
	}
	if _, err := none.slower(15 * time.Millisecond); err == nil {
		t.Error("a share of no decisions")
	}
}

func TestBackAfter(t *testing.T) {
	const step = 100 * time.Millisecond
	began := time.Unix(1000, 0)
	for _, tc := range []struct {
		name     string
		degraded string // a step each: all (x), one of a hundred (o) or none (.)
		from     int    // step
		want     time.Duration
	}{
		{"never away", "................", 2, 0},
		{"back at once", "..xx............", 4, 0},
		{"back later", "..xxxx..............", 3, 3 * step},
		{"a relapse counts", "..xx..x..............", 3, 4 * step},
		{"a few do not", "..xxo.o.oo........", 4, 0},
		{"never back", "....xxxxxxxxxxxx", 4, time.Hour},
		{"not for a second", "....xxxxxxxx........", 4, time.Hour},
	} {
		r := &loadgen.Result{Load: loadgen.Load{Step: step}, Began: began}
		for _, c := range tc.degraded {
			r.Steps = append(r.Steps, loadgen.Step{Answered: 100, Degraded: map[rune]uint64{'x': 100, 'o': 1}[c]})
		}
		if got := backAfter(r, began.Add(time.Duration(tc.from)*step)); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestPublished(t *testing.T) {
	const step = 100 * time.Millisecond
	for _, tc := range []struct {
		steps string // all degraded (x), some (o) or none (.)
		want  float64
	}{
		{".......", 1},
		{"..oxxxxo...", 1},
		{"..xxxx..", 1},
		{"..xxxxx..xxxxx..", 1 + tightRate*1.0/tightBurst}, // twice away, for a second
		{"..oxoxxxxo..", 1 + tightRate*0.8/tightBurst},     // some calls only
	} {
		r := &loadgen.Result{Load: loadgen.Load{Step: step}}
		for _, c := range tc.steps {
			r.Steps = append(r.Steps, loadgen.Step{Answered: 40, Degraded: map[rune]uint64{'x': 40, 'o': 7}[c]})
		}
		if got := published(r); math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("%s: %v bursts, want %v", tc.steps, got, tc.want)
		}
	}
}

func TestExtra(t *testing.T) {
	span := 10 * time.Second
	fair := tightBurst + 10*tightRate
	if got := extra(map[uint64]int{0: fair - 7, 2 * tightTenants: 7, 2: fair - 5, 1: 10 * fair}, span); got != 0 {
		t.Errorf("extra of what is fair = %v", got)
	}
	if got := extra(map[uint64]int{0: fair, 2: fair + tightBurst/2}, span); got != 0.5 {
		t.Errorf("extra of half a burst = %v", got)
	}
}

// The requests of the load are those that the policies speak of.
func TestFill(t *testing.T) {
	var r weir.Request
	fill(3, &r)
	if p := r.Descriptors[0].Pairs; p[0].Value != "wide" || p[1].Value != "t3" {
		t.Errorf("%v", p)
	}
	fill(4, &r)
	if p := r.Descriptors[0].Pairs; p[0].Value != "tight" || p[1].Value != "t2" {
		t.Errorf("%v", p)
	}
}

func TestTimeline(t *testing.T) {
	began := time.Unix(1000, 0)
	r := &loadgen.Result{Load: loadgen.Load{Step: 100 * time.Millisecond, Rate: 1000, Keys: loadgen.Keys{Seed: 7}}, Began: began}
	r.Steps = []loadgen.Step{{Answered: 100}, {Answered: 50, Degraded: 25, Errors: 3}}
	s := func(ms int, errors float64) sample {
		return sample{
			at: began.Add(time.Duration(ms) * time.Millisecond), storeErrors: map[string]float64{"refused": errors},
			breakers: map[string]float64{"a:1": 1},
		}
	}
	got := timeline(r, []sample{s(0, 0), s(90, 0), s(150, 4), s(210, 9)}, []mark{{began.Add(120 * time.Millisecond), "kill"}}, []pulse{{began.Add(50 * time.Millisecond), 7 * time.Millisecond}, {began.Add(130 * time.Millisecond), time.Millisecond}})
	for _, want := range []string{"seed 7", "1000     0.00%", "500    50.00%       3", "refused 9", "a:1=open", "[kill]", " 7ms  ", " 1ms  "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if lines := strings.Split(got, "\n"); len(lines) != 5 || !strings.Contains(lines[3], "kill") {
		t.Errorf("the second step does not tell of the kill:\n%s", got)
	}
}

func TestPage(t *testing.T) {
	got := page(longForm, "2 cores", time.Unix(0, 0), []*outcome{
		{name: "kill", fault: "`kill`", bounds: "a", due: 10, attained: 1, reasons: map[string]float64{"timeout": 3}, degraded: 3, extra: 0.25},
		{name: "stop", fault: "`kill`", bounds: "a", failed: true, extra: -1, notes: []string{"x", "y"}},
		{name: "slow", fault: "slow", bounds: "b", attempts: 3},
	})
	for _, want := range []string{
		"Measured on 1970-01-01, on 2 cores, in the long form.", "## Slow\n\nMust hold: b.", "| kill | held | 10 in 0s, 100.00% attained | 0 | 3 (timeout 3) |",
		"| stop | **broken** |", "| none | x; y |", "| 0.25 |", "| slow | held at attempt 3 |",
		"1 of 3 rows were tried again: slow (3 attempts).",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if strings.Count(got, "## ") != 2 {
		t.Errorf("two faults:\n%s", got)
	}
}

// Only the long form writes the report, unless a flag says otherwise.
func TestReportFile(t *testing.T) {
	for _, tc := range []struct {
		form  form
		file  string
		short bool
		want  string
		ok    bool
	}{
		{longForm, "x.md", false, "x.md", true},
		{longForm, "", false, "", true},
		{shortForm, "", false, "", true},
		{shortForm, "x.md", false, "", false},
		{shortForm, "x.md", true, "x.md", true},
	} {
		if got, err := reportFile(tc.form, tc.file, tc.short); got != tc.want || (err == nil) != tc.ok {
			t.Errorf("%s form, %q, %v: %q, %v", tc.form.name, tc.file, tc.short, got, err)
		}
	}
}

func TestSummary(t *testing.T) {
	got := summary(shortForm, []*outcome{{name: "a", attempts: 1}, {name: "b", attempts: 2}, {name: "c", attempts: 5, failed: true}}, 90*time.Second)
	if want := "chaos: short form: 2 of 3 rows held in 1m30s; 2 of 3 rows were tried again: b (2 attempts), c (5 attempts)"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := again([]*outcome{{attempts: 1}}); got != "none of 1 rows was tried again" {
		t.Error(got)
	}
}

// An attempt fails by itself, ends where it was told to, and cleans up.
func TestAttempt(t *testing.T) {
	var order []string
	a := try(t, func(t testing.TB) {
		t.Cleanup(func() { order = append(order, "first") })
		t.Cleanup(func() { order = append(order, "second"); t.Log("seen", t.Failed()) })
		t.Errorf("an error")
		t.Fatal("the end")
		order = append(order, "not reached")
	})
	if !a.Failed() || t.Failed() || strings.Join(order, " ") != "second first" {
		t.Errorf("failed %v, order %v", a.Failed(), order)
	}
	if got := strings.Join(a.mu.lines, " "); got != "broken: an error broken: the end\n seen true\n" {
		t.Errorf("said %q", got)
	}
	if got := a.why(); got != "an error" {
		t.Errorf("because of %q", got)
	}
	if a := try(t, func(t testing.TB) { panic("on purpose") }); !a.Failed() || !strings.Contains(a.mu.lines[0], "on purpose") {
		t.Errorf("after a panic: %q", a.mu.lines)
	}
	if a := try(t, func(t testing.TB) { t.Log("well") }); a.Failed() {
		t.Error("failed without a reason")
	}
	a.mu.pulses = []pulse{{time.Now(), deadline}}
	if _, yes := a.disturbed(); yes {
		t.Error("disturbed by what is allowed")
	}
	a.mu.pulses = append(a.mu.pulses, pulse{time.Now(), deadline + 1})
	if late, yes := a.disturbed(); !yes || late != deadline+1 {
		t.Errorf("not disturbed by %v", late)
	}
}
