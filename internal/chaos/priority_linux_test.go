//go:build !race

package chaos

import (
	"os"
	"strconv"
	"syscall"
)

// precedence asks for a place before the machine's other work, where that is
// permitted: what is measured is Weir, not who else is on the machine. Threads
// and processes that are started later inherit it.
func precedence() {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, task := range tasks {
		if id, err := strconv.Atoi(task.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, -10) // for root only
		}
	}
}
