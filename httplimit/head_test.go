package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirlimit/weir/httplimit"
)

// TestBytesOfHEAD: a response without a body costs nothing by the byte.
func TestBytesOfHEAD(t *testing.T) {
	e := decider(t, byTenant)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat("x", 5))) })
	srv := httptest.NewServer(httplimit.New(e, tenant, httplimit.WithCostAfter(httplimit.BytesCost(1)))(mux))
	defer srv.Close()
	r, _ := http.NewRequest(http.MethodHead, srv.URL+"/", nil)
	r.Header.Set("X-Tenant", "a")
	resp, err := http.DefaultClient.Do(r)
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
	srv.Close()
	if n := used(t, e); n != 1 {
		t.Errorf("%d units for a request and no byte of a body", n)
	}
}
