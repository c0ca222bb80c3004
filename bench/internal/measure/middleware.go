package measure

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir/bench/internal/peer"
)

// MiddlewareLimit is what every middleware enforces: so much that one address
// may send all the requests of a run.
var MiddlewareLimit = peer.Limit{Count: 10_000_000, Period: 365 * 24 * time.Hour}

// MiddlewareHeap is memory that is held meanwhile, as a program with something
// to serve does: in an empty one collections come every few milliseconds, and
// how long they last on a busy machine is what would be measured.
const MiddlewareHeap = 64 << 20

// MiddlewarePlan says what to measure around an http.Handler.
type MiddlewarePlan struct {
	Keys     []int // addresses that requests come from
	Cores    []int // GOMAXPROCS, and as many goroutines
	Requests int   // of a library in a round, about
	Rounds   int
	Log      func(format string, args ...any) // progress
}

// Middleware runs the plan, and returns a table for each number of keys on each
// number of cores. What a request takes includes the handler that it ends in,
// which does nothing, and a ResponseWriter whose header is emptied before.
func Middleware(plan MiddlewarePlan, peers []peer.Middleware) ([]SpeedTable, error) {
	ballast := make([]byte, MiddlewareHeap)
	defer runtime.KeepAlive(ballast)
	var all []SpeedTable
	for _, keys := range plan.Keys {
		m := newMiddlewareRun(plan, keys, peers)
		for round := range plan.Rounds {
			plan.Log("middleware, %d keys, round %d of %d", keys, round+1, plan.Rounds)
			for i := range peers {
				at := (round + i) % len(peers)
				if err := m.measure(at, peers[at]); err != nil {
					return nil, fmt.Errorf("measure middleware %s: %w", peers[at].Name, err)
				}
			}
		}
		all = append(all, m.tables...)
	}
	return all, nil
}

// middlewareRun is the measurement of one number of keys.
type middlewareRun struct {
	keys   int
	seq    []*http.Request
	passes int // over seq, in one measurement
	tables []SpeedTable
}

// middlewareOrders are how often each address comes in the sequence, each time
// in another order.
const middlewareOrders = 10

func newMiddlewareRun(plan MiddlewarePlan, keys int, peers []peer.Middleware) *middlewareRun {
	m := &middlewareRun{keys: keys, seq: requests(keys, max(middlewareOrders, 1000/keys))}
	m.passes = max(1, plan.Requests/len(m.seq))
	for _, n := range plan.Cores {
		t := SpeedTable{Keys: keys, Cores: n}
		for _, p := range peers {
			t.Rows = append(t.Rows, SpeedRow{Name: p.Name, Ours: p.Ours})
		}
		m.tables = append(m.tables, t)
	}
	return m
}

// requests returns requests from n addresses, orders times each.
func requests(n, orders int) []*http.Request {
	rng := rand.New(rand.NewPCG(3, 4))
	seq := make([]*http.Request, 0, n*orders)
	for range orders {
		for _, i := range rng.Perm(n) {
			seq = append(seq, &http.Request{
				Method: http.MethodGet, URL: &url.URL{Path: "/v1/orders"}, Header: http.Header{"Accept": {"*/*"}},
				RemoteAddr: fmt.Sprintf("10.%d.%d.%d:%d", i>>16&255, i>>8&255, i&255, 1024+i%60_000),
			})
		}
	}
	return seq
}

// measure adds one round to row at of each table, with a new limiter.
func (m *middlewareRun) measure(at int, p peer.Middleware) (err error) {
	h, err := p.New(MiddlewareLimit, m.keys, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if err != nil {
		return err
	}
	defer func() {
		if cerr := h.Close(); err == nil {
			err = cerr
		}
	}()
	for i := range m.tables {
		if err := m.time(&m.tables[i].Rows[at], h, m.tables[i].Cores); err != nil {
			return err
		}
	}
	return nil
}

func (m *middlewareRun) time(row *SpeedRow, h http.Handler, cores int) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	if err := m.serve(h, cores, 1); err != nil { // warms up
		return err
	}
	runtime.GC()
	start := used(false)
	err := m.serve(h, cores, m.passes)
	end := used(true)
	n := float64(len(m.seq) * m.passes)
	row.Wall = append(row.Wall, float64(end.at.Sub(start.at))/n)
	row.CPU = append(row.CPU, float64(end.cpu-start.cpu)/n)
	row.News = append(row.News, float64(end.mallocs-start.mallocs)/n)
	return err
}

// serve sends the sequence that many times, each goroutine its own part.
func (m *middlewareRun) serve(h http.Handler, goroutines, passes int) error {
	var wg sync.WaitGroup
	var denied atomic.Bool
	for g := range goroutines {
		part := m.seq[g*len(m.seq)/goroutines : (g+1)*len(m.seq)/goroutines]
		wg.Go(func() {
			w := &responseWriter{header: http.Header{}}
			for range passes {
				for _, r := range part {
					clear(w.header)
					h.ServeHTTP(w, r)
				}
			}
			if w.denied {
				denied.Store(true)
			}
		})
	}
	wg.Wait()
	if denied.Load() {
		return errDenied
	}
	return nil
}

// responseWriter keeps nothing but whether a request was denied.
type responseWriter struct {
	header http.Header
	denied bool
}

func (w *responseWriter) Header() http.Header         { return w.header }
func (w *responseWriter) Write(b []byte) (int, error) { return len(b), nil }
func (w *responseWriter) WriteHeader(status int)      { w.denied = w.denied || status >= 400 }
