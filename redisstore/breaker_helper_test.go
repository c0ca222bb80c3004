package redisstore

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// changes are the states that breakers took, as Hooks.Breaker tells them.
type changes struct {
	mu   sync.Mutex
	list []change
}

type change struct {
	shard string
	state weir.BreakerState
	at    time.Time
}

func (c *changes) hooks() weir.Hooks {
	return weir.Hooks{Breaker: func(shard string, state weir.BreakerState) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.list = append(c.list, change{shard, state, time.Now()})
	}}
}

// mark is where the list ends now.
func (c *changes) mark() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.list)
}

// since returns what came after a mark.
func (c *changes) since(mark int) []change {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]change(nil), c.list[mark:]...)
}

// count is how often a state was taken after a mark.
func (c *changes) count(mark int, state weir.BreakerState) (n int) {
	for _, ch := range c.since(mark) {
		if ch.state == state {
			n++
		}
	}
	return n
}

// await waits for the first change to a state after a mark.
func (c *changes) await(t *testing.T, mark int, state weir.BreakerState) (first change) {
	t.Helper()
	eventually(t, "a breaker that is "+state.String(), func() error {
		for _, ch := range c.since(mark) {
			if ch.state == state {
				first = ch
				return nil
			}
		}
		return fmt.Errorf("it did %v", c.since(mark))
	})
	return first
}

// drip is callers that each ask every millisecond or two, and count the answers.
// Unlike load they do not run hot while they are refused at once.
type drip struct {
	stop    chan struct{}
	wg      sync.WaitGroup
	decided atomic.Int64
	errors  [weir.CodeBreaker + 1]atomic.Int64
	causes  [weir.CodeBreaker + 1]atomic.Int64 // of those with CodeBreaker
}

// startDrip asks what next returns. allowed is the deadline of each; 0 is the
// store's.
func startDrip(t *testing.T, s *Store, callers int, allowed time.Duration, next func(caller int) weir.Entry) *drip {
	d := &drip{stop: make(chan struct{})}
	for c := range callers {
		d.wg.Go(func() {
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-d.stop:
					return
				case <-tick.C:
				}
				var by time.Time
				if allowed > 0 {
					by = time.Now().Add(allowed)
				}
				d.note(askBy(s, 2, next(c), by))
			}
		})
	}
	t.Cleanup(d.end)
	return d
}

func (d *drip) note(e weir.Entry) {
	if e.Err == nil {
		d.decided.Add(1)
		return
	}
	d.errors[weir.CodeOf(e.Err)].Add(1)
	if we, ok := e.Err.(*weir.Error); ok && we.Code == weir.CodeBreaker && we.Err != nil {
		d.causes[weir.CodeOf(we.Err)].Add(1)
	}
}

func (d *drip) end() {
	select {
	case <-d.stop:
	default:
		close(d.stop)
	}
	d.wg.Wait()
}

func (d *drip) of(code weir.Code) int64 { return d.errors[code].Load() }

// progress waits until so many more were decided.
func (d *drip) progress(t *testing.T, n int64) {
	t.Helper()
	from := d.decided.Load()
	eventually(t, "decisions", func() error {
		if got := d.decided.Load() - from; got < n {
			return fmt.Errorf("%d of %d; %v", got, n, d)
		}
		return nil
	})
}

func (d *drip) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d decided", d.decided.Load())
	for code := range d.errors {
		if n := d.errors[code].Load(); n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, weir.Code(code))
		}
	}
	return b.String()
}

// slowProxy stands before a server and can hold its answers back.
type slowProxy struct {
	addr string
	hold atomic.Int64 // nanoseconds
}

func startSlowProxy(t *testing.T, srv *redistest.Server) *slowProxy {
	p := &slowProxy{}
	p.addr = fakeServer(t, func(c net.Conn) {
		up, err := net.Dial("tcp", srv.Addr())
		if err != nil {
			return
		}
		var both sync.WaitGroup
		both.Go(func() { pump(up, c) })
		both.Go(func() { pump(&slowConn{c, p}, up) })
		both.Wait()
	})
	return p
}

type slowConn struct {
	net.Conn
	proxy *slowProxy
}

func (c *slowConn) Write(b []byte) (int, error) {
	time.Sleep(time.Duration(c.proxy.hold.Load()))
	return c.Conn.Write(b)
}

// connections is how many a server has accepted, without those that ask it.
func connections(t *testing.T, srv *redistest.Server) int64 {
	t.Helper()
	text, _ := srv.MustDo("INFO", "stats").(string)
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "total_connections_received:"); ok {
			var n int64
			if _, err := fmt.Sscan(v, &n); err == nil {
				return n
			}
		}
	}
	t.Fatalf("no count of connections in %q", text)
	return 0
}

func atLeast(got, want int64) error {
	if got < want {
		return fmt.Errorf("%d, want %d", got, want)
	}
	return nil
}

// decideFor asks, and goes away after d.
func decideFor(s *Store, e weir.Entry, d time.Duration) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	time.AfterFunc(d, cancel)
	b := weir.Batch{Entries: []weir.Entry{e}}
	s.Decide(ctx, &b)
	return b.Entries[0].Err
}

// breakNow opens a shard's breaker as twenty failures do.
func breakNow(s *Store, sh *shard) { sh.learn(s.now(), &tally{failed: 20, weight: 20}, slowError) }
