package memstore

import "math"

// Expiry is done a segment of cells at a time. A segment's due instant is a
// lower bound of its cells': writing a cell lowers it, only looking through the
// segment raises it. A segment looked through at one tick is not due again
// before the next, so sweeping a shard costs at most one look at each cell a
// tick.

// lower notes that cell i of the table expires at due.
func (s *shard) lower(t *table, i int, due tick) {
	if t.lower(i, due) && uint32(due) < s.soonest.Load() {
		s.soonest.Store(uint32(due))
		s.shared.lowerSoonest(uint32(due))
	}
}

func (c *shared) lowerSoonest(t uint32) {
	for {
		old := c.soonest.Load()
		if t >= old || c.soonest.CompareAndSwap(old, t) {
			return
		}
	}
}

// isDue tells whether a key here may have expired. It needs no lock.
func (s *shard) isDue(now tick) bool { return uint32(now) >= s.soonest.Load() }

// grace is how long an expired state may stay although its memory could be had,
// about a minute: who comes back meanwhile finds a cell. Where memory is short,
// at the cap or before a table grows, there is none.
const grace tick = 1 << 8

// everySegment is a bound on segments that is none.
const everySegment = math.MaxInt

// sweep frees what expired in at most so many segments that are due, but none of
// keep, and returns how much it was.
func (s *shard) sweep(now tick, most int, keep []key) int {
	freed, soonest := 0, never
	for n := range s.tables {
		t := &s.tables[n]
		got := s.sweepTable(n, now, &most, keep)
		if got > 0 {
			// Gaps that are closed across the table's end bring cells to where
			// was looked already.
			got += s.sweepTable(n, now, &most, keep)
			t.shrink(hasher{s, n})
		}
		freed += got
		for _, due := range t.dues {
			soonest = min(soonest, due)
		}
	}
	s.soonest.Store(uint32(soonest))
	s.counts.expired += uint64(freed)
	return freed
}

// sweepTable does so for one table. It goes backwards: what closes a gap comes
// from behind it, and has been looked at.
func (s *shard) sweepTable(table int, now tick, most *int, keep []key) int {
	freed := 0
	dues := s.tables[table].dues
	for n := len(dues) - 1; n >= 0 && *most > 0; n-- {
		if dues[n] <= now {
			*most--
			freed += s.sweepSegment(table, n, now, keep)
		}
	}
	return freed
}

// sweepSegment looks through segment n of a table.
func (s *shard) sweepSegment(table, n int, now tick, keep []key) int {
	t := &s.tables[table]
	t.dues[n] = never // and lowered by what moves here
	freed, due := 0, never
	for i := min((n+1)*segment, int(t.slots)) - 1; i >= n*segment; i-- {
		c := t.at(i)
		switch {
		case c.isEmpty():
		case c.due() > now:
			due = min(due, c.due())
		case s.isKept(table, c, keep):
			due = min(due, now+1)
		default:
			s.drop(table, i)
			freed++
		}
	}
	t.lower(n*segment, due)
	return freed
}

// isKept tells whether a cell is that of a key in keep.
func (s *shard) isKept(table int, c cell, keep []key) bool {
	for i := range keep {
		if k := &keep[i]; k.table() == table && c.label() == k.label() && s.holds(c, k) {
			return true
		}
	}
	return false
}
