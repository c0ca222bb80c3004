package algo

import "github.com/weirlimit/weir"

// The runs machine keeps units as dated runs, oldest first. A run holds units
// of one instant, or up to RunCap units of that instant and later ones, and is
// freed whole one window after its instant. A unit is therefore never freed
// late, and at most RunCap - 1 units are freed early: the others of the one
// run that straddles the start of a window. With RunCap 1 it is an exact log.

// dropRuns frees the runs dated at or before edge.
func (s *State) dropRuns(edge weir.Micros) {
	i := 0
	for i < len(s.Runs) && s.Runs[i].T <= edge {
		s.Used -= s.Runs[i].N
		i++
	}
	if i > 0 {
		// Copied down, not resliced: the memory before the slice would be lost
		// to whoever reuses it.
		s.Runs = s.Runs[:copy(s.Runs, s.Runs[i:])]
	}
}

// addRuns dates n units now, or at the latest instant seen if that is later.
func (s *State) addRuns(m *weir.Meter, now weir.Micros, n int64) {
	if k := len(s.Runs); k > 0 {
		last := &s.Runs[k-1]
		if last.T >= now {
			last.N += n
			return
		}
		if fill := min(n, m.RunCap-last.N); fill > 0 {
			last.N += fill
			n -= fill
		}
	}
	if n == 0 {
		return
	}
	s.Runs = append(s.Runs, Run{T: now, N: n})
	if len(s.Runs) > m.MaxRuns {
		s.joinOldest()
	}
}

// joinOldest makes one run of the two oldest. Only raising a limit again and
// again, or counting past it, makes so many. The later instant is kept: units
// are freed late rather than early.
func (s *State) joinOldest() {
	s.Runs[1].N += s.Runs[0].N
	s.Runs = s.Runs[:copy(s.Runs, s.Runs[1:])]
}

// popRuns removes the n latest units; n <= Used.
func (s *State) popRuns(n int64) {
	for n > 0 {
		last := &s.Runs[len(s.Runs)-1]
		if last.N > n {
			last.N -= n
			return
		}
		n -= last.N
		s.Runs = s.Runs[:len(s.Runs)-1]
	}
}

// runsFreeAt is the date of the run whose end frees the n-th unit; n <= Used.
func (s *State) runsFreeAt(n int64) weir.Micros {
	for i := range s.Runs {
		n -= s.Runs[i].N
		if n <= 0 {
			return s.Runs[i].T
		}
	}
	return 0
}

// decideRun is decide for a counter of one run that is not freed yet, which most
// are.
func decideRun(m *weir.Meter, s *State, now weir.Micros, cost int64, o *weir.Outcome) {
	run, used := s.Runs[0], s.Used
	*o = weir.Outcome{Before: weir.Usage{Used: used, Since: run.T}}
	ends := run.T + m.Limit.Window
	switch {
	case cost <= m.Capacity-used:
		s.addRuns(m, now, cost)
		used += cost
		s.Used, s.Dirty = used, true
		o.OK, o.Granted = true, cost
		ends = s.Runs[len(s.Runs)-1].T + m.Limit.Window
	case cost > m.Capacity:
		o.RetryAfter = weir.Never
	default:
		o.RetryAfter = ends - now
	}
	o.Remaining = max(0, m.Capacity-used)
	o.ResetAfter = ends - now
}
