package weir

// Outcome is the answer for one Charge. It is filled on denial too.
type Outcome struct {
	// OK: this charge alone fits (or is one that always does). An entry is
	// denied by its charges of which this is false, as their modes allow.
	OK bool
	// Granted is what the key was changed by: the cost of an admitted charge,
	// the share given to UpTo, what a Refund really gave back.
	Granted int64
	// Remaining is what is left after this answer; 0 means the next unit is denied.
	Remaining int64
	// ResetAfter is the time until nothing is in use, if nothing more comes.
	ResetAfter Micros
	// RetryAfter is the time after which a lone caller's same charge fits, to
	// the microsecond; 0 when OK, Never when the cost is above the capacity.
	RetryAfter Micros
	// Delay is how long an admitted leaky_bucket charge has to wait.
	Delay Micros
	// Before is what the store held when it decided.
	Before Usage
}

// Usage is the observable part of a state.
type Usage struct {
	Used  int64  // units in use
	Since Micros // bucket: when Used was last whole; window: its first; runs and slots: the newest; 0 when nothing is in use
}

// Binding returns the index of the charge that a caller should be told about:
// of a denied entry the denying charge that lasts longest, of an admitted one
// the one with least left. A group speaks through its member that passes first,
// or has most left. It is -1 for an entry without outcomes.
func (e *Entry) Binding() int {
	if len(e.Outcomes) == 1 {
		return 0
	}
	best := -1
	for i := range e.Outcomes {
		if !e.speaks(i) {
			continue
		}
		if best < 0 || e.tighter(i, best) {
			best = i
		}
	}
	if best < 0 && len(e.Outcomes) > 0 {
		best = 0
	}
	return best
}

// speaks tells whether charge i can be the binding one.
func (e *Entry) speaks(i int) bool {
	c, o := &e.Charges[i], &e.Outcomes[i]
	if c.Mode == Shadow || c.Mode == Refund {
		return false
	}
	if c.Group == 0 {
		return e.Admitted || !o.OK
	}
	for j := range e.Charges {
		if e.Charges[j].Group != c.Group || j == i {
			continue
		}
		if !e.Admitted && e.Outcomes[j].OK || e.looser(j, i) {
			return false
		}
	}
	return e.Admitted || !o.OK
}

// tighter tells whether charge i leaves its caller less than charge j.
func (e *Entry) tighter(i, j int) bool {
	a, b := &e.Outcomes[i], &e.Outcomes[j]
	if e.Admitted {
		return a.Remaining < b.Remaining
	}
	return a.RetryAfter > b.RetryAfter
}

// looser is the other side of tighter; of equals, the first is looser.
func (e *Entry) looser(i, j int) bool {
	return e.tighter(j, i) || i < j && !e.tighter(i, j)
}
