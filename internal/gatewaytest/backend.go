package gatewaytest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Greeting is what a backend answers.
const Greeting = "hello from the backend\n"

// Backend is what a gateway protects. It answers every request and remembers
// it. It is safe for concurrent use.
type Backend struct {
	addr string
	mu   struct {
		sync.Mutex
		seen []Seen
	}
}

// Seen is a request that reached the backend.
type Seen struct {
	Method, URI, Body string
	Header            http.Header
}

// StartBackend runs a backend until the end of the test. It answers /forbidden
// with 403, everything else with 200, and always with fields of a limiter of
// its own, which no client should see beside Weir's.
func StartBackend(t testing.TB) *Backend {
	t.Helper()
	b := &Backend{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is cut off is seen as such
		b.mu.Lock()
		b.mu.seen = append(b.mu.seen, Seen{r.Method, r.RequestURI, string(body), r.Header})
		b.mu.Unlock()
		w.Header().Set("RateLimit", `"the-backend";r=1;t=1`)
		w.Header().Set("X-RateLimit-Limit", "1")
		if r.URL.Path == "/forbidden" {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, Greeting)
	}))
	t.Cleanup(s.Close)
	b.addr = s.Listener.Addr().String()
	return b
}

// Addr is where it listens.
func (b *Backend) Addr() string { return b.addr }

// Take returns what it has seen since it was last asked.
func (b *Backend) Take() []Seen {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := b.mu.seen
	b.mu.seen = nil
	return seen
}
