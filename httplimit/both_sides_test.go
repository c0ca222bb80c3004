package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirlimit/weir/httplimit"
)

// inProcess sends requests to a handler, in the bubble's own time.
type inProcess struct{ http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	r.RemoteAddr = "192.0.2.1:1" // this RoundTripper is the server's side too
	p.ServeHTTP(w, r)
	return w.Result(), nil
}

// TestBothSides: a client with our Transport, at a server with our middleware,
// sends as fast as it can for a while: nearly nothing is denied, and nothing
// that is reaches the caller.
func TestBothSides(t *testing.T) {
	for _, limit := range []string{"20/10s", "2/s burst 20", "20/10s fixed_window"} {
		synctest.Test(t, func(t *testing.T) {
			served, denied := 0, 0
			limited := httplimit.New(decider(t, "policies:\n  - {id: p, by: [ip], limits: ["+limit+"], on_failure: open}\n", moving))(
				http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }))
			client := &http.Client{Transport: &httplimit.Transport{
				Base: inProcess{limited}, MaxPace: time.Minute, MaxElapsed: time.Hour, MaxAttempts: 10,
				Waiting: func(_ *http.Request, _ time.Duration, again bool) {
					if again {
						denied++
					}
				},
			}}
			began := time.Now()
			for range 100 {
				resp, err := client.Get("http://api.test/")
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Errorf("%s: %d", limit, resp.StatusCode)
				}
			}
			took := time.Since(began)
			if served != 100 || denied > 5 || took > 90*time.Second {
				t.Errorf("%s: served %d, denied %d, in %v", limit, served, denied, took)
			}
			t.Logf("%s: 100 requests in %v, %d denied on the way", limit, took, denied)
		})
	}
}
