package redistest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/proctest"
)

// Server is one redis-server process.
//
//	         Pause            Stop, or it dies
//	running -------> paused  -----------------> stopped
//	   ^ <-----------   |       (from both)        |
//	   |     Resume     |                          |
//	   +----------------+--------- Restart --------+
type Server struct {
	t      testing.TB
	cfg    config
	binary string // path of redis-server
	dir    string // working directory, configuration and log

	// ports do not change once Start has returned.
	ports ports

	mu struct {
		sync.Mutex
		proc   *proctest.Process // nil before the first launch
		paused bool
	}
}

// errPortTaken is a launch that lost its port to a stranger.
var errPortTaken = errors.New("port taken")

// Start runs a server and returns once it answers. It is empty, persists
// nothing, and ends with the test.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	return start(t, newConfig(t, opts))
}

func start(t testing.TB, cfg config) *Server {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatalf("redis-server not found: run scripts/setup or apt-get install redis-server")
	}
	s := &Server{t: t, cfg: cfg, binary: binary, dir: t.TempDir()}
	t.Cleanup(s.cleanup)

	const attempts = 10
	for attempt := 1; ; attempt++ {
		err := s.launchOnNewPorts()
		if err == nil {
			break
		}
		if attempt == attempts || !errors.Is(err, errPortTaken) {
			t.Fatalf("redistest: start redis-server: %v", err)
		}
	}
	if cfg.replicaOf != "" {
		mustAwait(t, "the replica to be in sync", s.inSync)
	}
	return s
}

// cleanup kills the server, prints the end of its log if the test failed, and
// gives its ports back.
func (s *Server) cleanup() {
	if err := s.stop(); err != nil {
		s.t.Errorf("redistest: %v", err)
	}
	if s.t.Failed() {
		s.t.Logf("redistest: log of the server at %s ends:\n%s", s.Addr(), s.logTail())
	}
	s.ports.release()
}

func (s *Server) launchOnNewPorts() error {
	s.ports.release()
	p, err := holdPorts(s.cfg.cluster)
	if err != nil {
		return err
	}
	s.ports = p
	if err := os.WriteFile(s.confFile(), []byte(s.cfg.render(s.dir, p)), 0o600); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.launchLocked()
}

// launchLocked spawns the process on the configuration file as it is now
// (sentinels, and the servers they reconfigure, rewrite theirs) and waits until
// it answers.
func (s *Server) launchLocked() error {
	args := []string{s.confFile()}
	if s.cfg.sentinel {
		args = append(args, "--sentinel")
	}
	proc, err := proctest.Spawn(proctest.Command{Path: s.binary, Args: args, Log: s.logFile()})
	if err != nil {
		return err
	}
	s.mu.proc, s.mu.paused = proc, false
	err = await(startBound, func() error {
		if proc.Exited() {
			return nil
		}
		return s.answers(proc.Pid())
	})
	if err == nil && proc.Exited() {
		err = fmt.Errorf("it ended (%v), its log ends:\n%s", proc.Err(), s.logTail())
		if strings.Contains(s.logTail(), "Address already in use") {
			err = fmt.Errorf("%w: %w", errPortTaken, err)
		}
	}
	if err != nil {
		return errors.Join(err, proc.Kill())
	}
	return nil
}

// answers checks that the process pid, and not a stranger on the same port,
// answers commands.
func (s *Server) answers(pid int) error {
	c, err := dial(s.Addr(), s.cfg, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.do("PING"); err != nil {
		return err
	}
	info, err := c.do("INFO", "server")
	if err != nil {
		return err
	}
	if got := parseInfo(info)["process_id"]; got != strconv.Itoa(pid) {
		return fmt.Errorf("process %s answers at %s, want %d", got, s.Addr(), pid)
	}
	return nil
}

// stop kills the process and waits for its end.
func (s *Server) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.paused = false
	if s.mu.proc == nil {
		return nil
	}
	return s.mu.proc.Kill()
}

// running reports whether the server can be expected to answer.
func (s *Server) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.proc != nil && !s.mu.proc.Exited() && !s.mu.paused
}

func (s *Server) confFile() string { return filepath.Join(s.dir, "redis.conf") }
func (s *Server) logFile() string  { return filepath.Join(s.dir, "redis.log") }

// logTail is the last 4 KiB of the log.
func (s *Server) logTail() string {
	const limit = 4 << 10
	b, err := os.ReadFile(s.logFile())
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-limit):])
}
