package bench

import (
	"context"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/weirlimit/weir/internal/loadgen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limiter is a server by grpc-go that does what a test wants.
type limiter struct {
	rlsv3.UnimplementedRateLimitServiceServer
	asked  atomic.Int64
	answer func(n int64, r *rlsv3.RateLimitRequest) (rlsv3.RateLimitResponse_Code, error)
}

func (l *limiter) ShouldRateLimit(_ context.Context, r *rlsv3.RateLimitRequest) (*rlsv3.RateLimitResponse, error) {
	code, err := l.answer(l.asked.Add(1), r)
	return &rlsv3.RateLimitResponse{OverallCode: code}, err
}

func (l *limiter) start(t *testing.T) string {
	t.Helper()
	n, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	rlsv3.RegisterRateLimitServiceServer(g, l)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.Serve(n) // it ends with Stop
	}()
	t.Cleanup(func() { g.Stop(); <-done })
	return n.Addr().String()
}

func plan(addr string) Plan {
	return Plan{
		API: RLS, Addr: addr, For: time.Second, Conns: 2, Callers: 8,
		Timeout:  20 * time.Second, // a machine with other work may be slow
		Requests: &Synthetic{Domain: "bench", Names: []string{"k1"}, Cost: 1, Keys: loadgen.Keys{Seed: 1, Count: 100}},
	}
}

func tryRun(t *testing.T, p Plan) *Result {
	t.Helper()
	r, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestStallShowsInAnOpenLoop: a server that stands still for 400 ms is charged
// with what was due meanwhile, though only 8 requests could be sent. A closed
// loop asks nothing in that time, and sees 8.
func TestStallShowsInAnOpenLoop(t *testing.T) {
	const stall = 400 * time.Millisecond
	for _, rate := range []int{250, 0} {
		var gate sync.Mutex
		l := &limiter{}
		l.answer = func(n int64, _ *rlsv3.RateLimitRequest) (rlsv3.RateLimitResponse_Code, error) {
			gate.Lock()
			if n == 60 {
				time.Sleep(stall)
			}
			gate.Unlock()
			return rlsv3.RateLimitResponse_OK, nil
		}
		p := plan(l.start(t))
		p.Rate = rate
		r := tryRun(t, p)
		q := r.Latency.Quantile
		if r.Latency.Max() < stall {
			t.Errorf("rate %d: the longest took %v", rate, r.Latency.Max())
		}
		if rate > 0 {
			if r.Decided() != 250 {
				t.Errorf("%d were decided of 250: %v", r.Decided(), r.Failed)
			}
			// Of 250 requests, 100 were due in the stall and waited 0 to 400 ms.
			if q(0.999) < stall*9/10 || q(0.8) < stall/4 {
				t.Errorf("open loop: p80 %v, p99.9 %v of a stall of %v", q(0.8), q(0.999), stall)
			}
		} else if n := r.Decided(); n < 1600 {
			t.Logf("only %d were decided: the machine is too busy to tell", n)
		} else if q(0.99) > stall/4 {
			t.Errorf("closed loop: p99 %v: it is to see 8 of %d", q(0.99), n)
		}
	}
}

// TestEveryRequestIsSentOnce: as many as there are to be, and those of the list.
func TestEveryRequestIsSentOnce(t *testing.T) {
	for _, rate := range []int{0, 100_000} {
		var mu sync.Mutex
		seen := map[string]int{}
		l := &limiter{answer: func(_ int64, r *rlsv3.RateLimitRequest) (rlsv3.RateLimitResponse_Code, error) {
			mu.Lock()
			defer mu.Unlock()
			seen[r.GetDescriptors()[0].GetEntries()[0].GetValue()]++
			return rlsv3.RateLimitResponse_OVER_LIMIT, nil
		}}
		p := plan(l.start(t))
		p.Rate, p.Most, p.For = rate, 2000, 30*time.Second
		began := time.Now()
		r := tryRun(t, p)
		if r.Denied != 2000 || r.Allowed != 0 || r.Numbers != 2000 || r.Failures() != 0 || time.Since(began) > 25*time.Second {
			t.Errorf("rate %d: %+v", rate, r.Failed)
		}
		want := map[string]int{}
		for n := range int64(2000) {
			r := *request(1)
			p.Requests.Fill(n, &r)
			want[r.Descriptors[0].Pairs[0].Value]++
		}
		for key, n := range want {
			if seen[key] != n {
				t.Fatalf("rate %d: %s was asked for %d times, want %d", rate, key, seen[key], n)
			}
		}
	}
}

// TestNoAnswer: a run ends, and tells of every request that was due.
func TestNoAnswer(t *testing.T) {
	stop := make(chan struct{})
	l := &limiter{answer: func(int64, *rlsv3.RateLimitRequest) (rlsv3.RateLimitResponse_Code, error) {
		<-stop
		return 0, nil
	}}
	addr := l.start(t)
	t.Cleanup(func() { close(stop) })
	p := plan(addr)
	p.Rate, p.Callers, p.For, p.Timeout = 1000, 4, 500*time.Millisecond, 200*time.Millisecond
	r := tryRun(t, p)
	if r.Failed["timeout"] < 4 || r.Failed["unsent"] < 100 || r.Failures() != 500 || r.Decided() != 0 {
		t.Errorf("%v", r.Failed)
	}
	if r.Latency.Count() != 500 || r.Latency.Quantile(0.5) < 100*time.Millisecond {
		t.Errorf("%d latencies, the median %v", r.Latency.Count(), r.Latency.Quantile(0.5))
	}
	p.Rate = 0
	if r = tryRun(t, p); r.Failed["timeout"] < 4 || r.Decided() != 0 {
		t.Errorf("closed: %v", r.Failed)
	}
}

// TestRateOfServerThatEnds: the time after its last answer is not the server's.
func TestRateOfServerThatEnds(t *testing.T) {
	const lives = 300 * time.Millisecond
	for _, rate := range []int{500, 0} {
		var ends atomic.Int64
		l := &limiter{answer: func(n int64, _ *rlsv3.RateLimitRequest) (rlsv3.RateLimitResponse_Code, error) {
			if now := time.Now().UnixNano(); n == 1 {
				ends.Store(now + int64(lives))
			} else if end := ends.Load(); end > 0 && now > end {
				time.Sleep(time.Millisecond) // not in a circle
				return 0, os.ErrClosed
			}
			return rlsv3.RateLimitResponse_OK, nil
		}}
		p := plan(l.start(t))
		p.Rate, p.For = rate, 3*time.Second
		r := tryRun(t, p)
		if !r.Gone || r.Took < lives/2 || r.Took > time.Second {
			t.Errorf("rate %d: gone %v, took %v; it lived %v", rate, r.Gone, r.Took, lives)
		}
	}
}

func TestUndecidedAndStatus(t *testing.T) {
	l := &limiter{answer: func(n int64, _ *rlsv3.RateLimitRequest) (rlsv3.RateLimitResponse_Code, error) {
		if n%2 == 0 {
			return 0, os.ErrInvalid
		}
		return rlsv3.RateLimitResponse_UNKNOWN, nil
	}}
	p := plan(l.start(t))
	p.Most = 100
	r := tryRun(t, p)
	if r.Failed["status"] != 50 || r.Failed["undecided"] != 50 || !strings.Contains(r.Details["status"], "code 2 ") {
		t.Errorf("%v %v", r.Failed, r.Details)
	}
}

// TestWarmUpIsNotCounted, processes are, and a run that is ended tells what it has.
func TestWarmUpIsNotCounted(t *testing.T) {
	l := &limiter{answer: func(int64, *rlsv3.RateLimitRequest) (rlsv3.RateLimitResponse_Code, error) {
		return rlsv3.RateLimitResponse_OK, nil
	}}
	p := plan(l.start(t))
	p.Rate, p.Warmup, p.For = 500, 400*time.Millisecond, 800*time.Millisecond
	p.Processes = []Process{{Name: "self", PID: os.Getpid()}}
	var told atomic.Int64
	p.Progress = func(g Progress) {
		told.Add(1)
		if g.Failed != 0 || g.Warming {
			t.Errorf("%+v", g)
		}
	}
	r := tryRun(t, p)
	if r.Decided() != 400 || r.Numbers != 600 || l.asked.Load() != 600 {
		t.Errorf("%d counted, %d due, %d asked; want 400 of 600", r.Decided(), r.Numbers, l.asked.Load())
	}
	if told.Load() < 1 {
		t.Error("nobody was told how it goes in 1.2 s")
	}
	if len(r.CPU) != 1 || r.CPU[0].Used <= 0 || r.CPU[0].PerRequest <= 0 || r.CPU[0].Used > 10*time.Second {
		t.Errorf("processor time %+v", r.CPU)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	p.Warmup, p.For, p.Progress = 0, time.Hour, nil
	r, err := Run(ctx, p)
	if err == nil || r == nil || r.Decided() < 10 || r.Took > 10*time.Second {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRunRefuses(t *testing.T) {
	for field, change := range map[string]func(*Plan){
		"api":      func(p *Plan) { p.API = "soap" },
		"requests": func(p *Plan) { p.Requests = nil },
		"rate":     func(p *Plan) { p.Rate = 1e6 + 1 },
		"duration": func(p *Plan) { p.For = 0 },
		"warm-up":  func(p *Plan) { p.Warmup = 2 * time.Hour },
		"callers":  func(p *Plan) { p.Callers = 1 << 17 },
		"conns":    func(p *Plan) { p.Conns = -1 },
		"timeout":  func(p *Plan) { p.Timeout = time.Microsecond },
		"most":     func(p *Plan) { p.Most = -1 },
	} {
		p := plan("127.0.0.1:1")
		change(&p)
		if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, api := range APIs {
		p := plan("127.0.0.1:1")
		p.API = api
		if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", api, err)
		}
	}
	l := &limiter{}
	p := plan(l.start(t))
	p.Processes = []Process{{Name: "gone", PID: 1 << 30}}
	if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a process that is not there: %v", err)
	}
}
