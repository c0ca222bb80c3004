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
		b := cn.out
		cn.out = cn.spare[:0]
		cn.writeSince = cn.server.tick.Load()
		cn.mu.Unlock()
		_, err := cn.nc.Write(b)
		cn.mu.Lock()
		cn.spare = nil
		if cap(b) <= keepBuffer {
			cn.spare = b[:0]
		}
		if err != nil {
			cn.writing = false
			cn.dieLocked()
			_ = cn.raw.Close() // and the reader ends
			return err
		}
		cn.changed.Broadcast()
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

// closeWrite says that nothing follows, where a connection can.
func closeWrite(nc net.Conn) {
	if half, ok := nc.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// keepBuffer is how large a buffer is kept for the next write.
const keepBuffer = 128 << 10

// unlockAndWake unlocks, after something was appended by a goroutine that may
// not wait for the peer: the writer is woken unless somebody writes anyway.
func (cn *conn) unlockAndWake() {
	wake := (len(cn.out) > 0 || cn.closing && !cn.halfClosed) && !cn.corked && !cn.writing && !cn.woken && !cn.dead
	if wake {
		cn.woken = true
		if !cn.writer {
			cn.writer = true
			go cn.write()
		}
		cn.wake <- struct{}{} // has room: nobody else is between here and woken
	}
	cn.mu.Unlock()
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
