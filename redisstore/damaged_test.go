package redisstore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// What was damaged cannot be undone. It must not fail what shares its batch.
func TestUndoOfADamagedRecord(t *testing.T) {
	c := startCluster(t, 1, 0)
	m := still(10)
	for i, damage := range []func(string) string{
		func(string) string { return "" },
		func(string) string { return strings.Repeat("\xff", 300) },
		func(rec string) string { return rec[:7] },
		func(rec string) string { return rec[:20] },
		func(rec string) string { return rec[:len(rec)-1] },
	} {
		k := fmt.Sprintf("{damaged%d}", i)
		e := weir.Entry{ID: "damaged", Charges: []weir.Charge{charge(k, m, 4)}}
		admitPart(t, c.s, e, 1)
		name := c.record(t, e)
		rec, ok := c.node(k).MustDo("GET", name).(string)
		if !ok {
			t.Fatalf("the record is not at %q", name)
		}
		c.node(k).MustDo("SET", name, damage(rec), "KEEPTTL")
		c.s.amend(e, c.s.slotOf(k), 1)
		for range 3 { // those after it have seen what it did
			admit(t, c.s, weir.Entry{Charges: []weir.Charge{charge(k, m, 0)}})
		}
	}
	// That it could not be undone may be counted as damage, and as nothing else.
	c.lost[weir.LossCorruptState].Store(0)
	c.wantNoLoss(t)
}

// A meter in a record that no limit makes must not reach the arithmetic.
func TestReplayOfADamagedMeter(t *testing.T) {
	m := weir.MustMeter(everyAlgorithm[0])
	var st algo.State
	algo.Decide(m, &st, 1_699_999_998_990_000, 150, algo.Owner{}) // 10 ms before the record
	before := algo.AppendState(nil, m, &st)
	for name, spoil := range map[string]func(*weir.Meter){
		"drains at once":       func(m *weir.Meter) { m.Whole, m.Rem = 0, 0 },
		"fraction above 1":     func(m *weir.Meter) { m.Rem, m.Den = 1<<24-1, 1 },
		"drains too fast":      func(m *weir.Meter) { m.Whole, m.Rem, m.Den, m.UsedCap = 0, 1, 1<<24-1, 1<<24-1 },
		"drains for ever":      func(m *weir.Meter) { m.Whole, m.UsedCap = 1<<55, 1<<24-1 },
		"runs without a bound": func(m *weir.Meter) { m.Machine, m.MaxRuns, m.RunCap = weir.Runs, 0, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			odd := *m
			spoil(&odd)
			e := one("k", m)
			e.ID = "r"
			fl := found(&e, before, recordOf(&odd, before))
			fl.answer(&fl.groups[0], &e) // does not panic
		})
	}
}
