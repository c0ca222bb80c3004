package policy

import (
	"slices"

	"github.com/weirlimit/weir"
)

// binding finds limits that never deny because another one of the list always
// does so first. Of two that are equal in this, the later is named.
func (l *linter) binding(limits []WrittenLimit) {
	for j := range limits {
		for i := range limits {
			a, b := limits[i].Limit, limits[j].Limit
			if i == j || !implies(a, b) || i > j && implies(b, a) {
				continue
			}
			l.warn(limits[j].At, "never-binds", "remove it, or make it tighter", "%s can never deny: %s always does so first", b, a)
			break
		}
	}
}

// implies tells whether what a admits always fits into b. Windows are taken at
// their count: what a sliding window may admit beyond it is not what anybody
// writes a second limit for.
func implies(a, b weir.Limit) bool {
	if a.Algorithm == weir.Concurrency || b.Algorithm == weir.Concurrency {
		return false // places and units are not compared
	}
	switch b.Algorithm {
	case weir.LeakyBucket:
		return false // it delays what it does not deny
	case weir.GCRA, weir.TokenBucket:
		// The most that a admits in a time T is a line above burst + rate x T.
		burst := a.Capacity()
		if a.Algorithm == weir.FixedWindow {
			burst = 2 * a.Count // the end of a window and the start of the next
		}
		return burst <= b.Capacity() && a.Count*int64(b.Window/weir.Second) <= b.Count*int64(a.Window/weir.Second)
	}
	return peak(a, b) <= b.Count
}

// peak is the most that a admits within a window of b.
func peak(a, b weir.Limit) int64 {
	within, window := int64(b.Window/weir.Second), int64(a.Window/weir.Second)
	windows := (within + window - 1) / window
	switch a.Algorithm {
	case weir.GCRA, weir.TokenBucket, weir.LeakyBucket:
		return a.Capacity() + a.Count*within/window
	case weir.FixedWindow:
		if b.Algorithm != weir.FixedWindow || within%window != 0 {
			windows++ // it begins within one
		}
	}
	return a.Count * windows
}

// maxGeneral bounds how many policies every other one is compared with.
const maxGeneral = 64

// bindsAll tells whether the policy applies to every request that has its by
// dimensions, with limits that are the same for all.
func (p *NativePolicy) bindsAll() bool {
	return len(p.Match) == 0 && len(p.Routes) == 0 && len(p.Plans) == 0 && p.Mode == weir.Enforce
}

// within finds limits of a user that those of its tenant never let it reach.
func (l *linter) within(p *NativePolicy, general []*NativePolicy) {
	if p.Mode != weir.Enforce || p.Shards > 0 {
		return // a shadow shows what would be; a part may deny before the whole would
	}
	for _, outer := range general {
		if outer == p || !sameCosts(outer.Cost, p.Cost) || !subset(outer.By, p.By) {
			continue
		}
		// Of two that count the same, the later is named.
		if len(outer.By) == len(p.By) && p.bindsAll() && outer.At.compare(p.At) > 0 {
			continue
		}
		for _, limits := range p.allLimits() {
			l.withinLimits(limits, outer)
		}
	}
}

func (l *linter) withinLimits(limits []WrittenLimit, outer *NativePolicy) {
	for _, b := range limits {
		for _, a := range outer.Limits {
			if implies(a.Limit, b.Limit) {
				l.warn(b.At, "never-binds", "make it tighter, or the other one wider",
					"%s can never deny: %s of policy %s (%s) always does so first", b.Limit, a.Limit, outer.ID, outer.At)
				break
			}
		}
	}
}

func subset(a, b []string) bool {
	for _, name := range a {
		if !slices.Contains(b, name) {
			return false
		}
	}
	return true
}

// sameCosts tells whether a unit weighs the same in both.
func sameCosts(a, b []RouteCost) bool {
	return slices.EqualFunc(a, b, func(x, y RouteCost) bool {
		return x.Any == y.Any && x.Cost == y.Cost && x.label() == y.label()
	})
}
