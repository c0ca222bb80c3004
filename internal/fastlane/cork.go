package fastlane

import "sync"

// Cork holds back what is written while many calls are answered in a row, so
// that every connection is written to once, by who answered. Whoever answers
// them says Begin before the first and End after the last; without a Cork, or
// outside of these, a goroutine of the connection is woken to write.
//
// Several may answer at the same time. What others answer meanwhile is written
// with the rest.
type Cork struct {
	mu struct {
		sync.Mutex // within that of a connection
		depth      int
		conns      []*conn // have something to be written
	}
}

// Begin says that answers follow.
func (k *Cork) Begin() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mu.depth++
}

// mostWritten is how many connections End writes to itself. It takes some
// microseconds each, and the next answers wait: if there are more, they are
// written by their own goroutines, on as many processors as there are.
const mostWritten = 8

// End writes what was answered, as far as the peers take it at once: it never
// waits for them.
func (k *Cork) End() {
	k.mu.Lock()
	k.mu.depth--
	held := len(k.mu.conns) // what comes after is for an End that is to come
	k.mu.Unlock()
	for n := range held {
		cn := k.next()
		if cn == nil { // others end, too
			return
		}
		cn.writeHeld(n < mostWritten)
	}
}

// next takes out a connection.
func (k *Cork) next() *conn {
	k.mu.Lock()
	defer k.mu.Unlock()
	last := len(k.mu.conns) - 1
	if last < 0 {
		return nil
	}
	cn := k.mu.conns[last]
	k.mu.conns[last] = nil
	k.mu.conns = k.mu.conns[:last]
	return cn
}

// hold takes a connection that has something to be written, if End is to come.
func (k *Cork) hold(cn *conn) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.depth == 0 {
		return false
	}
	k.mu.conns = append(k.mu.conns, cn)
	return true
}

// writeHeld writes what was held back, or has it written.
func (cn *conn) writeHeld(now bool) {
	cn.mu.Lock()
	defer cn.mu.Unlock()
	cn.woken = false
	if cn.idleLocked() {
		return
	}
	if now && cn.direct != nil {
		cn.tryFlushLocked()
	}
	if !cn.idleLocked() {
		cn.wakeLocked()
	}
}

// tryFlushLocked writes what there is, as far as the peer takes it.
func (cn *conn) tryFlushLocked() {
	cn.writing = true
	for len(cn.out) > 0 && !cn.dead {
		b := cn.takeLocked()
		cn.mu.Unlock()
		n, err := cn.direct.TryWrite(b)
		cn.mu.Lock()
		if err != nil {
			cn.writing = false
			cn.brokenLocked()
			return
		}
		if n < len(b) {
			later := cn.out
			cn.out = append(b[:copy(b, b[n:])], later...)
			cn.spare = later[:0]
			break
		}
		cn.gaveLocked(b)
	}
	cn.writing = false
}
