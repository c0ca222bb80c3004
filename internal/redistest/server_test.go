package redistest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestServerIsEmptyAndAnswers(t *testing.T) {
	t.Parallel()
	s := Start(t)
	if got := s.MustDo("PING"); got != "PONG" {
		t.Errorf("PING = %v", got)
	}
	if got := s.MustDo("DBSIZE"); got != int64(0) {
		t.Errorf("DBSIZE = %v, want 0", got)
	}
	if got := s.MustDo("CONFIG", "GET", "save").([]any); got[1] != "" {
		t.Errorf("save = %v, want none", got)
	}
	if want := fmt.Sprintf("127.0.0.1:%d", s.Port()); s.Addr() != want {
		t.Errorf("Addr = %s, want %s", s.Addr(), want)
	}
	if s.Certs() != nil {
		t.Error("a server without TLS has certificates")
	}
}

func TestServerStopAndRestart(t *testing.T) {
	t.Parallel()
	s := Start(t)
	addr, pid := s.Addr(), s.Pid()
	s.MustDo("SET", "k", "v")
	s.Stop()
	s.Stop() // twice is allowed
	if alive(pid) {
		t.Errorf("process %d lives after Stop", pid)
	}
	if _, err := s.Do("PING"); err == nil {
		t.Error("a stopped server answers")
	}
	s.Restart()
	if s.Addr() != addr || s.Pid() == pid {
		t.Errorf("restarted at %s as %d, was %s as %d", s.Addr(), s.Pid(), addr, pid)
	}
	if got := s.MustDo("GET", "k"); got != nil {
		t.Errorf("GET after a restart = %v, want nil", got)
	}
	s.Restart() // of a running server
	s.MustDo("PING")
}

func TestServerPauseHoldsAnswersBack(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.Pause()
	c, err := net.Dial("tcp", s.Addr()) // the kernel accepts
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprint(c, "PING\r\n"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 16)
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := c.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("paused server answered %q, %v", buf[:n], err)
	}
	s.Resume()
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := c.Read(buf); err != nil || string(buf[:n]) != "+PONG\r\n" {
		t.Fatalf("resumed server answered %q, %v", buf[:n], err)
	}
	s.Pause()
	s.Restart() // a paused server too
	s.MustDo("PING")
}

func TestServerStatistics(t *testing.T) {
	t.Parallel()
	s := Start(t, WithConfig("maxmemory", "64mb"), WithConfig("client-output-buffer-limit", "pubsub", "1mb", "1mb", "60"))
	if got := s.MustDo("CONFIG", "GET", "maxmemory").([]any)[1]; got != "67108864" {
		t.Errorf("maxmemory = %v", got)
	}
	s.ConfigSet("maxmemory", "1gb")
	if got := s.MustDo("CONFIG", "GET", "maxmemory").([]any)[1]; got != "1073741824" {
		t.Errorf("maxmemory after ConfigSet = %v", got)
	}
	s.MustDo("CONFIG", "RESETSTAT")
	for range 3 {
		s.MustDo("INCR", "k")
	}
	before := s.CPU()
	s.MustDo("EVAL", "local x = 0 for i = 1, 3e6 do x = x + i end return redis.call('INCR', KEYS[1])", "1", "k")
	stats := s.CommandStats()
	if stats["incr"] != 4 || stats["eval"] != 1 || stats["get"] != 0 {
		t.Errorf("CommandStats = %v, want 4 incr, 1 eval", stats)
	}
	if used := s.CPU() - before; used < time.Millisecond || used > 10*time.Second {
		t.Errorf("CPU of a busy script = %v", used)
	}
	var reply ReplyError
	if _, err := s.Do("LPUSH", "k", "v"); !errors.As(err, &reply) || !strings.HasPrefix(err.Error(), "WRONGTYPE") {
		t.Errorf("LPUSH of a string: %v, want WRONGTYPE", err)
	}
}

func TestServerReplica(t *testing.T) {
	t.Parallel()
	primary := Start(t, WithPassword("pass word\""))
	primary.MustDo("SET", "k", "v")
	replica := Start(t, WithPassword("pass word\""), WithReplicaOf(primary.Addr()))
	if got := replica.MustDo("GET", "k"); got != "v" {
		t.Errorf("GET at the replica = %v", got)
	}
	if _, err := replica.Do("SET", "k", "w"); err == nil || !strings.HasPrefix(err.Error(), "READONLY") {
		t.Errorf("SET at the replica: %v, want READONLY", err)
	}
}

// The kernel's death signal is bound to the thread that forked. Servers must
// live on when the threads that the runtime has to spare end.
func TestServersOutliveThreads(t *testing.T) {
	t.Parallel()
	var servers []*Server
	for range 5 {
		servers = append(servers, Start(t))
	}
	var wg sync.WaitGroup
	together := make(chan struct{})
	for range 50 {
		wg.Go(func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
			<-together
		})
	}
	close(together)
	wg.Wait()
	for range 10 {
		time.Sleep(5 * time.Millisecond) // the threads end after their goroutines
		for _, s := range servers {
			if _, err := s.Do("PING"); err != nil || !s.running() {
				t.Fatalf("server %d died with a thread: %v", s.Pid(), err)
			}
		}
	}
}

func TestStartNoticesATakenPort(t *testing.T) {
	t.Parallel()
	first := Start(t)
	second := &Server{t: t, binary: first.binary, dir: t.TempDir(), ports: ports{client: first.Port()}}
	if err := os.WriteFile(second.confFile(), []byte(second.cfg.render(second.dir, second.ports)), 0o600); err != nil {
		t.Fatal(err)
	}
	second.mu.Lock()
	defer second.mu.Unlock()
	if err := second.launchLocked(); !errors.Is(err, errPortTaken) {
		t.Errorf("launch on a taken port: %v, want errPortTaken", err)
	}
}

func TestHeldPortIsNotHandedOut(t *testing.T) {
	t.Parallel()
	p, err := holdPorts(true)
	if err != nil {
		t.Fatal(err)
	}
	defer p.release()
	if p.client == p.bus || p.bus == 0 {
		t.Fatalf("ports %d and %d", p.client, p.bus)
	}
	for range 2000 {
		q, err := holdPorts(false)
		if err != nil {
			t.Fatal(err)
		}
		if q.client == p.client || q.client == p.bus {
			t.Fatalf("port %d was handed out twice", q.client)
		}
		q.release()
	}
}

func TestMissingRedisServerFails(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	fake := &fatalTB{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Start(fake)
	}()
	<-done
	if want := "redis-server not found: run scripts/setup or apt-get install redis-server"; fake.fatal != want {
		t.Errorf("Start said %q, want %q", fake.fatal, want)
	}
}

// fatalTB keeps what Fatalf said in place of failing the test.
type fatalTB struct {
	testing.TB
	fatal string
}

func (f *fatalTB) Fatalf(format string, args ...any) {
	f.fatal = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
