package redisstore

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// Each code, as a real server brings it about.

func TestErrorRefused(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, Options{Addrs: []string{srv.Addr()}, Deadline: 300 * time.Millisecond})
	admit(t, s, one("k", still(10)))
	srv.Stop()
	// The first may find out by its answer staying away; what follows is
	// refused a connection.
	decide(s, one("k", still(10)))
	wantCode(t, decide(s, one("k", still(10))).Err, weir.CodeRefused)
	_, err := New(context.Background(), Options{Addrs: []string{srv.Addr()}})
	if e := codeError(t, err, weir.CodeRefused); e.Hint == "" {
		t.Error("no hint")
	}
}

func TestErrorTimeout(t *testing.T) {
	srv := redistest.Start(t)
	srv.Pause()
	_, err := New(context.Background(), Options{Addrs: []string{srv.Addr()}, ConnTimeout: 50 * time.Millisecond})
	wantCode(t, err, weir.CodeTimeout)
	srv.Resume()
}

func TestErrorNoAuth(t *testing.T) {
	srv := redistest.Start(t, redistest.WithPassword("right"))
	for name, creds := range map[string]Credentials{
		"wrong":   Password("", "mistaken"),
		"missing": nil,
		"no user": Password("nobody", "right"),
		"no file": PasswordFile("", t.TempDir()+"/none"),
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Addrs: []string{srv.Addr()}, Credentials: creds}
			_, err := New(context.Background(), o)
			e := codeError(t, err, weir.CodeNoAuth)
			if strings.Contains(e.Error(), "mistaken") {
				t.Errorf("the password is in %q", e.Error())
			}
			// It does not wait for its deadline: nothing gets better by itself.
			o.AllowDown = true
			s := open(t, o)
			wantCode(t, decide(s, one("k", still(10))).Err, weir.CodeNoAuth)
		})
	}
	s := open(t, Options{Addrs: []string{srv.Addr()}, Credentials: Password("", "right")})
	admit(t, s, one("k", still(10)))
}

func TestErrorOOM(t *testing.T) {
	srv := redistest.Start(t)
	var lost losses
	s := open(t, Options{Addrs: []string{srv.Addr()}, Hooks: lost.hooks()})
	m := still(10)
	admit(t, s, one("k", m))
	srv.ConfigSet("maxmemory-policy", "noeviction")
	srv.ConfigSet("maxmemory", "1")
	e := codeError(t, decide(s, one("k", m)).Err, weir.CodeOOM)
	if e.Hint == "" {
		t.Error("no hint")
	}
	srv.ConfigSet("maxmemory", "0")
	if got := admit(t, s, one("k", m)).Outcomes[0].Before.Used; got != 1 {
		t.Errorf("%d units in use after one admission: what was refused was charged", got)
	}
	if got := lost.of(weir.LossUncertain); got != 0 {
		t.Errorf("%d entries are uncertain: redis refused them before they ran", got)
	}
}

func TestErrorLoading(t *testing.T) {
	// A server that says it is loading, and then is done.
	var mu sync.Mutex
	loading := true
	srv := redistest.Start(t)
	addr := fakeServer(t, func(c net.Conn) {
		mu.Lock()
		busy := loading
		mu.Unlock()
		if !busy {
			relay(c, srv.Addr())
			return
		}
		_, _ = c.Read(make([]byte, 512))
		_, _ = c.Write([]byte("-LOADING Redis is loading the dataset in memory\r\n"))
	})
	_, err := New(context.Background(), Options{Addrs: []string{addr}})
	wantCode(t, err, weir.CodeLoading)
	s := open(t, Options{Addrs: []string{addr}, AllowDown: true})
	b := weir.Batch{Entries: []weir.Entry{one("k", still(10))}, Deadline: time.Now().Add(300 * time.Millisecond)}
	s.Decide(context.Background(), &b)
	wantCode(t, b.Entries[0].Err, weir.CodeLoading)
	mu.Lock()
	loading = false
	mu.Unlock()
	admit(t, s, one("k", still(10))) // it waits, as long as its deadline allows
}

func TestErrorProtocol(t *testing.T) {
	for name, say := range map[string]string{
		"http":       "HTTP/1.1 400 Bad Request\r\n\r\n",
		"nothing":    "\r\n",
		"bad length": "$many\r\n",
		"huge":       "*99999999999\r\n",
		"endless":    string(bytes.Repeat([]byte("x"), 1<<16)),
	} {
		t.Run(name, func(t *testing.T) {
			addr := fakeServer(t, func(c net.Conn) {
				_, _ = c.Read(make([]byte, 512))
				_, _ = c.Write([]byte(say))
				_, _ = c.Read(make([]byte, 512)) // until the client hangs up
			})
			_, err := New(context.Background(), Options{Addrs: []string{addr}, ConnTimeout: generous})
			wantCode(t, err, weir.CodeProtocol)
		})
	}
}

// An answer that cannot be read may belong to a call that ran: it is not sent
// again, and counted.
func TestErrorProtocolAfterTheScriptRan(t *testing.T) {
	srv := redistest.Start(t)
	var lost losses
	addr := fakeServer(t, func(c net.Conn) { relay(&garble{Conn: c}, srv.Addr()) })
	s := open(t, Options{Addrs: []string{addr}, Hooks: lost.hooks(), AllowDown: true})
	m := still(10)
	e := decide(s, one("k", m))
	wantCode(t, e.Err, weir.CodeProtocol)
	if got := state(t, srv, "k", m).Used; got != 1 {
		t.Errorf("%d units in use, want 1: it ran, once", got)
	}
	if got := lost.of(weir.LossUncertain); got != 1 {
		t.Errorf("%d entries are counted as uncertain, want 1", got)
	}
}

// garble makes the script's answer unreadable: an array of four becomes one of
// a type that does not exist.
type garble struct{ net.Conn }

func (g *garble) Write(b []byte) (int, error) {
	n := len(b)
	b = bytes.Replace(b, []byte("*4\r\n"), []byte("?4\r\n"), 1)
	if _, err := g.Conn.Write(b); err != nil {
		return 0, err
	}
	return n, nil
}

// fakeServer listens on a port of its own and hands every connection to serve,
// after which it is closed.
func fakeServer(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	conns := make(map[net.Conn]bool)
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns[c] = true
			mu.Unlock()
			work.Go(func() {
				serve(c)
				_ = c.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		work.Wait()
	})
	return l.Addr().String()
}

// relay connects c to the server at addr until either hangs up.
func relay(c net.Conn, addr string) {
	up, err := net.Dial("tcp", addr)
	if err != nil {
		_, _ = fmt.Fprintf(c, "-ERR %v\r\n", err)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pump(up, c) })
	both.Go(func() { pump(c, up) })
	both.Wait()
}

func pump(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
