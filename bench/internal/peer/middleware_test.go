package peer

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestMiddlewaresLimit: each admits exactly the limit's requests of an address,
// and says so in header fields, but for those that do not.
func TestMiddlewaresLimit(t *testing.T) {
	for _, p := range Middlewares() {
		t.Run(p.Name, func(t *testing.T) {
			served := 0
			h, err := p.New(few, 10, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }))
			if err != nil {
				t.Fatal(err)
			}
			want, fields := int(few.Count), true
			for _, addr := range []string{"192.0.2.1:80", "192.0.2.2:80"} {
				served = 0
				for range few.Count + 3 {
					r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
					r.RemoteAddr = addr
					h.ServeHTTP(w, r)
					fields = fields && len(w.Header()) > 0
				}
				if p.Name == Bare {
					want = int(few.Count) + 3
				}
				if served != want {
					t.Errorf("%s: served %d, want %d", addr, served, want)
				}
			}
			if wants := p.Name != Bare && p.Name != weirPlainMiddleware.Name; fields != wants {
				t.Errorf("header fields: %v, want %v", fields, wants)
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
