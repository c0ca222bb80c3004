package redisstore

// landing answers the items of a flight, in their order. It knows a few in
// advance, and tells them: what answering needs of memory comes while those
// before them are answered.
type landing struct {
	f        *flight
	waiting  [ahead]landed
	pushed   int
	admitted int64
	late     int
}

// landed is an item that is to be answered, or none: nobody waits for it any
// more, and it was decided all the same.
type landed struct {
	g  *group
	it *item
}

// ahead is how many items are known in advance, a power of two. Memory takes as
// long to come as it takes to answer one; a caller whose deadline passes while
// its item waits here gets its answer.
const ahead = 4

// push takes the next item and returns whether it is the flight's to answer.
func (l *landing) push(g *group, it *item, first bool) (mine bool) {
	if l.pushed >= ahead {
		l.answer(l.pushed)
	}
	mine = it.state.CompareAndSwap(flying, done)
	if !mine {
		it = nil
	} else if first { // others of its group need the same memory
		it.holder.soon()
	}
	l.waiting[l.pushed%ahead] = landed{g, it}
	l.pushed++
	return mine
}

// flush answers what waits.
func (l *landing) flush() {
	for n := max(l.pushed, ahead); n < l.pushed+ahead; n++ {
		l.answer(n)
	}
}

// answer answers the item that was pushed as number n - ahead.
func (l *landing) answer(n int) {
	w := &l.waiting[n%ahead]
	if w.it == nil {
		if l.f.answer(w.g, nil) {
			l.admitted++
			l.late++
		}
		return
	}
	if l.f.answer(w.g, w.it.entry) {
		l.admitted++
	}
	w.it.holder.settled(w.it, l.f)
}
