package bench

import (
	"runtime"
	"syscall"
	"time"
)

// pacer waits for instants. Timers of the Go runtime end on whole milliseconds
// when there is nothing else to do, which would be added to every latency: short
// waits are the system's, on a thread of their own.
type pacer struct{}

const prSetTimerSlack = 29

// newPacer asks for waits that end within a microsecond rather than 50. It
// belongs to the goroutine that called it.
func newPacer() pacer {
	runtime.LockOSThread()
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, 1000, 0) // what cannot be had is done without
	return pacer{}
}

func (pacer) pause(d time.Duration) {
	left := syscall.NsecToTimespec(int64(max(d, 0)))
	_ = syscall.Nanosleep(&left, nil) // a signal ends it early, and the caller looks again
}

// end gives the thread back as it was.
func (pacer) end() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, 0, 0)
	runtime.UnlockOSThread()
}
