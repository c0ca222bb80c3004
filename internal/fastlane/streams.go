package fastlane

// streams finds the open streams of a connection by their ids: a hash table
// whose chains go through the calls. Ids count up by two, so that those open at
// the same time rarely meet, however many they are. The zero value is empty.
type streams struct {
	heads []*Call // a power of two, at least n
	n     int
}

func (t *streams) head(id uint32) **Call { return &t.heads[id>>1&uint32(len(t.heads)-1)] }

func (t *streams) get(id uint32) *Call {
	if t.n == 0 {
		return nil
	}
	c := *t.head(id)
	for c != nil && c.id != id {
		c = c.chained
	}
	return c
}

// put adds a stream that is not there.
func (t *streams) put(c *Call) {
	if t.n == len(t.heads) {
		old := t.heads
		t.heads = make([]*Call, max(16, 2*len(old)))
		for _, c := range old {
			for c != nil {
				next := c.chained
				t.link(c)
				c = next
			}
		}
	}
	t.link(c)
	t.n++
}

func (t *streams) link(c *Call) {
	at := t.head(c.id)
	c.chained, *at = *at, c
}

// remove takes a stream out, if it is there.
func (t *streams) remove(c *Call) {
	if t.n == 0 {
		return
	}
	for at := t.head(c.id); *at != nil; at = &(*at).chained {
		if *at == c {
			*at, c.chained = c.chained, nil
			t.n--
			return
		}
	}
}

// each calls f for every stream. f may not change the table.
func (t *streams) each(f func(*Call)) {
	if t.n == 0 {
		return
	}
	for _, c := range t.heads {
		for ; c != nil; c = c.chained {
			f(c)
		}
	}
}
