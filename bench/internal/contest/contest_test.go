package contest

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/bench"
	"github.com/weirlimit/weir/internal/latency"
	"github.com/weirlimit/weir/internal/redistest"
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
	if want := map[string]float64{"store": 0.75, "deny_cache": 0.25}; err != nil || !reflect.DeepEqual(sharesOf(nil, got), want) {
		t.Errorf("sources %v, %v, want %v", got, err, want)
	}
	if since := sharesOf(map[string]float64{"store": 60, "deny_cache": 25}, got); len(since) != 1 || since["store"] != 1 {
		t.Errorf("since then %v", since)
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
	const over = rlsv3.RateLimitResponse_OVER_LIMIT
	ok := answer{Code: rlsv3.RateLimitResponse_OK, Statuses: []status{
		{Code: rlsv3.RateLimitResponse_OK, Limited: true, Requests: 5, Remaining: 4, Reset: time.Hour},
	}}
	change := func(f func(*answer)) answer {
		a := answer{Code: ok.Code, Statuses: slices.Clone(ok.Statuses)}
		f(&a)
		return a
	}
	got := []answer{
		change(func(a *answer) { a.Statuses[0].Reset -= 10 * time.Second }), // the same
		change(func(a *answer) { a.Code = over }),
		change(func(a *answer) { a.Statuses[0].Remaining-- }),
		change(func(a *answer) { a.Statuses = nil }),
		change(func(a *answer) { a.Statuses[0].Reset = time.Minute }),
	}
	rec, err := record(filepath.Join(t.TempDir(), "list.txt"), compareRequests(seeded(1), len(got)))
	if err != nil {
		t.Fatal(err)
	}
	m := differences("w", rec, slices.Repeat([]answer{ok}, len(got)), got)
	if m.Count != 4 || len(m.Examples) != maxExamples || !strings.HasPrefix(m.Examples[0], "request 2, ") ||
		!strings.HasSuffix(m.Examples[1], ": peer OK [OK 4/5 UNKNOWN], w OK [OK 3/5 UNKNOWN]") {
		t.Errorf("differences %+v", m)
	}
}

// What is recorded is what is sent.
func TestRecord(t *testing.T) {
	want := append(compareRequests(seeded(3), 200), each(3, "tenant")...)
	rec, err := record(filepath.Join(t.TempDir(), "list.txt"), want)
	if err != nil || rec.Len() != len(want) {
		t.Fatal(rec.Len(), err)
	}
	for i := range want {
		var got weir.Request
		if rec.Fill(int64(i), &got); !reflect.DeepEqual(got, want[i]) {
			t.Fatalf("request %d: %+v, want %+v", i, got, want[i])
		}
	}
	if _, err := record(filepath.Join(t.TempDir(), "list.txt"), []weir.Request{{}}); err == nil {
		t.Error("a request without a domain is recorded")
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
		{"in memory, though Redis is there", through, System{Ours: true, Memory: true}, Sample{OK: 1000, Sources: map[string]float64{"store": 0.5}}, true},
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

// A turn that is refused is taken again, and kept in the end with the reason.
func TestInsist(t *testing.T) {
	p := Plan{Quick: true, Log: t.Logf}
	sc, taken := Scenario{Name: OneDescriptor}, 0
	take := func(good int) func() (Sample, error) {
		taken = 0
		return func() (Sample, error) {
			if taken++; taken < good {
				return Sample{OK: 1, Denied: 1}, nil
			}
			return Sample{OK: uint64(taken)}, nil
		}
	}
	if s, err := p.insist(t.Context(), sc, System{}, take(2)); err != nil || taken != 2 || s.OK != 2 || s.Refused != "" {
		t.Errorf("%+v after %d turns, %v", s, taken, err)
	}
	s, err := p.insist(t.Context(), sc, System{}, take(100))
	if err != nil || taken != attempts || !strings.Contains(s.Refused, "denied") || len(Refused([]Sample{{}, s})) != 1 {
		t.Errorf("%+v after %d turns, %v", s, taken, err)
	}
	if _, err := p.insist(t.Context(), sc, System{}, func() (Sample, error) { return Sample{}, os.ErrInvalid }); err == nil {
		t.Error("a turn that cannot be taken is kept")
	}
}

// Whatever the number of rules, the counters are as many.
func TestRuleRequestsHaveOneNumberOfCounters(t *testing.T) {
	for _, n := range []uint64{10, 1000, 100_000} {
		tenants, rules := map[string]bool{}, map[string]bool{}
		for _, r := range ruleRequests(n) {
			pairs := r.Descriptors[0].Pairs
			rules[pairs[0].Value] = true
			tenants[pairs[0].Value+pairs[1].Value] = true
		}
		few, used := counters*99/100, uint64(len(rules))
		if len(tenants) < few || len(tenants) > counters || used > n || used < min(n, counters)*99/100 {
			t.Errorf("%d rules: %d counters of %d rules", n, len(tenants), used)
		}
		files := ruleFiles(n)
		if got := strings.Count(strings.Join(files, ""), "rate_limit"); uint64(got) != n {
			t.Errorf("%d limits for %d rules", got, n)
		}
		last := n - 1
		if text := files[len(files)-1]; !strings.HasPrefix(text, "domain: "+ruleDomain(last)+"\n") ||
			!strings.Contains(text, number(last)) {
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
	got, err := Read(&b)
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Fatalf("read %+v, %v", got, err)
	}
	if cpu := got.Scenarios[0].Rows[0].Samples[0].CPU(); cpu != 3 {
		t.Errorf("CPU %v, want 3", cpu)
	}
}

// A timer is never early, and seldom a tenth of a second late.
func TestListen(t *testing.T) {
	heard := listen()
	time.Sleep(50 * time.Millisecond)
	late := heard()
	if late.Count() == 0 || late.Max() <= 0 || late.Quantile(0.5) > 100*time.Millisecond {
		t.Errorf("%d naps, late by %v in the median, %v at most", late.Count(), late.Quantile(0.5), late.Max())
	}
}

// Copies are found under the names that a key would have, with its value and its
// end.
func TestCopyKeys(t *testing.T) {
	redis := redistest.Start(t)
	redis.MustDo("SET", "{key-00000000}5:bench", "a\r\nb", "PX", "600000")
	redis.MustDo("SETRANGE", "{key-00000000}5:bench", "0", "a")
	redis.MustDo("SET", "x_key-00000000_17", "2", "PX", "600000")
	redis.MustDo("SET", "stranger", "1")
	if err := copyKeys(t.Context(), redis, 1, 1000); err != nil {
		t.Fatal(err)
	}
	if n := redis.MustDo("DBSIZE"); n != int64(2001) {
		t.Errorf("%v keys, want 2001", n)
	}
	for name, want := range map[string]string{"{key-00000999}5:bench": "a\r\nb", "x_key-00000001_17": "2"} {
		if got := redis.MustDo("GET", name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
		if ms, _ := redis.MustDo("PTTL", name).(int64); ms < 500_000 || ms > 600_000 {
			t.Errorf("%s ends in %d ms", name, ms)
		}
	}
	for name, want := range map[string]string{"{key-00000999}5:bench": "raw", "x_key-00000001_17": "int"} {
		if got := redis.MustDo("OBJECT", "ENCODING", name); got != want {
			t.Errorf("%s is held as %v, its original as %s", name, got, want)
		}
	}
	redis.MustDo("FLUSHALL")
	if err := copyKeys(t.Context(), redis, 1, 2); err == nil {
		t.Error("there is nothing to copy, and it is copied")
	}
	redis.MustDo("SET", "key-00000000", "1")
	if err := copyKeys(t.Context(), redis, 1, 2); err == nil || !strings.Contains(err.Error(), "no counter") {
		t.Errorf("a key without an end: %v", err)
	}
}

// A server that was filled has one table in the end.
func TestSettle(t *testing.T) {
	redis := redistest.Start(t, settles(redistest.Start(t))...)
	redis.MustDo("SET", "key-00000000", "1", "PX", "600000")
	if err := copyKeys(t.Context(), redis, 1, 140_000); err != nil { // 2^17 and some: it has begun to move them
		t.Fatal(err)
	}
	if err := settle(t.Context(), redis); err != nil {
		t.Fatal(err)
	}
	text, _ := redis.MustDo("DEBUG", "HTSTATS", "0").(string)
	if strings.Contains(text, "rehashing target") || !strings.Contains(text, "table size: 262144") {
		t.Errorf("tables after it:\n%s", text)
	}
	if got, _ := redis.MustDo("CONFIG", "GET", "hz").([]any); len(got) != 2 || got[1] != "10" {
		t.Errorf("hz is %v", got)
	}
}

// TLS systems are held against the peer with TLS, and nobody against a system
// that does not take part.
func TestAgainst(t *testing.T) {
	for _, sc := range scenarios([]string{"stock", "fast"}) {
		for _, s := range sc.Systems {
			if s.Against == "" {
				continue
			}
			if !slices.ContainsFunc(sc.Systems, func(o System) bool { return o.Name == s.Against }) {
				t.Errorf("%s: %s is held against %s, who is not there", sc.Name, s.Name, s.Against)
			}
			if s.TLS != (s.Against == PeerTLS) {
				t.Errorf("%s: %s is held against %s", sc.Name, s.Name, s.Against)
			}
		}
	}
}

// Figures come from where they should.
func TestSample(t *testing.T) {
	r := &bench.Result{Allowed: 90, Denied: 10, Took: time.Second, Failed: map[string]uint64{"timeout": 2}, CPU: []bench.CPU{
		{Process: bench.Process{Name: "server"}, PerRequest: 5 * time.Microsecond},
		{Process: bench.Process{Name: "generator"}, PerRequest: time.Microsecond},
		{Process: bench.Process{Name: "redis"}, PerRequest: 3 * time.Microsecond},
	}}
	for i := range 100 {
		d := time.Millisecond
		if i < 25 {
			d = 2 * deadline
		}
		r.Latency.Record(d)
	}
	s := sample(r, &latency.Histogram{})
	if s.Server != 5 || s.RedisCPU != 3 || s.Generator != 1 || s.Rate != 100 || s.Late != 0.25 || s.Failed != 2 || s.Why != "2 timeout" {
		t.Errorf("%+v", s)
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
