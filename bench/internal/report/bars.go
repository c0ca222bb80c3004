package report

import (
	"fmt"

	"github.com/weirlimit/weir/bench/internal/measure"
	"github.com/weirlimit/weir/bench/internal/stat"
)

// The bars.
const (
	maxHeapBytes   = 64      // of heap a key in memory, its own bytes aside
	maxCPUShare    = 1.0 / 3 // of redis_rate's client and server CPU
	minHotTimes    = 20      // throttled's decisions a second, one hot key
	minHotRate     = 250_000 // decisions a second, one hot key
	maxGCRAInRedis = 128     // bytes of a gcra key in Redis
	redisRateName  = "redis_rate"
	throttledName  = "throttled"
	uniformCallers = 128
)

// Bar is one promise and what was measured.
type Bar struct {
	Promise  string
	Measured string
	Met      bool
	Stretch  string // what would be more, and whether it is; "" for none
}

// Verdict says whether the bar was cleared.
func (b Bar) Verdict() string {
	if b.Met {
		return "PASS"
	}
	return "MISS"
}

// judged is the row of ours that is held to the bars: the store, as the other
// libraries are. The limiter before it does more, naming the counter and filling
// a Decision, and is listed for what it adds.
const judged = "Weir, memstore"

// MemoryBars judges what was measured in memory: the store is faster than every
// other library at every size, and a key costs few bytes.
func MemoryBars(res measure.MemoryResult) []Bar {
	var bars []Bar
	for _, t := range res.Speed {
		rival, ok := fastestRival(t)
		if !ok {
			continue
		}
		for _, r := range t.Rows {
			if r.Name != judged {
				continue
			}
			ours, theirs := median(r.Wall), median(rival.Wall)
			bars = append(bars, Bar{
				Promise: fmt.Sprintf("memory, %s keys, %s: %s is first", count(t.Keys), cores(t.Cores), r.Name),
				Measured: fmt.Sprintf("%s ns, %s %s ns (%sx)",
					figure(ours), rival.Name, figure(theirs), digits(stat.Ratio(theirs, ours))),
				Met: ours < theirs,
			})
		}
	}
	return append(bars, heapBars(res.Heap)...)
}

// fastestRival is the fastest row that is not ours.
func fastestRival(t measure.SpeedTable) (best measure.SpeedRow, ok bool) {
	for _, r := range t.Rows {
		if !r.Ours && (!ok || median(r.Wall) < median(best.Wall)) {
			best, ok = r, true
		}
	}
	return best, ok
}

// heapBars judges the largest table.
func heapBars(tables []measure.HeapTable) []Bar {
	if len(tables) == 0 {
		return nil
	}
	t := tables[len(tables)-1]
	for _, r := range t.Rows {
		if !r.Ours {
			continue
		}
		bytes := median(r.Bytes)
		return []Bar{{
			Promise:  fmt.Sprintf("memory, %s keys: fewer than %d bytes of heap a key", count(t.Keys), maxHeapBytes),
			Measured: digits(bytes) + " bytes",
			Met:      bytes < maxHeapBytes,
		}}
	}
	return nil
}

// RedisBars judges what was measured on Redis.
func RedisBars(tables []measure.LoadTable) []Bar {
	var bars []Bar
	for _, t := range tables {
		for _, r := range t.Rows {
			switch {
			case !r.Ours:
			case t.Scenario.Keys == 1:
				bars = append(bars, hotBars(t, r)...)
			case t.Scenario.Callers == uniformCallers:
				bars = append(bars, cpuBar(t, r)...)
			}
		}
	}
	return bars
}

func cpuBar(t measure.LoadTable, ours measure.LoadRow) []Bar {
	theirs, ok := row(t, redisRateName)
	if !ok {
		return nil
	}
	share := stat.Ratio(median(ours.Both), median(theirs.Both))
	return []Bar{{
		Promise: fmt.Sprintf("redis, %s: at most 1/3 of redis_rate's client + Redis CPU", t.Scenario.Name),
		Measured: fmt.Sprintf("%s %s us, redis_rate %s us (1/%s)", ours.Name,
			figure(median(ours.Both)), figure(median(theirs.Both)), digits(stat.Ratio(1, share))),
		Met: share > 0 && share <= maxCPUShare,
	}}
}

func hotBars(t measure.LoadTable, ours measure.LoadRow) []Bar {
	rate := median(ours.Rate)
	bars := []Bar{{
		Promise:  fmt.Sprintf("redis, %s: at least 250k decisions/s", t.Scenario.Name),
		Measured: fmt.Sprintf("%s %s/s", ours.Name, figure(rate)),
		Met:      rate >= minHotRate,
	}}
	theirs, ok := row(t, throttledName)
	if !ok {
		return bars
	}
	ratio := stat.Ratio(rate, median(theirs.Rate))
	return append(bars, Bar{
		Promise: fmt.Sprintf("redis, %s: at least 20 times throttled's decisions/s", t.Scenario.Name),
		Measured: fmt.Sprintf("%s %s/s, throttled %s/s (%sx)", ours.Name,
			figure(rate), figure(median(theirs.Rate)), digits(ratio)),
		Met: ratio >= minHotTimes,
	})
}

func row(t measure.LoadTable, name string) (measure.LoadRow, bool) {
	for _, r := range t.Rows {
		if r.Name == name {
			return r, true
		}
	}
	return measure.LoadRow{}, false
}
