package measure

import (
	"runtime"
	"syscall"
	"time"
)

// usage is what this process has used so far.
type usage struct {
	at      time.Time
	cpu     time.Duration // user and system, of all threads: the collector's too
	mallocs uint64
}

// used reads the counters. Reading the allocator's stops the world, so it is
// done outside the clock: before the others at a start, after them at an end.
func used(end bool) usage {
	var u usage
	var m runtime.MemStats
	if !end {
		runtime.ReadMemStats(&m)
	}
	u.cpu, u.at = processCPU(), time.Now()
	if end {
		runtime.ReadMemStats(&m)
	}
	u.mallocs = m.Mallocs
	return u
}

// processCPU is the processor time of this process. Getrusage of oneself does
// not fail.
func processCPU() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// liveHeap is the bytes of heap that are reachable, and the processor time of
// the collection that found out. One goes before, because it also sweeps what
// the collection before it found.
func liveHeap() (bytes int64, gc time.Duration) {
	runtime.GC()
	start := processCPU()
	runtime.GC()
	gc = processCPU() - start
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), gc
}
