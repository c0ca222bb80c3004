package report

import (
	"strings"
	"testing"

	"github.com/weirlimit/weir/bench/internal/measure"
)

func speed(ours, other float64) measure.MemoryResult {
	return measure.MemoryResult{
		Speed: []measure.SpeedTable{{Keys: 10_000, Cores: 2, Rows: []measure.SpeedRow{
			{Name: judged, Ours: true, Wall: []float64{ours, ours, 1e9}},
			{Name: "Weir, otherwise", Ours: true, Wall: []float64{1e9}}, // listed, not judged
			{Name: "slow", Wall: []float64{900}},
			{Name: "fast", Wall: []float64{other}},
		}}},
	}
}

func heap(bytes float64) measure.MemoryResult {
	return measure.MemoryResult{Heap: []measure.HeapTable{
		{Keys: 10_000, Rows: []measure.HeapRow{{Name: "Weir", Ours: true, Bytes: []float64{1000}}}},
		{Keys: 1_000_000, Rows: []measure.HeapRow{
			{Name: "other", Bytes: []float64{1}},
			{Name: "Weir", Ours: true, Bytes: []float64{bytes}},
		}},
	}}
}

func load(keys, callers int, ours, theirs measure.LoadRow) []measure.LoadTable {
	ours.Name, ours.Ours = "Weir", true
	return []measure.LoadTable{{
		Scenario: measure.Scenario{Name: "load", Keys: keys, Callers: callers},
		Rows:     []measure.LoadRow{ours, theirs},
	}}
}

func rate(name string, v float64) measure.LoadRow {
	return measure.LoadRow{Name: name, Rate: []float64{v}}
}

func cpu(name string, v float64) measure.LoadRow {
	return measure.LoadRow{Name: name, Both: []float64{v}}
}

// Each bar is met exactly at its bound, and not a step beyond.
func TestBars(t *testing.T) {
	for _, c := range []struct {
		name string
		bars []Bar
		met  []bool
	}{
		{"first in memory", MemoryBars(speed(100, 101)), []bool{true}},
		{"level in memory", MemoryBars(speed(100, 100)), []bool{false}},
		{"second in memory", MemoryBars(speed(100, 99)), []bool{false}},
		{"heap below", MemoryBars(heap(63.9)), []bool{true}},
		{"heap at the bound", MemoryBars(heap(64)), []bool{false}},
		{"a third of the cpu", RedisBars(load(10_000, 128, cpu("", 10), cpu("redis_rate", 30))), []bool{true}},
		{"more than a third", RedisBars(load(10_000, 128, cpu("", 10.1), cpu("redis_rate", 30))), []bool{false}},
		{"cpu of other callers has no bar", RedisBars(load(10_000, 64, cpu("", 10), cpu("redis_rate", 30))), nil},
		{"hot", RedisBars(load(1, 64, rate("", 250_000), rate("throttled", 12_500))), []bool{true, true}},
		{"hot but slow", RedisBars(load(1, 64, rate("", 249_999), rate("throttled", 1))), []bool{false, true}},
		{"hot but not 20 times", RedisBars(load(1, 64, rate("", 250_000), rate("throttled", 12_501))), []bool{true, false}},
		{"small keys", keySizeBars([]measure.KeySize{{Algorithm: "gcra", One: 100, Full: 128}, {Algorithm: "sliding_log", Full: 999}}), []bool{true}},
		{"large keys", keySizeBars([]measure.KeySize{{Algorithm: "gcra", One: 100}, {Algorithm: "gcra", One: 129}}), []bool{false}},
		{"nothing measured", (&Document{}).Bars(), nil},
	} {
		if len(c.bars) != len(c.met) {
			t.Errorf("%s: %d bars, want %d: %+v", c.name, len(c.bars), len(c.met), c.bars)
			continue
		}
		for i, b := range c.bars {
			if b.Met != c.met[i] {
				t.Errorf("%s: %s: %s %s, want met = %v", c.name, b.Promise, b.Measured, b.Verdict(), c.met[i])
			}
		}
	}
}

// The document says where, when and how, and shows what was measured.
func TestDocument(t *testing.T) {
	mem := speed(100, 250)
	mem.Heap = heap(40).Heap
	d := &Document{
		Machine:      measure.Machine{CPU: "some processor", Cores: 2, Memory: "4.0 GiB", System: "an os", Go: "go1.26", Load: "0.25"},
		RedisVersion: "7.0.15",
		Modules:      []measure.Module{{Path: "example.com/rival", Version: "v1.2.3"}},
		Command:      "the command -here",
		Rounds:       3,
		Memory:       &mem,
		Redis:        load(1, 64, rate("", 300_000), rate("throttled", 1000)),
		KeySizes:     []measure.KeySize{{Algorithm: "gcra", Limit: "100/s", Key: "k", One: 104, Full: 104}},
	}
	text := d.Markdown()
	for _, want := range []string{
		"some processor", "2 cores", "4.0 GiB", "go1.26", "before: 0.25", "Redis 7.0.15", "example.com/rival v1.2.3",
		"`the command -here`", "3 rounds", "### 10k keys, 2 cores", "2.50x", "### load", "300k", "| gcra", "PASS",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the document does not say %q", want)
		}
	}
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, " \t\n")+"\n" != line {
			t.Errorf("line ends in blanks: %q", line)
		}
	}
}
