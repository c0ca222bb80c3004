package contest

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// cpuOf is the processor time, user and system, that a process has used: of all
// its threads, also those that ended. /proc has it in ticks of 10 ms, this clock
// in nanoseconds.
func cpuOf(pid int) (time.Duration, error) {
	const sched = 2 // CPUCLOCK_SCHED of the kernel: the scheduler's count
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &ts); err != nil {
		return 0, fmt.Errorf("read the processor time of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}
