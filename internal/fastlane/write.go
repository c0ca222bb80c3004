package fastlane

import (
	"net"
	"runtime"
)

// flushLocked writes what there is, unless another goroutine does so already:
// that one writes until there is nothing left. It unlocks while it writes.
func (cn *conn) flushLocked() error {
	if cn.writing {
		return nil
	}
	cn.writing = true
	for len(cn.out) > 0 && !cn.dead {
		b := cn.takeLocked()
		cn.mu.Unlock()
		err := cn.writeAll(b)
		cn.mu.Lock()
		if err != nil {
			cn.writing = false
			cn.brokenLocked()
			return err
		}
		cn.gaveLocked(b)
	}
	if cn.closing && !cn.halfClosed && !cn.dead {
		cn.halfClosed = true
		cn.mu.Unlock()
		closeWrite(cn.nc)
		cn.mu.Lock()
	}
	cn.writing = false
	return nil
}

// writeAll waits for the peer to take b.
func (cn *conn) writeAll(b []byte) error {
	if cn.direct != nil {
		n, err := cn.direct.TryWrite(b)
		if b = b[n:]; err != nil || len(b) == 0 {
			return err
		}
	}
	_, err := cn.nc.Write(b)
	return err
}

// takeLocked takes what is to be written.
func (cn *conn) takeLocked() []byte {
	b := cn.out
	cn.out, cn.spare = cn.spare[:0], nil
	cn.writeSince = cn.server.tick.Load()
	return b
}

// gaveLocked takes back the buffer of what was written.
func (cn *conn) gaveLocked(b []byte) {
	if cap(b) <= keepBuffer {
		cn.spare = b[:0]
	}
	cn.changed.Broadcast()
}

// brokenLocked ends a connection that cannot be written to.
func (cn *conn) brokenLocked() {
	cn.dieLocked()
	_ = cn.raw.Close() // and the reader ends
}

// closeWrite says that nothing follows, where a connection can.
func closeWrite(nc net.Conn) {
	if half, ok := nc.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// keepBuffer is how large a buffer is kept for the next write.
const keepBuffer = 128 << 10

// unlockAndWake unlocks, after something was appended by a goroutine that may
// not wait for the peer: somebody is to write it, unless one does anyway.
func (cn *conn) unlockAndWake() {
	if !cn.woken && !cn.idleLocked() {
		cn.woken = true
		if cn.direct == nil || !cn.server.o.Cork.hold(cn) {
			cn.wakeLocked()
		}
	}
	cn.mu.Unlock()
}

// idleLocked tells whether there is nothing to write, or somebody who does: the
// reader does when it is through.
func (cn *conn) idleLocked() bool {
	return len(cn.out) == 0 && (!cn.closing || cn.halfClosed) || cn.corked || cn.writing || cn.dead
}

// wakeLocked wakes the writer.
func (cn *conn) wakeLocked() {
	cn.woken = true
	if !cn.writer {
		cn.writer = true
		go cn.write()
	}
	cn.wake <- struct{}{} // has room: nobody else is between here and woken
}

// write writes what was answered later, a batch at a time.
func (cn *conn) write() {
	for range cn.wake {
		// Whoever answers has often more to say: let it.
		runtime.Gosched()
		cn.mu.Lock()
		cn.woken = false
		_ = cn.flushLocked()
		cn.mu.Unlock()
	}
}

// waitQueueLocked has the reader wait while the peer does not read: what it
// sends next would only make the queue longer.
func (cn *conn) waitQueueLocked() {
	for len(cn.out) > cn.server.o.MaxQueued && !cn.dead {
		cn.changed.Wait()
	}
}
