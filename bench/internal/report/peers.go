package report

import (
	"fmt"
	"strings"

	"github.com/weirlimit/weir/bench/internal/contest"
)

// Peers is the document of the servers beside each other.
type Peers struct{ Result *contest.Result }

// Plots is the directory of the plots, below docs. It holds nothing else.
const Plots = "plots"

// The files, below docs.
const (
	peersPage     = "benchmarks.md"
	cpuPlot       = Plots + "/peers-cpu.svg"
	openPlot      = Plots + "/peers-latency.svg"
	besidePlot    = Plots + "/peers-growth.svg"
	librariesPlot = Plots + "/libraries.svg"
)

// keysInRedis is the curve that the peer's is beside.
const keysInRedis = "keys in Redis"

// growthPlot is the file of a curve: plots/growth-keys-in-memory.svg.
func growthPlot(c contest.Curve) string { return Plots + "/growth-" + fileName(c.Name) + ".svg" }

// loadPlot is the file of a curve of latency.
func loadPlot(c contest.Curve) string { return Plots + "/latency-" + fileName(c.Name) + ".svg" }

func fileName(s string) string {
	return strings.NewReplacer(" ", "-", ",", "").Replace(strings.ToLower(s))
}

// Files are the document and its plots, by their names below docs.
func (p Peers) Files() map[string]string {
	files := p.plots()
	files[peersPage] = p.Markdown()
	return files
}

// Markdown is the document.
func (p Peers) Markdown() string {
	var b strings.Builder
	b.WriteString("# Benchmarks\n\n" +
		"Weir beside envoyproxy/ratelimit, and beside Go libraries in process. Written by the program below from one run;\n" +
		"do not edit. The systems take turns in that run, round by round, on one machine and one redis-server. Figures are\n" +
		"medians, with the least and the most of the rounds in parentheses, and the bars are judged by medians. Ratios travel\n" +
		"to other machines, absolute figures do not. The libraries at length, middleware and Redis too, are in\n" +
		"[benchmarks-libraries.md](benchmarks-libraries.md); where a decision's time goes is in [performance.md](performance.md).\n\n")
	p.writeMachine(&b)
	b.WriteString("\n## Bars\n\n" + barTable(p.Bars()).Markdown())
	if p.Result.Answers != nil {
		b.WriteString("\n" + p.answers())
	}
	if len(p.Result.Scenarios) > 0 {
		b.WriteString("\n" + p.load())
	}
	if len(p.Result.Latency) > 0 {
		b.WriteString("\n" + p.latency())
	}
	if len(p.Result.Growth) > 0 {
		b.WriteString("\n" + p.growth())
	}
	if p.Result.Libraries != nil {
		b.WriteString("\n" + p.libraries())
	}
	return b.String()
}

func (p Peers) writeMachine(b *strings.Builder) {
	r, m := p.Result, p.Result.Machine
	quick := ""
	if r.Quick {
		quick = " (**quick: a look, not a measurement**)"
	}
	fmt.Fprintf(b, "- Command: `%s`%s\n", r.Command, quick)
	rounds := "1 round"
	if r.Rounds != 1 {
		rounds = fmt.Sprint(r.Rounds, " rounds")
	}
	fmt.Fprintf(b, "- Date: %s, %s of %s s a turn, seed %d\n", r.Date.UTC().Format("2006-01-02 15:04 MST"), rounds, digits(r.Seconds), r.Seed)
	fmt.Fprintf(b, "- Machine: %s, %s, %s of memory, %s\n", m.CPU, cores(m.Cores), m.Memory, m.System)
	fmt.Fprintf(b, "- Load average of the minute before: %s\n", m.Load)
	fmt.Fprintf(b, "- %s, Redis %s on the same machine, over loopback\n", m.Go, r.Redis)
	fmt.Fprintf(b, "- github.com/envoyproxy/ratelimit %s, built with the same Go\n", r.Peer)
}

func (p Peers) answers() string {
	var b strings.Builder
	a := p.Result.Answers
	fmt.Fprintf(&b, "## Answers\n\n%d recorded requests, one after the other, to each server on an empty Redis: one to three\n"+
		"descriptors of rules of all kinds (exact, wildcard, nested, shadow, unlimited, none), costs of 1 to 3, windows\n"+
		"of a day. The peer denied %d. Compared are the overall code and of each descriptor the code, the limit with its\n"+
		"name and unit, what remains, and the end of the window.\n\n", a.Requests, a.Denied)
	t := Table{Head: []string{"system", "answers that differ from the peer's"}}
	for _, m := range a.Rows {
		t.Rows = append(t.Rows, []string{m.System, fmt.Sprint(m.Count)})
	}
	b.WriteString(t.Markdown())
	for _, m := range a.Rows {
		for _, e := range m.Examples {
			fmt.Fprintf(&b, "\n    %s\n", e)
		}
	}
	return b.String()
}

func (p Peers) load() string {
	var b strings.Builder
	b.WriteString("## Under load\n\n" +
		"All servers get the same recorded requests over gRPC without TLS, unless it is said, from the generator of\n" +
		"`weir bench` ([bench.md](bench.md)), which shares the two cores with them: 64 callers on 4 connections who wait for\n" +
		"their answers, but for the open loop. A turn starts the server afresh on an empty Redis and warms it up before it\n" +
		"counts. *us* are of processor time a decision, user and system, by the kernel's own count for the process; the\n" +
		"generator's is listed apart. *Against the peer* is the tuned peer's server + Redis time over this one's, round by\n" +
		"round: with its local cache on in the flood, and with TLS for those with TLS.\n\n" +
		"The peer has its statistics off (`USE_STATSD=false DISABLE_STATS=true`), which favours it; *tuned* is\n" +
		"`GOGC=800 REDIS_POOL_SIZE=32`, *local cache* is `LOCAL_CACHE_SIZE_IN_BYTES` of 64 MiB. Weir has its metrics on, and they\n" +
		"are read once a second during every turn, fifteen times as often as is usual: what that costs is in its figures.\n" +
		"It has its defaults but for the engine that is named and a `--deadline` of 1 s, so that a busy machine makes no\n" +
		"request be answered without Redis; its own metrics say for each turn where decisions came from, and a turn in which\n" +
		"they came from elsewhere than its title says is refused and taken again, three times at most.\n\n" +
		"![CPU per decision](" + cpuPlot + ")\n")
	for _, t := range p.Result.Scenarios {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n%s", t.Name, t.Note, contestTable(t).Markdown())
		for _, r := range t.Rows {
			for _, why := range contest.Refused(r.Samples) {
				fmt.Fprintf(&b, "\n**To be doubted**, refused each time it was taken: %s.\n", why)
			}
		}
		if t.Open {
			b.WriteString("\n![Latency](" + openPlot + ")\n")
		}
	}
	return b.String()
}

func (p Peers) latency() string {
	var b strings.Builder
	b.WriteString("## Latency\n\n" +
		"Weir in an open loop at 10, 25, 50 and 75% of its capacity, which is the rate at which 64 callers who wait were\n" +
		"answered above; a latency counts from the instant at which the request was due. What the field quotes for a check:\n" +
		"p99 below 1 ms decided locally and below 5 ms through Redis; 0.3, 1.5 and 4 ms added to a gateway at p50, p99 and\n" +
		"p99.9; callers that fail open after 3 ms, whom an answer later than that does not reach.\n\n" +
		"The noise of the machine is in these figures: server, Redis and generator share its two cores, and others may take\n" +
		"them. *A timer* is one of 1 ms in the generator, on a thread of its own during the same turn, and by how much it was\n" +
		"late: what the machine adds at least. Whiskers and parentheses are the least and the most of the rounds.\n")
	for _, c := range p.Result.Latency {
		fmt.Fprintf(&b, "\n### Latency %s\n\n%s: %s The capacity is %s/s.\n\n![Latency %s](%s)\n\n%s",
			c.Name, c.System, c.Note, figure(c.Capacity), c.Name, loadPlot(c), latencyTable(c).Markdown())
	}
	return b.String()
}

func (p Peers) growth() string {
	var b strings.Builder
	b.WriteString("## As work grows\n\n" +
		"Processor time a decision with the callers of above, metrics on. All servers of a curve run at once and take turns,\n" +
		"round by round, each with the same number of requests for keys or counters that are drawn uniformly and that are all\n" +
		"there before: a first touch inserts, a later one updates in place, and only such are counted. Redis has finished moving\n" +
		"its keys to a larger table before. *Against the median size* is round by round, of which it is the median: what the\n" +
		"machine does besides falls on all sizes of a round. Whiskers and parentheses are the least and the most of the rounds.\n")
	for _, c := range p.Result.Growth {
		fmt.Fprintf(&b, "\n### Growth: %s\n\n%s: %s %s requests a sample, %d samples a size.\n\n",
			c.Name, c.System, c.Note, figure(float64(c.Requests)), samplesOf(c))
		switch {
		case !c.Peer:
			fmt.Fprintf(&b, "![%s](%s)\n\n", c.Name, growthPlot(c))
		case len(p.besideLines().Series) > 1:
			fmt.Fprintf(&b, "![Beside the peer](%s)\n\n", besidePlot)
		}
		b.WriteString(curveTable(c).Markdown())
	}
	return b.String()
}

func (p Peers) libraries() string {
	var b strings.Builder
	l := p.Result.Libraries
	b.WriteString("## In process\n\n" +
		"No network and no Redis: counters in the memory of this program, asked by one goroutine. The libraries hold 10k keys\n" +
		"of 32 bytes under the same limit and are asked for them in random order; Weir's store and limiter are there as they\n" +
		"are. *CPU ns* has the collector's time in it.\n\n" +
		"![In process](" + librariesPlot + ")\n")
	for _, t := range l.Memory.Speed {
		fmt.Fprintf(&b, "\n### Libraries, %s keys, %s\n\n%s", count(t.Keys), cores(t.Cores), speedTable(t).Markdown())
	}
	b.WriteString("\n### engine.Check\n\n" +
		"Weir's engine does more than a library: it matches policies, fills a decision and counts it in the metrics, which are\n" +
		"on. *Leased* and *denied* are with the stages that a server on Redis has before its store.\n\n" +
		engineTable(l.Engine).Markdown() + "\nOf these libraries:\n\n")
	for _, m := range l.Modules {
		fmt.Fprintf(&b, "- %s %s\n", m.Path, m.Version)
	}
	return b.String()
}
