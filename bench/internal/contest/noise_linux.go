package contest

import (
	"runtime"
	"syscall"
	"time"
)

// doze sleeps by the system's own timer, on a thread of its own until free is
// called: the runtime's timers end on whole milliseconds when it has nothing to
// do.
func doze() (sleep func(time.Duration), free func()) {
	runtime.LockOSThread()
	return func(d time.Duration) {
		ts := syscall.NsecToTimespec(int64(d))
		_ = syscall.Nanosleep(&ts, nil) // woken early, it is not late
	}, runtime.UnlockOSThread
}
