package httplimit_test

import (
	"testing"

	"github.com/weirlimit/weir/httplimit"
)

// TestNamedPlaceElsewhere: a place that was taken under a gateway's request id is
// given back when the handler returns, over a server as in this process.
func TestNamedPlaceElsewhere(t *testing.T) {
	near := decider(t, places)
	h := httplimit.New(near, tenant, httplimit.WithRequestID("X-Request-Id"))(ok)
	for _, id := range []string{"1", "2", "3"} {
		if w := get(h, "/", "X-Tenant", "a", "X-Request-Id", id); w.Code != 200 {
			t.Errorf("in this process, request %s: %d", id, w.Code)
		}
	}
	far := decider(t, places)
	h = httplimit.New(elsewhere(t, far), tenant, httplimit.WithRequestID("X-Request-Id"))(ok)
	for _, id := range []string{"1", "2", "3"} {
		if w := get(h, "/", "X-Tenant", "a", "X-Request-Id", id); w.Code != 200 {
			t.Errorf("over a server, request %s: %d %s", id, w.Code, w.Body)
		}
	}
	if n := used(t, far); n != 0 {
		t.Errorf("%d places are held after every handler has returned", n)
	}
}
