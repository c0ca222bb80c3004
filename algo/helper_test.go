package algo_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"pgregory.net/rapid"
)

// chargeOne settles one charge of any mode.
func chargeOne(m *weir.Meter, s *algo.State, now weir.Micros, cost int64, mode weir.Mode, id string) weir.Outcome {
	states, out := []algo.State{*s}, make([]weir.Outcome, 1)
	algo.Settle([]weir.Charge{{Key: "k", Meter: m, Cost: cost, Mode: mode}}, algo.OwnerOf(id), states, now, out)
	*s = states[0]
	return out[0]
}

func refund(m *weir.Meter, s *algo.State, now weir.Micros, n int64, id string) int64 {
	return chargeOne(m, s, now, n, weir.Refund, id).Granted
}

// try decides on a copy: what would be answered.
func try(m *weir.Meter, s algo.State, now weir.Micros, cost int64, id string) weir.Outcome {
	s = clone(s)
	return algo.Decide(m, &s, now, cost, algo.OwnerOf(id))
}

func clone(s algo.State) algo.State {
	s.Runs = slices.Clone(s.Runs)
	return s
}

// checkLong is rapid.Check many times over, for what has the most to find.
func checkLong(t *testing.T, prop func(*rapid.T)) {
	times := 20
	if testing.Short() {
		times = 2
	}
	for range times {
		rapid.Check(t, prop)
	}
}

// fuzzLong fuzzes a property, from inputs long enough for whole histories: of
// one that ends too early nothing is checked.
func fuzzLong(f *testing.F, prop func(*rapid.T)) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 16 {
		var input []byte
		for range 2048 {
			input = binary.LittleEndian.AppendUint64(input, random.Uint64())
		}
		f.Add(input)
	}
	f.Fuzz(rapid.MakeFuzz(prop))
}

// key is one key with a past.
type key struct {
	meter *weir.Meter
	state algo.State
	now   weir.Micros
	last  weir.Outcome
}

// drawKey draws a key of any algorithm and lets it live through a few charges
// of all modes. A clock that went back is ahead of its state's when back.
func drawKey(t *rapid.T, back bool, among ...weir.Algorithm) *key {
	l := drawLimit(t, among...)
	k := &key{meter: weir.MustMeter(l), now: epoch}
	k.last.Remaining = k.meter.Capacity
	for range rapid.IntRange(1, 12).Draw(t, "past") {
		k.now += drawStep(t, l, k.now, k.last, back)
		cost := drawCost(t, k.meter.Capacity, k.last.Remaining)
		id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
		k.last = chargeOne(k.meter, &k.state, k.now, cost, drawMode(t, l), id)
	}
	return k
}

// dump writes all that counts of a state.
func dump(s algo.State) string {
	return fmt.Sprintf("used %d at %d frac %d mark %d runs %v dirty %v", s.Used, s.At, s.Frac, s.Mark, s.Runs, s.Dirty)
}
