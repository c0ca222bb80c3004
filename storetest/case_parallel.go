package storetest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weirlimit/weir"
)

const workers = 8

// checkNeverExceeds lets many callers drain one key of every algorithm while
// no time passes: exactly what fits is admitted, and no two find the same.
func checkNeverExceeds(p *probe) {
	texts := []string{
		"50/365d burst 50", "50/365d token_bucket", "50/365d burst 50 leaky_bucket",
		"50/365d", "16/365d", "50/365d sliding_log", "50 concurrency 1h",
	}
	if p.SetClock != nil {
		p.SetClock(Base)
		texts = append(texts, "50/d fixed_window")
	}
	for _, text := range texts {
		m, key := meter(text), p.key("exceed "+text)
		const tries = 12 // a worker; 96 in all
		found := make([][]int64, workers)
		p.parallel(workers, func(w int) error {
			for i := range tries {
				e := p.ask(weir.Entry{ID: fmt.Sprintf("%d-%d", w, i), Charges: []weir.Charge{{Key: key, Meter: m, Cost: 1}}})[0]
				if e.Err != nil {
					return e.Err
				}
				if e.Admitted {
					found[w] = append(found[w], e.Outcomes[0].Before.Used)
				}
			}
			return nil
		})
		all := slices.Concat(found...)
		slices.Sort(all)
		if int64(len(all)) != m.Capacity {
			p.Fatalf("%s: %d callers were admitted, want %d", text, len(all), m.Capacity)
		}
		for i, used := range all {
			if used != int64(i) {
				p.Fatalf("%s: admitted callers found %v in use, want each number once", text, all)
			}
		}
		p.wantUsed(key, m, m.Capacity)
	}
}

// grant is a number of units and, by the caller's clock, when they were asked
// for and granted: the decision lies in between. The store's own instant may be
// earlier, since a store may look at its clock before it waits for a lock.
type grant struct {
	asked, granted time.Time
	n              int64
}

// checkNeverExceedsRate does the same while time passes: in no interval is more
// admitted than the published bound.
func checkNeverExceedsRate(p *probe) {
	for _, text := range []string{"1009/s burst 20", "30011/s burst 100", "100/s", "10/s", "50/s sliding_log"} {
		m := meter(text)
		bound := func(span weir.Micros) int64 {
			if m.Machine == weir.Bucket {
				return m.Capacity + int64(span)*m.Limit.Count/int64(m.Limit.Window) + 1 // for the clocks to differ
			}
			windows := int64(span/m.Limit.Window) + 1
			return windows * (m.Limit.Count + m.RunCap - 1)
		}
		grants := p.drain(p.key("rate "+text), m)
		if len(grants) == 0 {
			p.Fatalf("%s: nothing was admitted", text)
		}
		for _, first := range grants {
			sum := int64(0)
			for _, last := range grants { // in the order in which they were granted
				if last.asked.Before(first.asked) {
					continue
				}
				sum += last.n
				if span := weir.MicrosOf(last.granted.Sub(first.asked)); sum > bound(span) {
					p.Fatalf("%s: %d units were admitted within %s, at most %d may be", text, sum, spanText(span), bound(span))
				}
			}
		}
	}
}

// drain asks for units from many callers for 30 ms, and returns what was
// granted in the order in which it was.
func (p *probe) drain(key string, m *weir.Meter) []grant {
	p.Helper()
	const enough = 30 * time.Millisecond
	var mu sync.Mutex
	var grants []grant
	end := time.Now().Add(enough)
	p.parallel(workers, func(w int) error {
		for i := 0; i == 0 || time.Now().Before(end); i++ {
			g := grant{asked: time.Now()}
			e := p.ask(weir.Entry{Charges: []weir.Charge{{Key: key, Meter: m, Cost: 1 + int64(i+w)%3}}})[0]
			if e.Err != nil {
				return e.Err
			}
			if !e.Admitted {
				continue
			}
			g.n, g.granted = e.Outcomes[0].Granted, time.Now()
			mu.Lock()
			grants = append(grants, g)
			mu.Unlock()
		}
		return nil
	})
	slices.SortFunc(grants, func(a, b grant) int { return a.granted.Compare(b.granted) })
	return grants
}

// checkAllOrNothing charges two keys of one slot from many callers, one of them
// always full in the end, and refunds some: what is in use is what was granted.
func checkAllOrNothing(p *probe) {
	small, large := still(40), still(1000)
	a, b, c := p.key("a"), p.key("b"), p.key("c")
	sums := p.churn(func(w, i int) []weir.Charge {
		switch (w + i) % 4 {
		case 0:
			return []weir.Charge{{Key: b, Meter: large, Cost: 1}, {Key: a, Meter: small, Cost: 2}}
		case 1:
			return []weir.Charge{{Key: a, Meter: small, Cost: 1}, {Key: b, Meter: large, Cost: 3}, {Key: c, Meter: large, Cost: 1}}
		case 2:
			return []weir.Charge{{Key: c, Meter: large, Cost: 5}, {Key: a, Meter: small, Cost: 7}}
		}
		return []weir.Charge{{Key: a, Meter: small, Cost: 1, Mode: weir.Refund}, {Key: c, Meter: large, Cost: 1, Mode: weir.Refund}}
	})
	if sums[a] > small.Capacity {
		p.Fatalf("%d units were granted and not given back, of %d", sums[a], small.Capacity)
	}
	p.wantUsed(a, small, sums[a])
	p.wantUsed(b, large, sums[b])
	p.wantUsed(c, large, sums[c])
}

// churn sends entries from many callers, checks that denied ones were granted
// nothing, and returns the sum of what was granted, by key.
func (p *probe) churn(charges func(worker, i int) []weir.Charge) map[string]int64 {
	p.Helper()
	const rounds = 40
	var mu sync.Mutex
	sums := make(map[string]int64)
	p.parallel(workers, func(w int) error {
		for i := range rounds {
			e := p.ask(weir.Entry{Charges: charges(w, i)})[0]
			if e.Err != nil {
				return e.Err
			}
			for j, o := range e.Outcomes {
				c := e.Charges[j]
				switch {
				case c.Mode == weir.Refund:
					o.Granted = -o.Granted
				case e.Admitted != (o.Granted == c.Cost):
					return fmt.Errorf("charge %d: granted %d of %d in an entry with admitted %v", j, o.Granted, c.Cost, e.Admitted)
				}
				mu.Lock()
				sums[c.Key] += o.Granted
				mu.Unlock()
			}
		}
		return nil
	})
	return sums
}

// checkAcrossSlots charges keys of different hash tags. They may be decided
// apart, and what was charged in vain refunded a moment later.
func checkAcrossSlots(p *probe) {
	small, large := still(20), still(10_000)
	full, wide := p.key("full@1"), p.key("wide@2")
	sums := p.churn(func(w, i int) []weir.Charge {
		return []weir.Charge{{Key: wide, Meter: large, Cost: 3}, {Key: full, Meter: small, Cost: 1}}
	})
	if sums[full] > small.Capacity || sums[wide] != 3*sums[full] {
		p.Fatalf("granted %d of %d, and %d beside it", sums[full], small.Capacity, sums[wide])
	}
	if sums[full] < small.Capacity {
		p.Fatalf("granted %d of %d to a demand of %d", sums[full], small.Capacity, workers*40)
	}
	p.eventuallyUsed(full, small, sums[full])
	p.eventuallyUsed(wide, large, sums[wide])
}

// eventuallyUsed waits for refunds that are still on their way.
func (p *probe) eventuallyUsed(key string, m *weir.Meter, want int64) {
	p.Helper()
	for end := time.Now().Add(patience / 10); p.used(key, m) != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			p.wantUsed(key, m, want)
			return
		}
	}
}
