package memstore

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// takeBucket is take for a bucket that is stored and stays so, which is what most
// checks meet: what it needs is all in the cell. It returns false, and has changed
// nothing, for all else.
func (s *shard) takeBucket(a *ask, cost int64, o *weir.Outcome) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, i := s.find(&a.key)
	if c == nil || c.machine() != weir.Bucket || s.closed {
		return false
	}
	var st algo.State
	c.load(&st)
	algo.DecideInto(a.meter, &st, a.now, cost, algo.Owner{}, o)
	if !st.Dirty {
		return true
	}
	if st.Used == 0 { // is to be dropped
		return false
	}
	had, due := c.due(), s.shared.due(a.now+o.ResetAfter)
	c.save(&st, uint64(st.At), uint64(st.Frac), due, shareOf(a.meter, st.Used), a.key.label())
	if due < had {
		s.lower(&s.tables[a.key.table()], i, due)
	}
	return true
}
