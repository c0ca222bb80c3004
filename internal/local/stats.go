package local

// Stats is how full a Tier is.
type Stats struct {
	Denials int // counters that the deny cache has a record of
}

// Stats counts. It locks a part of the table at a time: ask when metrics are
// gathered, not per request.
func (t *Tier) Stats() (s Stats) {
	if t.denials != nil {
		s.Denials = t.denials.table.Len()
	}
	return s
}
