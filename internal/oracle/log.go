package oracle

import (
	"slices"

	"github.com/weirlimit/weir"
)

// event is n units taken at one instant.
type event struct {
	at weir.Micros
	n  int64
}

// rollingLog holds every charge with its timestamp, in the order of arrival. A
// unit is in use for one window after it was taken.
type rollingLog struct {
	limit  weir.Limit
	events []event
	now    weir.Micros
}

func (r *rollingLog) See(now weir.Micros) {
	r.now = now
	var kept []event
	for _, e := range r.events {
		if e.at+r.limit.Window > now {
			kept = append(kept, e)
		}
	}
	r.events = kept
}

func (r *rollingLog) SetLimit(l weir.Limit) { r.limit = l }

func (r *rollingLog) Clone() Counter {
	c := *r
	c.events = slices.Clone(r.events)
	return &c
}

func (r *rollingLog) Used() int64 {
	sum := int64(0)
	for _, e := range r.events {
		sum += e.n
	}
	return sum
}

func (r *rollingLog) Since() weir.Micros {
	newest := weir.Micros(0)
	for _, e := range r.events {
		newest = max(newest, e.at)
	}
	return newest
}

func (r *rollingLog) Holds(string) bool { return false }

// Take dates the units no earlier than what is already in use.
func (r *rollingLog) Take(n int64, _ string) int64 {
	n = min(n, maxUsed-r.Used())
	if n <= 0 {
		return 0
	}
	r.events = append(r.events, event{max(r.now, r.Since()), n})
	return n
}

// Give takes back unit by unit, the latest first.
func (r *rollingLog) Give(n int64, _ string) int64 {
	given := int64(0)
	for given < n && len(r.events) > 0 {
		last := &r.events[len(r.events)-1]
		part := min(last.n, n-given)
		last.n -= part
		given += part
		if last.n == 0 {
			r.events = r.events[:len(r.events)-1]
		}
	}
	return given
}

func (r *rollingLog) FreeAt(n int64) weir.Micros {
	for _, e := range r.events {
		n -= e.n
		if n <= 0 {
			return e.at + r.limit.Window
		}
	}
	panic("fewer units in use than asked for")
}

// Rolling is what was admitted, for ever, with raw timestamps that do not go
// back.
type Rolling struct {
	events []event
}

// Admit records n units at an instant.
func (r *Rolling) Admit(at weir.Micros, n int64) {
	if n > 0 {
		r.events = append(r.events, event{at, n})
	}
}

// Within is how many units were admitted in the window that ends with now: after
// now - window, and up to now.
func (r *Rolling) Within(now, window weir.Micros) int64 {
	sum := int64(0)
	for _, e := range r.events {
		if e.at > now-window && e.at <= now {
			sum += e.n
		}
	}
	return sum
}

// Most is the largest number of units in any window of that length: one of
// those that end with a charge.
func (r *Rolling) Most(window weir.Micros) int64 {
	most, sum, first := int64(0), int64(0), 0
	for _, e := range r.events {
		sum += e.n
		for ; r.events[first].at <= e.at-window; first++ {
			sum -= r.events[first].n
		}
		most = max(most, sum)
	}
	return most
}

// Least is the smallest number of units in any window of that length that
// begins just after a charge and ends with, or before, the last charge.
func (r *Rolling) Least(window weir.Micros) (least int64, ok bool) {
	last, sum := 0, int64(0)
	for _, e := range r.events {
		end := e.at + window
		for ; last < len(r.events) && r.events[last].at <= end; last++ {
			sum += r.events[last].n
		}
		if r.events[len(r.events)-1].at < end {
			break
		}
		sum -= e.n
		// Charges of the same instant lie before the window too.
		if !ok || sum < least {
			least, ok = sum, true
		}
	}
	return least, ok
}
