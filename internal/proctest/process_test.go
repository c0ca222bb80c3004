package proctest_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/proctest"
)

// shell runs a script, and returns its output so far.
func shell(t *testing.T, script string) (p *proctest.Process, output func() string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	p, err := proctest.Spawn(proctest.Command{Path: "/bin/sh", Args: []string{"-c", script}, Log: log, Death: syscall.SIGTERM})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p, func() string {
		b, _ := os.ReadFile(log) // it is there once it was opened
		return string(b)
	}
}

// awaitLine returns once the output has a line.
func awaitLine(t *testing.T, output func() string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !strings.Contains(output(), "\n"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no line after 10 s: %q", output())
		}
	}
}

func TestOutputAndEnd(t *testing.T) {
	t.Parallel()
	p, output := shell(t, "echo one; echo two >&2; exit 3")
	<-p.Done()
	if !p.Exited() || p.Err() == nil || output() != "one\ntwo\n" {
		t.Errorf("%v, %v, %q", p.Exited(), p.Err(), output())
	}
	if err := errors.Join(p.Kill(), p.Stop(time.Second)); err != nil {
		t.Errorf("ending what has ended: %v", err)
	}
}

func TestStopAsks(t *testing.T) {
	t.Parallel()
	p, output := shell(t, "trap 'echo asked; exit 0' TERM; echo up; while :; do sleep 0.01; done")
	awaitLine(t, output)
	if err := p.Stop(10 * time.Second); err != nil || p.Err() != nil || !strings.Contains(output(), "asked") {
		t.Errorf("%v, %v, %q", err, p.Err(), output())
	}
}

// TestStopKillsTheDeaf: one that does not listen, and what it forked.
func TestStopKillsTheDeaf(t *testing.T) {
	t.Parallel()
	p, output := shell(t, "trap '' TERM; sleep 600 & echo $!; wait")
	awaitLine(t, output)
	if err := p.Stop(10 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	stat := "/proc/" + strings.TrimSpace(output()) + "/stat"
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		b, err := os.ReadFile(stat)
		if err != nil || strings.Contains(string(b), ") Z ") { // gone, or waiting to be reaped
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the child's child lives: %s", b)
		}
	}
}

func TestHeldPort(t *testing.T) {
	t.Parallel()
	port, free, err := proctest.HoldPort()
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	for range 2 { // as a server that is started twice
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatalf("the holder keeps the server out: %v", err)
		}
		_ = l.Close()
	}
}
