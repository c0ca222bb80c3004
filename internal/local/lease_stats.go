package local

import (
	"math"
	"sync/atomic"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/keytable"
)

// leaseTotals count what became of leases.
type leaseTotals struct {
	taken, spent, lost         atomic.Int64 // units; spent and lost also in the holdings
	full, short, empty, failed atomic.Int64 // answers to wishes
	crowded                    atomic.Int64 // wishes not sent, too many being under way
}

// answer counts the answer to a wish.
func (t *leaseTotals) answer(e *weir.Entry, wanted int64) {
	switch {
	case e.Err != nil:
		t.failed.Add(1)
	case e.Outcomes[0].Granted >= wanted:
		t.full.Add(1)
	case e.Outcomes[0].Granted > 0:
		t.short.Add(1)
	default:
		t.empty.Add(1)
	}
}

// LeaseStats is what became of leases. A unit of a request with two limits is
// two units here: one of each counter.
type LeaseStats struct {
	Taken, Spent, Lost int64 // units that were charged ahead, handed out, and not
	Held               int64 // units to be spent
	Keys               int   // that there are units of

	Full, Short, Empty, Failed, Crowded int64 // leases: granted in full, in part, not, not answered, not asked for

	// Bound is how many units all nodes together may hold of a key, were all like
	// this one: by so many may more than its limit be admitted. It is the largest
	// of all keys.
	Bound int64
	// Share is the same as a part of the limit's capacity.
	Share float64

	HotKeys int         // keys that are hot
	Rates   [10]float64 // requests a second of the keys asked for most, those first
}

// stats sums up, and takes note of what has ended.
func (l *leaser) stats(now weir.Micros) LeaseStats {
	var st LeaseStats
	l.table.Each(func(_ keytable.ID, h *holding) bool {
		h.settle(now)
		l.totals.spent.Add(h.spent)
		l.totals.lost.Add(h.lost)
		h.spent, h.lost = 0, 0
		n := h.held(now)
		if n == 0 {
			return true
		}
		st.Held += n
		st.Keys++
		st.Bound = max(st.Bound, h.bound)
		st.Share = math.Max(st.Share, float64(h.bound)/float64(h.limit.Capacity()))
		return true
	})
	t := &l.totals
	st.Taken, st.Spent, st.Lost = t.taken.Load(), t.spent.Load(), t.lost.Load()
	st.Full, st.Short, st.Empty, st.Failed, st.Crowded = t.full.Load(), t.short.Load(), t.empty.Load(), t.failed.Load(), t.crowded.Load()
	for i, k := range l.hot.top(math.MaxInt, now, nil) {
		if i < len(st.Rates) {
			st.Rates[i] = k.Rate
		}
		if k.Hot {
			st.HotKeys++
		}
	}
	return st
}

// LeaseStats returns what became of leases, and whether there are any. It looks
// at every record: it is for a scrape, not for a request.
func (t *Tier) LeaseStats() (LeaseStats, bool) {
	l, ok := t.leases.(*leaser)
	if !ok {
		return LeaseStats{}, false
	}
	return l.stats(l.now()), true
}

// HotKeys returns the n keys asked for most at this node, those first; none
// where there are no leases.
func (t *Tier) HotKeys(n int) []HotKey {
	l, ok := t.leases.(*leaser)
	if !ok {
		return nil
	}
	return l.hotKeys(n, l.now())
}

func (l *leaser) hotKeys(n int, now weir.Micros) []HotKey {
	return l.hot.top(n, now, func(id keytable.ID) int64 { return l.size(id, now) })
}

// size is how many units of a key are taken at a time; 0 when none were lately.
// A part of the sketch is locked meanwhile: nothing that holds a part of the
// table may ask for one of the sketch.
func (l *leaser) size(id keytable.ID, now weir.Micros) int64 {
	s := l.table.Lock(id)
	defer s.Unlock()
	if h := s.Find(id); h != nil && h.grantedAt != 0 && now-h.grantedAt < coolAfter {
		return h.sizer.Size()
	}
	return 0
}
