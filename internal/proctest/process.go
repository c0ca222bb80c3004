package proctest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Command is a program to run.
type Command struct {
	Path string
	Args []string
	Dir  string   // "" is the test's own
	Env  []string // nil is the test's own
	Log  string   // file that gets its output, after what is there
	// Death is sent by the kernel when this process dies; 0 is SIGKILL. Who has
	// workers needs one that it can pass on to them, SIGTERM.
	Death syscall.Signal
}

// Process is one running child.
//
//	Spawn --> running --(exits, Stop or Kill)--> reaped
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once the child is reaped
	err  error         // how it ended; read after done
}

// Spawn starts a command. The child is ended by the kernel when this process
// dies.
//
// That signal is bound to the thread that forked, not to the process, so the
// fork happens on a thread that its goroutine keeps until the child is reaped:
// were the Go runtime to retire the thread, the child would die with it.
func Spawn(c Command) (*Process, error) {
	out, err := os.OpenFile(c.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = out.Close() }() // the child has its own descriptor

	p := &Process{cmd: exec.Command(c.Path, c.Args...), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = c.Dir, c.Env
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = childAttr(c.Death)

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
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	return p, nil
}

// Pid is the child's, also once it has ended.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed once the child has ended and been reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exited reports whether the child has ended and been reaped.
func (p *Process) Exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Err says how the child ended, nil for well. It is for after Done.
func (p *Process) Err() error { return p.err }

// Signal sends the child a signal, not what it forked.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Pause stops the child and returns once it has stopped.
func (p *Process) Pause() error { return pause(p.cmd.Process) }

// Resume undoes Pause.
func (p *Process) Resume() error { return resume(p.cmd.Process) }

// Kill ends the child and what it forked (a snapshot, workers), and returns
// once it is reaped. A stopped child dies as well.
func (p *Process) Kill() error {
	if p.Exited() {
		return nil
	}
	if err := killTree(p.cmd.Process); err != nil && !p.Exited() {
		return fmt.Errorf("kill %d: %w", p.Pid(), err)
	}
	<-p.done
	return nil
}

// Stop asks the child to end, with SIGTERM, and kills it and what it forked
// when it has not within bound.
func (p *Process) Stop(bound time.Duration) error {
	if p.Exited() {
		return nil
	}
	if err := p.Signal(syscall.SIGTERM); err != nil && !p.Exited() {
		return fmt.Errorf("stop %d: %w", p.Pid(), err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(bound):
		return p.Kill()
	}
}

// Group lists the live processes of the child's group, the child among them, as
// pid and command. It is for after the child's end too.
func (p *Process) Group() []string { return Group(p.Pid()) }

// KillGroup kills what is left of the group, also after the child's end.
func (p *Process) KillGroup() {
	if p.Exited() && len(p.Group()) == 0 {
		return // the number may be another's by now
	}
	_ = killTree(p.cmd.Process) // gone meanwhile
	<-p.done
}
