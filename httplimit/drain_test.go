package httplimit_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirlimit/weir/httplimit"
)

// TestTransportHangsUpOnEndlessBodies: a denial whose body never ends holds
// nobody up, and its connection is closed.
func TestTransportHangsUpOnEndlessBodies(t *testing.T) {
	for _, drip := range []bool{false, true} {
		var requests atomic.Int64
		left := make(chan struct{})
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if requests.Add(1) > 1 {
				return
			}
			defer close(left)
			w.WriteHeader(http.StatusTooManyRequests)
			for {
				if drip {
					_, _ = io.WriteString(w, ".")
				}
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
					return
				case <-time.After(10 * time.Millisecond):
				}
			}
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // the test's, for a Transport that hangs
		base := &http.Transport{}
		c := &http.Client{Transport: &httplimit.Transport{Base: base, MinBackoff: time.Millisecond, MaxElapsed: 10 * time.Second}}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err != nil || resp.StatusCode != 200 {
			t.Errorf("drip %v: %v, %v", drip, resp, err)
		}
		if err == nil {
			_ = resp.Body.Close()
		}
		cancel()
		<-left
		base.CloseIdleConnections()
		srv.Close()
	}
}
