package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirlimit/weir/bench/internal/measure"
)

// Document is one run of the comparison. A part that was not run is nil.
type Document struct {
	Machine      measure.Machine
	RedisVersion string
	Modules      []measure.Module
	Date         time.Time
	Command      string
	Rounds       int
	Memory       *measure.MemoryResult
	Middleware   []measure.SpeedTable
	Redis        []measure.LoadTable
	KeySizes     []measure.KeySize
	Local        []measure.LoadTable
}

// Bars judges all that was measured.
func (d *Document) Bars() []Bar {
	var bars []Bar
	if d.Memory != nil {
		bars = append(bars, MemoryBars(*d.Memory)...)
	}
	bars = append(bars, middlewareBars(d.Middleware)...)
	bars = append(bars, RedisBars(d.Redis)...)
	bars = append(bars, keySizeBars(d.KeySizes)...)
	return append(bars, localBars(d.Local)...)
}

// Markdown returns the whole document.
func (d *Document) Markdown() string {
	var b strings.Builder
	b.WriteString("# Benchmarks: Go libraries\n\n")
	b.WriteString("Written by the program below from one run; do not edit. All libraries take turns in that\n" +
		"run, round by round. Figures are medians, with the least and the most of the rounds in\n" +
		"parentheses. Ratios travel to other machines, absolute figures do not. Servers over the network, Weir\n" +
		"beside envoyproxy/ratelimit, are in [benchmarks.md](benchmarks.md).\n\n")
	d.writeMachine(&b)
	b.WriteString("\n## Bars\n\n" + barTable(d.Bars()).Markdown())
	if d.Memory != nil {
		b.WriteString("\n" + d.memory())
	}
	if d.Middleware != nil {
		b.WriteString("\n" + d.middleware())
	}
	if d.Redis != nil {
		b.WriteString("\n" + d.redis())
	}
	if d.KeySizes != nil {
		b.WriteString("\n" + d.keySizes())
	}
	if d.Local != nil {
		b.WriteString("\n" + d.local())
	}
	return b.String()
}

func (d *Document) writeMachine(b *strings.Builder) {
	m := d.Machine
	fmt.Fprintf(b, "- Command: `%s`\n", d.Command)
	fmt.Fprintf(b, "- Date: %s, %d rounds, three times as many shorter ones in memory with 10k keys\n", d.Date.UTC().Format("2006-01-02 15:04 MST"), d.Rounds)
	fmt.Fprintf(b, "- Machine: %s, %s, %s of memory, %s\n", m.CPU, cores(m.Cores), m.Memory, m.System)
	fmt.Fprintf(b, "- Load average of the minute before: %s\n", m.Load)
	fmt.Fprintf(b, "- %s", m.Go)
	if d.RedisVersion != "" {
		fmt.Fprintf(b, ", Redis %s on the same machine, over loopback", d.RedisVersion)
	}
	b.WriteString("\n")
	for _, mod := range d.Modules {
		fmt.Fprintf(b, "- %s %s\n", mod.Path, mod.Version)
	}
}

func (d *Document) memory() string {
	var b strings.Builder
	b.WriteString("## In memory\n\n")
	fmt.Fprintf(&b, "Every library holds the same keys of %d bytes under the same limit, %s units per %d days with\n"+
		"all of them as burst: nothing is denied, and nothing refills or expires meanwhile. It is filled\n"+
		"with keys in memory of their own, then asked for all of them in random order, the same for all;\n"+
		"those keys lie in the order of their use, as one just parsed from a request does. *ns a check* is\n"+
		"wall clock over checks, with as many goroutines as cores (GOMAXPROCS); *CPU ns* is the process's\n"+
		"user and system time, the collector's included; on a machine that does other things too, it is the\n"+
		"steadier of the two.\n\n"+
		"Each of the others has its faster form: throttled without a cap on its keys, sethvargo/go-limiter\n"+
		"with a map made for them, x/time/rate in a map that never forgets one. Weir has its defaults, with\n"+
		"a cap, expiry and eviction.\n",
		measure.KeyBytes, count(int(measure.MemoryLimit.Count)), int(measure.MemoryLimit.Period.Hours()/24))
	for _, t := range d.Memory.Speed {
		fmt.Fprintf(&b, "\n### %s keys, %s\n\n%s", count(t.Keys), cores(t.Cores), speedTable(t).Markdown())
	}
	fmt.Fprintf(&b, "\n### Heap\n\nReachable heap after a collection, less what it was before the limiter was made, less the\n"+
		"%d bytes of each key: nobody but the limiter holds the keys it was filled with, so one that keeps\n"+
		"the caller's string and one that copies it pay the same. The last column is the processor time of\n"+
		"one collection while the limiter is held.\n", measure.KeyBytes)
	for _, t := range d.Memory.Heap {
		fmt.Fprintf(&b, "\n%s keys:\n\n%s", count(t.Keys), heapTable(t).Markdown())
	}
	return b.String()
}

func (d *Document) redis() string {
	var b strings.Builder
	b.WriteString("## On Redis\n\n")
	fmt.Fprintf(&b, "Callers ask, wait for the answer and ask again. The limit is %s units per %d days with all of\n"+
		"them as burst, and Redis is emptied before each round: nothing is denied, no key expires. Client and\n"+
		"Redis share the machine's cores. *us* are of processor time a decision, user and system, of this\n"+
		"process and of redis-server, less what both use when idle. A call that ends in an error is no\n"+
		"decision, but its cost counts: throttled reads, compares and swaps, and gives up after ten lost\n"+
		"races. The others stand on go-redis with a connection for each caller, which suits throttled best\n"+
		"and is level for the rest; Weir is asked through its limiter.\n",
		count(int(measure.RedisLimit.Count)), int(measure.RedisLimit.Period.Hours()/24))
	for _, t := range d.Redis {
		fmt.Fprintf(&b, "\n### %s\n\n%s", t.Scenario.Name, loadTable(t).Markdown())
	}
	return b.String()
}
