package proctest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// childAttr gives a child its own process group and has the kernel send it a
// signal when the thread that forked it ends.
func childAttr(death syscall.Signal) *syscall.SysProcAttr {
	if death == 0 {
		death = syscall.SIGKILL
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
}

// killTree kills the child's process group.
func killTree(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

// pause stops the child and returns once it has stopped: the signal alone
// leaves it running for a moment.
func pause(p *os.Process) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	const bound = 5 * time.Second
	for deadline := time.Now().Add(bound); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/stat")
		if err != nil {
			return err
		}
		// The state follows the command, which is in parentheses and may hold any byte.
		if i := bytes.LastIndexByte(stat, ')'); i > 0 && i+2 < len(stat) && stat[i+2] == 'T' {
			return nil
		}
	}
	return fmt.Errorf("not stopped after %v", bound)
}

func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }

// HoldPort binds a free port of 127.0.0.1 and keeps it until free is called. The bind is exclusive,
// so nobody else has the port; SO_REUSEADDR is set only afterwards, which lets
// in a server that sets it too (most do), as this socket never listens. The
// kernel hands a bound port neither to bind(0) nor to an outgoing connection.
func HoldPort() (port int, free func(), err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, os.NewSyscallError("socket", err)
	}
	defer func() {
		if err != nil {
			_ = syscall.Close(fd)
		}
	}()
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, nil, os.NewSyscallError("bind", err)
	}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, nil, os.NewSyscallError("setsockopt", err)
	}
	addr, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, nil, os.NewSyscallError("getsockname", err)
	}
	inet, ok := addr.(*syscall.SockaddrInet4)
	if !ok {
		return 0, nil, errors.New("getsockname: not an IPv4 address")
	}
	return inet.Port, func() { _ = syscall.Close(fd) }, nil
}

// Group lists the live processes of a process group, as pid and command. Those
// that are dead and not yet reaped do not count.
func Group(pgid int) []string {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil { // the pattern is well-formed
		return nil
	}
	var found []string
	for _, stat := range stats {
		b, err := os.ReadFile(stat)
		if err != nil {
			continue // ended meanwhile
		}
		// pid (command) state ppid pgrp: the command may hold any byte.
		i := bytes.LastIndexByte(b, ')')
		f := strings.Fields(string(b[i+1:]))
		if i > 0 && len(f) > 2 && f[0] != "Z" && f[0] != "X" && f[2] == strconv.Itoa(pgid) {
			found = append(found, string(b[:i+1]))
		}
	}
	return found
}
