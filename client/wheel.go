package client

// tick is a number of milliseconds since the client was made. Deadlines are
// kept to a tick.
type tick int64

// wheelSize is how many ticks a turn takes. Deadlines further away are looked
// at once a turn.
const wheelSize = 256

// wheel holds calls by the tick at which they are due. Adding and removing take
// the same time however many there are. It is pure: it is told the time.
type wheel struct {
	spokes [wheelSize]*call // lists, each call once
	last   tick             // all before it were looked at
	n      int
}

func (w *wheel) add(c *call) {
	if c.due < w.last { // overdue: at the next look
		c.due = w.last
	}
	head := &w.spokes[uint64(c.due)%wheelSize]
	c.prev, c.next = nil, *head
	if c.next != nil {
		c.next.prev = c
	}
	*head = c
	w.n++
}

func (w *wheel) remove(c *call) {
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		w.spokes[uint64(c.due)%wheelSize] = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	}
	c.prev, c.next = nil, nil
	w.n--
}

// expire calls fn for every call that is due at now or earlier. fn removes it,
// and changes nothing else.
func (w *wheel) expire(now tick, fn func(*call)) {
	from := w.last
	if now-from >= wheelSize { // a turn or more: every spoke once
		from = now - wheelSize + 1
	}
	for t := from; t <= now; t++ {
		for c := w.spokes[uint64(t)%wheelSize]; c != nil; {
			next := c.next
			if c.due <= now {
				fn(c)
			}
			c = next
		}
	}
	if now >= w.last {
		w.last = now // again: calls may yet be added that are due at now
	}
}
