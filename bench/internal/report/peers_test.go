package report

import (
	"math"
	"strings"
	"testing"

	"github.com/weirlimit/weir/bench/internal/contest"
	"github.com/weirlimit/weir/bench/internal/measure"
)

// contestResult is a run in which ours costs so many times less than the peer.
func contestResult(less float64) *contest.Result {
	samples := func(scale float64) (out []contest.Sample) {
		for _, noise := range []float64{1, 1.1, 0.9} {
			out = append(out, contest.Sample{
				Rate: 20_000 / scale / noise, P50: noise, P99: 12 * scale * noise, P999: 20 * scale * noise,
				Server: 80 * scale * noise, RedisCPU: 20 * scale * noise, Generator: 3, OK: 1,
			})
		}
		return out
	}
	table := func(name, peer string) contest.Table {
		return contest.Table{Name: name, Note: "A note.", Open: name == contest.OpenLoop, Rows: []contest.Row{
			{System: peer, Against: peer, Samples: samples(1)},
			{System: "Weir, stock engine", Ours: true, Against: peer, Samples: samples(1)},
			{System: "Weir, fast engine", Ours: true, Against: peer, Samples: samples(1 / less)},
		}}
	}
	curve := contest.Curve{Name: keysInRedis, Unit: "keys", System: "Weir", Requests: 1000}
	beside := contest.Curve{Name: "keys in Redis, the peer", Unit: "keys", System: "peer", Peer: true}
	for i, x := range []float64{1e3, 1e4, 1e5} {
		curve.Points = append(curve.Points, contest.Point{X: x, Samples: samples(1 + 0.1*float64(i))})
		beside.Points = append(beside.Points, contest.Point{X: x, Samples: samples(10 * float64(i+1))}) // not judged
	}
	return &contest.Result{
		Command: "make bench-peers", Peer: "v1.2.3", Redis: "7", Rounds: 3, Seconds: 2.5,
		Scenarios: []contest.Table{
			table(contest.OneDescriptor, contest.PeerTuned), table(contest.ThreeDescriptors, contest.PeerTuned),
			table(contest.HotKey, contest.PeerTuned), table(contest.DeniedFlood, contest.PeerCached),
			table(contest.Embedded, contest.PeerTuned), table(contest.Leased, contest.PeerTuned), table(contest.OpenLoop, contest.PeerTuned),
		},
		Growth: []contest.Curve{curve, beside},
		Latency: []contest.Curve{{Name: contest.ThroughRedis, System: "Weir", Capacity: 49_380, Points: []contest.Point{
			{X: 12_345, Share: 0.25, Samples: samples(0.1)},
		}}},
		Libraries: &contest.Libraries{
			Modules: []measure.Module{{Path: "example.org/rival", Version: "v9"}},
			Memory:  measure.MemoryResult{Speed: []measure.SpeedTable{{Keys: 10_000, Cores: 1, Rows: speedRows("Weir, memstore", "rival")}}},
			Engine:  speedRows("memory, one key", "denied by the deny cache, one key"),
		},
		Answers: &contest.Comparison{Requests: 10, Denied: 4, Rows: []contest.Mismatch{{System: "Weir"}}},
	}
}

func speedRows(names ...string) (rows []measure.SpeedRow) {
	for i, n := range names {
		ns := []float64{250 + 100*float64(i)}
		rows = append(rows, measure.SpeedRow{Name: n, Ours: i == 0, Wall: ns, CPU: ns, News: []float64{0}})
	}
	return rows
}

func verdicts(p Peers) string {
	var b strings.Builder
	for _, bar := range p.Bars() {
		b.WriteString(bar.Verdict() + " ")
	}
	return strings.TrimSpace(b.String())
}

// answers, one, three, hot, hot rate, denied, two local rates, engine.Check, p99, growth, latency
func TestPeersBars(t *testing.T) {
	for _, c := range []struct {
		less float64
		want string
	}{
		{40, "PASS PASS PASS PASS PASS PASS PASS PASS PASS PASS PASS PASS"},
		{26, "PASS PASS PASS PASS PASS MISS PASS PASS PASS PASS PASS PASS"},
		{6, "PASS MISS PASS MISS MISS MISS MISS MISS PASS PASS PASS PASS"},
		{2, "PASS MISS MISS MISS MISS MISS MISS MISS PASS MISS PASS PASS"},
	} {
		if got := verdicts(Peers{contestResult(c.less)}); got != c.want {
			t.Errorf("%v times less: %s, want %s", c.less, got, c.want)
		}
	}
	r := contestResult(40)
	r.Answers.Rows[0].Count = 1
	r.Growth[0].Points[2].Samples = r.Scenarios[0].Rows[2].Samples // of another size: far away
	r.Latency[0].Name = contest.DecidedLocally                     // whose budget is less
	r.Libraries.Engine[0].News[0] = 1
	if got := verdicts(Peers{r}); !strings.HasPrefix(got, "MISS PASS") || !strings.HasSuffix(got, "PASS MISS PASS MISS MISS") {
		t.Errorf("a wrong answer, an allocation, a curve that bends and a slow tail: %s", got)
	}
}

// A turn that was refused fails the bars of its scenario, and the page tells.
func TestPeersDoubted(t *testing.T) {
	r := contestResult(40)
	r.Scenarios[0].Rows[0].Samples[1].Refused = "it answered by itself"
	p := Peers{r}
	if got := verdicts(p); !strings.HasPrefix(got, "PASS MISS PASS") {
		t.Errorf("verdicts %s", got)
	}
	if page := p.Markdown(); !strings.Contains(page, "it answered by itself.") || !strings.Contains(page, "1 turns of "+contest.PeerTuned) {
		t.Errorf("the page does not tell\n%s", page)
	}
}

// How flat a curve is, is told round by round: one in which the machine was busy
// with something else does not bend it.
func TestDeviations(t *testing.T) {
	c := contest.Curve{Points: []contest.Point{
		{Samples: []contest.Sample{{Server: 10}, {Server: 30}, {Server: 10}}},
		{Samples: []contest.Sample{{Server: 11}, {Server: 33}, {Server: 11}}},
		{Samples: []contest.Sample{{Server: 22}, {Server: 66}, {Server: 12.1}}},
	}}
	want := []float64{10.0/11 - 1, 0, 1}
	for i, d := range deviations(c) {
		if math.Abs(d-want[i]) > 1e-9 {
			t.Errorf("size %d is %v away, want %v", i, d, want[i])
		}
	}
	if d := deviation(c); d != 1 {
		t.Errorf("the farthest is %v away", d)
	}
}

// The ratio is of rounds that were measured together, with its spread.
func TestPeersRatios(t *testing.T) {
	base := contest.Row{Samples: []contest.Sample{{Server: 100}, {Server: 50}, {Server: 80}}}
	ours := contest.Row{Samples: []contest.Sample{{Server: 10}, {Server: 10}, {Server: 10}}}
	if got := timesSpread(ratios(base, ours, contest.Sample.CPU)); got != "8.00x (5.00-10.0)" {
		t.Errorf("ratio %s", got)
	}
}

func TestPeersFiles(t *testing.T) {
	files := Peers{contestResult(40)}.Files()
	page := files[peersPage]
	for name, text := range files {
		if name != peersPage && (!strings.HasPrefix(text, "<svg") || !strings.Contains(page, "("+name+")")) {
			t.Errorf("%s is no plot, or not in the page", name)
		}
	}
	for _, text := range []string{
		"| envoyproxy/ratelimit, tuned |", "Weir, fast engine", "40.0x (40.0-40.0)", "v1.2.3", "| 100k |",
		"10 recorded requests", "| 25% ", "[benchmarks-libraries.md](benchmarks-libraries.md)", "example.org/rival v9",
		"20x: PASS", "15x: PASS", "1.50M/s: MISS", "no / yes / yes", "plots/growth-keys-in-redis.svg",
	} {
		if !strings.Contains(page, text) {
			t.Errorf("no %q in\n%s", text, page)
		}
	}
	curve := files["plots/latency-through-redis.svg"]
	for _, text := range []string{"budget of p99: 5 ms", "fail-open: 3 ms", "noise: how late", "49.4k/s", "12.3k (25%)"} {
		if !strings.Contains(curve, text) {
			t.Errorf("no %q in\n%s", text, curve)
		}
	}
	if strings.Contains(page, "NaN") {
		t.Error("a figure is no number")
	}
}

// A run of one part has a page, too.
func TestPeersOfNothing(t *testing.T) {
	p := Peers{&contest.Result{Rounds: 1}}
	if bars := p.Bars(); len(bars) != 0 {
		t.Errorf("bars %+v", bars)
	}
	if files := p.Files(); len(files) != 1 {
		t.Errorf("plots of nothing: %d files", len(files))
	}
}
