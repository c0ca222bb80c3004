package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/weirlimit/weir"
)

// Process is one whose processor time is told.
type Process struct {
	Name string
	PID  int
	// Clock, when not nil, reads the processor time of a process in finer steps
	// than /proc does.
	Clock func(pid int) (time.Duration, error)
}

// tick is the unit of /proc/PID/stat: USER_HZ is 100 on every Linux.
const tick = 10 * time.Millisecond

// used is the processor time of a process so far, user and system, of all its
// threads, also those that have ended. Without a Clock it needs /proc.
func (p Process) used() (time.Duration, error) {
	if p.Clock != nil {
		return p.Clock(p.PID)
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/stat")
	if err != nil {
		return 0, &weir.Error{Message: "processor time of " + p.Name, Err: err, Hint: fmt.Sprintf("is there a process %d?", p.PID)}
	}
	d, err := parseStat(text)
	if err != nil {
		return 0, fmt.Errorf("processor time of %s: %w", p.Name, err)
	}
	return d, nil
}

// parseStat reads fields 14 and 15. The second is the command in parentheses,
// which may hold blanks and parentheses itself.
func parseStat(text []byte) (time.Duration, error) {
	end := bytes.LastIndexByte(text, ')')
	fields := bytes.Fields(text[end+1:])
	if end < 0 || len(fields) < 13 {
		return 0, fmt.Errorf("cannot read %q", text)
	}
	user, err := strconv.ParseUint(string(fields[11]), 10, 40)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseUint(string(fields[12]), 10, 40)
	if err != nil {
		return 0, err
	}
	return time.Duration(user+system) * tick, nil
}
