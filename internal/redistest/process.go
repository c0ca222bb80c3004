package redistest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// process is one running child.
//
//	spawn --> running --(exits or kill)--> done closed, err set
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once the child is reaped
	err  error         // how it ended; read after done
}

// spawn starts path with its output going to the file log. The child is killed
// by the kernel when this process dies.
//
// That signal is bound to the thread that forked, not to the process, so the
// fork happens on a thread that its goroutine keeps until the child is reaped:
// were the Go runtime to retire the thread, the child would die with it.
func spawn(path string, args []string, log string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = out.Close() }() // the child has its own descriptor

	p := &process{cmd: exec.Command(path, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = childAttr()

	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// exited reports whether the child has ended and been reaped.
func (p *process) exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill ends the child and what it forked (a replication snapshot), and returns
// once it is reaped. A stopped child dies as well.
func (p *process) kill() error {
	if p.exited() {
		return nil
	}
	if err := killTree(p.cmd.Process); err != nil && !p.exited() {
		return fmt.Errorf("kill %d: %w", p.pid(), err)
	}
	<-p.done
	return nil
}
