package report

import (
	"fmt"
	"strings"

	"github.com/weirlimit/weir/bench/internal/contest"
)

// Peers is the document of the servers beside each other.
type Peers struct{ Result *contest.Result }

// The files, below docs.
const (
	peersPage   = "benchmarks-peers.md"
	cpuPlot     = "plots/peers-cpu.svg"
	latencyPlot = "plots/peers-latency.svg"
	keysPlot    = "plots/peers-keys.svg"
	rulesPlot   = "plots/peers-rules.svg"
	loadPlot    = "plots/peers-load.svg"
)

// Files are the document and its plots, by their names below docs.
func (p Peers) Files() map[string]string {
	files := p.plots()
	files[peersPage] = p.Markdown()
	return files
}

// Markdown is the document.
func (p Peers) Markdown() string {
	var b strings.Builder
	b.WriteString("# Benchmarks: Weir beside envoyproxy/ratelimit\n\n" +
		"Written by the program below from one run; do not edit. The servers take turns in that run, round by\n" +
		"round, on one redis-server. Figures are medians, with the least and the most of the rounds in\n" +
		"parentheses. Ratios travel to other machines, absolute figures do not. Go libraries in process are in\n" +
		"[benchmarks.md](benchmarks.md).\n\n")
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
	return b.String()
}

func (p Peers) writeMachine(b *strings.Builder) {
	r, m := p.Result, p.Result.Machine
	quick := ""
	if r.Quick {
		quick = " (**quick: a look, not a measurement**)"
	}
	fmt.Fprintf(b, "- Command: `%s`%s\n", r.Command, quick)
	fmt.Fprintf(b, "- Date: %s, %d rounds of %s s a turn, seed %d\n",
		r.Date.UTC().Format("2006-01-02 15:04 MST"), r.Rounds, digits(r.Seconds), r.Seed)
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
		"All servers get the same recorded requests over gRPC without TLS, from a generator of pre-encoded frames that\n" +
		"shares the two cores with them: 64 callers on 4 connections who wait for their answers, but for the open\n" +
		"loop. A turn starts the server afresh on an empty Redis and warms it up before it counts. *us* are of processor\n" +
		"time a decision, user and system, by the kernel's own count for the process; the generator's is listed apart.\n" +
		"*Against the tuned peer* is its server + Redis time over this one's, round by round.\n\n" +
		"The peer has its statistics off (`USE_STATSD=false DISABLE_STATS=true`), which favours it; *tuned* is\n" +
		"`GOGC=800 REDIS_POOL_SIZE=32`, *local cache* is `LOCAL_CACHE_SIZE_IN_BYTES` of 64 MiB. Weir has its defaults,\n" +
		"metrics on, but for a `--deadline` of 1 s, so that a busy machine makes no request be answered without Redis;\n" +
		"its own metrics say for each turn where decisions came from, and a turn in which they came from elsewhere than\n" +
		"its title says is refused.\n\n" +
		"![CPU per decision](" + cpuPlot + ")\n")
	for _, t := range p.Result.Scenarios {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n%s", t.Name, t.Note, contestTable(t).Markdown())
		if t.Open {
			b.WriteString("\n![Latency](" + latencyPlot + ")\n")
		}
	}
	return b.String()
}

func (p Peers) latency() string {
	var b strings.Builder
	b.WriteString("## Latency below capacity\n\n" +
		"Weir in an open loop, at shares of the rate at which callers who wait were answered above. What the field quotes\n" +
		"for a check: p99 below 1 ms decided locally and below 5 ms through Redis; p50, p99 and p99.9 of 0.3, 1.5 and 4 ms\n" +
		"added to a gateway; fail-open at 3 ms. The generator and Redis have the same cores: what they and others on the\n" +
		"machine take when an answer is due is in these figures.\n\n" +
		"![Latency below capacity](" + loadPlot + ")\n")
	for _, c := range p.Result.Latency {
		fmt.Fprintf(&b, "\n### %s\n\n%s: %s\n\n%s", c.Name, c.System, c.Note, latencyTable(c).Markdown())
	}
	return b.String()
}

func (p Peers) growth() string {
	var b strings.Builder
	b.WriteString("## As work grows\n\n" +
		"Processor time a decision, server and Redis, with the callers of above. Whiskers and parentheses are the least\n" +
		"and the most of the samples of one size.\n\n" +
		"![Keys](" + keysPlot + ")\n\n![Rules](" + rulesPlot + ")\n")
	for _, c := range p.Result.Growth {
		fmt.Fprintf(&b, "\n### %s\n\n%s: %s\n\n%s", c.Name, c.System, c.Note, curveTable(c).Markdown())
	}
	return b.String()
}
