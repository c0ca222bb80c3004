package gatewaytest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/proctest"
)

// Bounds on waiting, for a machine that has other work.
const (
	startBound = 30 * time.Second
	stopBound  = 10 * time.Second
	pollEvery  = 5 * time.Millisecond
)

// server is a program that listens, can be stopped and started again, and ends
// with the test.
type server struct {
	t       testing.TB
	command proctest.Command
	addr    string // where it listens
	proc    *proctest.Process
}

// program returns the path of a program, or ends the test.
func program(t testing.TB, name, pkg string) string {
	t.Helper()
	// Servers live in sbin, which an ordinary user's PATH may lack.
	for _, file := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(file); err == nil {
			return path
		}
	}
	t.Fatalf("%s not found: run scripts/setup or apt-get install %s", name, pkg)
	return ""
}

// start runs the program and returns once it takes connections.
func (s *server) start() {
	s.t.Helper()
	first := s.proc == nil
	proc, err := proctest.Spawn(s.command)
	if err != nil {
		s.t.Fatalf("gatewaytest: %v", err)
	}
	s.proc = proc
	if first {
		s.t.Cleanup(s.cleanup)
	}
	Await(s.t, filepath.Base(s.command.Path)+" to listen", func() error {
		if proc.Exited() {
			s.t.Fatalf("gatewaytest: %s ended: %v", s.command.Path, proc.Err())
		}
		conn, err := net.Dial("tcp", s.addr)
		if err == nil {
			_ = conn.Close()
		}
		return err
	})
}

// stop ends the program and its workers.
func (s *server) stop() {
	s.t.Helper()
	if err := s.proc.Stop(stopBound); err != nil {
		s.t.Errorf("gatewaytest: %v", err)
	}
}

func (s *server) cleanup() {
	_ = s.proc.Resume() // a paused one would not hear
	s.stop()
	if s.t.Failed() {
		s.t.Logf("log of %s at %s:\n%s", s.command.Path, s.addr, tail(s.command.Log))
	}
}

// Log is what it has written so far to its standard output and error.
func (s *server) Log() string {
	s.t.Helper()
	text, err := os.ReadFile(s.command.Log)
	if err != nil {
		s.t.Fatalf("gatewaytest: %v", err)
	}
	return string(text)
}

// tail is the last 6 KiB of a file.
func tail(path string) string {
	const limit = 6 << 10
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-limit):])
}

// FreeAddr returns an address of loopback that nobody else is given before the
// test ends.
func FreeAddr(t testing.TB) string {
	t.Helper()
	port, free, err := proctest.HoldPort()
	if err != nil {
		t.Fatalf("gatewaytest: hold a port: %v", err)
	}
	t.Cleanup(free)
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// Await tries until f has no error, and ends the test after half a minute.
func Await(t testing.TB, what string, f func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(startBound); time.Now().Before(end); time.Sleep(pollEvery) {
		if err = f(); err == nil {
			return
		}
	}
	t.Fatalf("waited %v for %s: %v", startBound, what, err)
}
