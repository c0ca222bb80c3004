package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weirlimit/weir"
)

// checkRealClock plays random charges while the store's own clock runs. Each
// answer says what that clock showed; a model that is shown the same instants
// must give the same answers.
func checkRealClock(p *probe) {
	texts := []string{
		"30011/s burst 40", "1009/s burst 20 token_bucket", "997/s burst 30 leaky_bucket", "7/s burst 11",
		"5/s fixed_window", "100/s", "5/s", "20/s sliding_log", "2 concurrency 1s",
	}
	seed := max(1, p.Seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	model := NewModel()
	for round := range 400 * p.effort() {
		entries := make([]weir.Entry, 1+rng.IntN(4))
		for i := range entries {
			entries[i] = randomEntry(p, rng, texts)
		}
		began := weir.MicrosAt(time.Now())
		answered := p.decide(entries...)
		ended := weir.MicrosAt(time.Now())
		for i := range answered {
			e := &answered[i]
			// A minute is for a server whose wall clock is not ours.
			if !e.Replayed && (e.Now < began-weir.Minute || e.Now > ended+weir.Minute) {
				p.Fatalf("seed %d, round %d: now = %d, the wall clock says %d", seed, round, e.Now, ended)
			}
			want := weir.Batch{Entries: []weir.Entry{{ID: e.ID, Charges: e.Charges}}}
			model.SetClock(e.Now)
			model.Submit(&want, func(*weir.Batch) {})
			w := &want.Entries[0]
			if w.Admitted != e.Admitted || w.Replayed != e.Replayed || !slices.Equal(w.Outcomes, e.Outcomes) {
				p.Fatalf("seed %d, round %d, at %d: %+v id %q\n got %v %+v\nwant %v %+v",
					seed, round, e.Now, e.Charges, e.ID, e.Admitted, e.Outcomes, w.Admitted, w.Outcomes)
			}
		}
	}
}

// randomEntry charges one or two keys, each of which keeps its limit.
func randomEntry(p *probe, rng *rand.Rand, texts []string) weir.Entry {
	e := weir.Entry{ID: fmt.Sprint(rng.IntN(50))}
	first := rng.IntN(len(texts))
	for i := range 1 + rng.IntN(2) {
		text := texts[(first+i)%len(texts)]
		c := weir.Charge{Key: p.key(text), Meter: meter(text), Cost: 1 + rng.Int64N(3)}
		if rng.IntN(10) == 0 {
			c.Mode = weir.Refund
		}
		e.Charges = append(e.Charges, c)
	}
	return e
}
