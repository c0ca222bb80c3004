//go:build !race

package chaos

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/redistest"
)

const (
	evictPolicy = "allkeys-random" // the one that spares nobody
	// evictRoom is what is left of maxmemory when the fault begins, in bytes:
	// more than buffers take that come and go, so that there is always a key to
	// evict, and room for some thousand keys only.
	evictRoom = 256 << 10
)

// fullEvicting has somebody else fill a server that evicts: no write fails, and
// counters vanish. An evicted counter is a fresh one (docs/redis.md), so each
// eviction costs its tenant's limit one burst, and no more.
func fullEvicting(t testing.TB, f form) *outcome {
	s, r := onSingle(t, f, f.unfelt)
	lost := watchEvictions(t, s)
	before := r.mark("maxmemory, %s", evictPolicy)
	s.ConfigSet("maxmemory-policy", evictPolicy)
	s.ConfigSet("maxmemory", strconv.FormatInt(infoNumber(t, s, "memory", "used_memory")+evictRoom, 10))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var filling sync.WaitGroup
	filling.Go(func() { fillUp(ctx, t, s) })
	await(t, "a counter to be evicted", func() error {
		if len(lost.counts()) == 0 {
			return fmt.Errorf("of %d evicted keys none was a tight tenant's", infoNumber(t, s, "stats", "evicted_keys"))
		}
		return nil
	})
	r.hold(f.fault)
	refused(t, s, evictPolicy)
	cancel()
	filling.Wait()
	j := r.end("maxmemory, " + evictPolicy)
	j.unfelt(before, j.last)
	j.inTime("while keys are evicted", before, j.last)
	evicted := infoNumber(t, s, "stats", "evicted_keys")
	if evicted == 0 {
		t.Error("the fault was not felt: nothing was evicted")
	}
	j.evicted(evicted, lost.settle(t, s))
	return j.out
}

// evicted holds that no tenant was given more than a burst for each time its
// counter was evicted.
func (j *judged) evicted(all int64, lost map[uint64]int) {
	j.t.Helper()
	var given [tightTenants]float64
	for key, n := range j.mu.admitted {
		if key%2 == 0 {
			given[tightTenant(key)] += float64(n)
		}
	}
	fair := tightBurst + tightRate*j.out.span.Seconds()
	counters, extra := 0, 0.0
	for id, got := range given {
		n := lost[uint64(id)]
		counters += n
		extra += max(got-fair, 0) / tightBurst
		if got > fair+tightBurst*float64(n) {
			j.t.Errorf("tight tenant %d was given %.0f of %.1f, and its counter was evicted %d times, a burst of %d each", id, got, fair, n, tightBurst)
		}
	}
	j.note("%d keys evicted, tight tenants' counters %d times: %.1f bursts extra for all of them; weir doctor exits with 1", all, counters, extra)
}

// fillUp writes ever new keys of somebody else's, some thousand a second.
func fillUp(ctx context.Context, t testing.TB, s *redistest.Server) {
	const script = "for i = 1, 20 do redis.call('SET', 'other:' .. ARGV[1] .. ':' .. i, string.rep('x', 200)) end"
	for n := 0; ctx.Err() == nil; n++ {
		if _, err := s.Do("EVAL", script, "0", strconv.Itoa(n)); err != nil {
			t.Errorf("fill the server: %v", err)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// infoNumber is a number of INFO.
func infoNumber(t testing.TB, s *redistest.Server, section, field string) int64 {
	t.Helper()
	text, _ := s.MustDo("INFO", section).(string)
	_, rest, _ := strings.Cut(text, "\n"+field+":")
	value, _, _ := strings.Cut(rest, "\r")
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		t.Fatalf("INFO %s has no number %s: %v", section, field, err)
	}
	return n
}

// evictions counts how often tight tenants' counters were evicted, as the server
// tells it at once.
type evictions struct {
	conn net.Conn
	done chan struct{} // closed when the connection has ended
	mu   struct {
		sync.Mutex
		tight map[uint64]int // by tenant
		ended bool           // the mark has come
	}
}

// evictionsEnd is published after the last eviction that matters.
const evictionsEnd = "end-of-evictions"

func watchEvictions(t testing.TB, s *redistest.Server) *evictions {
	t.Helper()
	s.ConfigSet("notify-keyspace-events", "Ee")
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	e := &evictions{conn: conn, done: make(chan struct{})}
	e.mu.tight = map[uint64]int{}
	t.Cleanup(func() { _ = conn.Close(); <-e.done })
	if _, err := fmt.Fprintf(conn, "SUBSCRIBE __keyevent@0__:evicted %s\r\n", evictionsEnd); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(conn)
	for subscribed := 0; subscribed < 2; { // ":1" and ":2" are how many there are
		if !lines.Scan() {
			t.Fatalf("subscribe to evictions: %v", lines.Err())
		}
		if strings.HasPrefix(lines.Text(), ":") {
			subscribed++
		}
	}
	go e.read(lines)
	return e
}

// read takes the lines of all messages; those that name a key tell of one.
func (e *evictions) read(lines *bufio.Scanner) {
	defer close(e.done)
	for lines.Scan() {
		line := lines.Text()
		e.mu.Lock()
		if line == evictionsEnd+"." {
			e.mu.ended = true
		}
		if tag, rest, ok := strings.Cut(strings.TrimPrefix(line, "{t"), "}"); ok && strings.Contains(rest, ":tight") {
			if id, err := strconv.ParseUint(tag, 10, 64); err == nil {
				e.mu.tight[id]++
			}
		}
		e.mu.Unlock()
	}
}

func (e *evictions) counts() map[uint64]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := map[uint64]int{}
	for id, n := range e.mu.tight {
		out[id] = n
	}
	return out
}

// settle waits for what the server has yet to tell, and returns all of it.
func (e *evictions) settle(t testing.TB, s *redistest.Server) map[uint64]int {
	t.Helper()
	s.MustDo("PUBLISH", evictionsEnd, evictionsEnd+".")
	await(t, "the last eviction to be told", func() error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !e.mu.ended {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	return e.counts()
}
