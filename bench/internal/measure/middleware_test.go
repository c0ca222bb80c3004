package measure

import (
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/weirlimit/weir/bench/internal/peer"
)

// fakeMiddleware counts requests by address, and denies one of them.
type fakeMiddleware struct {
	mu     sync.Mutex
	asked  map[string]int
	calls  int
	denyAt int
	closed int
}

func (f *fakeMiddleware) peer(name string) peer.Middleware {
	return peer.Middleware{Name: name, New: func(_ peer.Limit, _ int, next http.Handler) (peer.Wrapped, error) {
		f.asked, f.calls = map[string]int{}, 0
		return peer.Wrapped{
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				f.mu.Lock()
				f.calls++
				f.asked[r.RemoteAddr]++
				deny := f.calls == f.denyAt
				f.mu.Unlock()
				if deny {
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				next.ServeHTTP(w, r)
			}),
			Close: func() error { f.closed++; return nil },
		}, nil
	}}
}

func TestMiddlewareMeasuresEveryRound(t *testing.T) {
	a, b := &fakeMiddleware{}, &fakeMiddleware{}
	tables, err := Middleware(MiddlewarePlan{Keys: []int{1, 300}, Cores: []int{1, 2}, Requests: 10, Rounds: 2, Log: quiet},
		[]peer.Middleware{a.peer("a"), b.peer("b")})
	if err != nil || len(tables) != 4 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	for _, table := range tables {
		for i, name := range []string{"a", "b"} {
			if r := table.Rows[i]; r.Name != name || len(r.Wall) != 2 || len(r.CPU) != 2 || len(r.News) != 2 || r.Wall[0] <= 0 {
				t.Errorf("%d keys, %d cores, row %d is %+v", table.Keys, table.Cores, i, r)
			}
		}
	}
	if len(a.asked) != 300 || a.calls != b.calls || a.closed != 4 || b.closed != 4 {
		t.Errorf("a: %d keys, %d calls, closed %d times; b: %d calls, closed %d times", len(a.asked), a.calls, a.closed, b.calls, b.closed)
	}
}

func TestMiddlewareRefusesDenials(t *testing.T) {
	f := &fakeMiddleware{denyAt: 700}
	_, err := Middleware(MiddlewarePlan{Keys: []int{100}, Cores: []int{2}, Requests: 1, Rounds: 1, Log: quiet}, []peer.Middleware{f.peer("f")})
	if !errors.Is(err, errDenied) || f.closed != 1 {
		t.Errorf("%v, closed %d times", err, f.closed)
	}
}
