package rls_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/rls"
	"github.com/weirlimit/weir/memstore"
)

func TestHeadersOfTheLeast(t *testing.T) {
	for _, by := range lanes {
		t.Run(string(by), func(t *testing.T) { testHeaders(t, by) })
	}
}

func testHeaders(t *testing.T, by lane) {
	s := serve(t, by, memstore.New(), rls.Options{Headers: rls.Headers{Enabled: true, Reset: "X-Back"}}, config)
	out := s.ask(2, d("tenant", "a"), d("tagged", "x"))
	got := make(map[string]string)
	for _, h := range out.GetResponseHeadersToAdd() {
		got[h.GetKey()] = h.GetValue()
	}
	if got["RateLimit-Limit"] != "3" || got["RateLimit-Remaining"] != "1" || got["X-Back"] != "86400" || len(got) != 3 {
		t.Errorf("got %v", got)
	}
	if out := s.ask(0, d("nosuch", "x")); len(out.GetResponseHeadersToAdd()) != 0 {
		t.Errorf("without a limit: %v", out)
	}
}

func TestJSON(t *testing.T) {
	s := serve(t, stock, memstore.New(), rls.Options{}, config)
	post := func(body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.server.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/json", strings.NewReader(body)))
		return w
	}
	body := `{"domain": "test", "descriptors": [{"entries": [{"key": "outer", "value": "1"}, {"key": "inner", "value": "2"}]}]}`
	first, second := post(body), post(body)
	if first.Code != http.StatusOK || second.Code != http.StatusTooManyRequests {
		t.Fatalf("statuses %d, %d", first.Code, second.Code)
	}
	var out pb.RateLimitResponse
	if err := protojson.Unmarshal(second.Body.Bytes(), &out); err != nil || out.GetOverallCode() != over {
		t.Errorf("body %s, %v", second.Body, err)
	}
	for _, bad := range []string{"", "{", `{"nosuch": 1}`, `{"domain": ""}`, strings.Repeat("x", 70<<10)} {
		if w := post(bad); w.Code != http.StatusBadRequest {
			t.Errorf("%.20q: %d %s", bad, w.Code, w.Body)
		}
	}
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/json", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", w.Code)
	}
}

// TestUnits: what RLS can say of limits whose window is no unit of its own.
func TestUnits(t *testing.T) {
	for text, want := range map[string]string{
		"3/s":     "3 SECOND",
		"3/m":     "3 MINUTE",
		"3/7d":    "3 WEEK",
		"3/30d":   "3 MONTH",
		"3/365d":  "3 YEAR",
		"100/30s": "200 MINUTE",
		"5/5m":    "60 HOUR",
		"300/90s": "12000 HOUR",
		"1/37s":   "1 UNKNOWN",
	} {
		l, err := weir.ParseLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		n, unit := rls.RateOf(l)
		if got := fmt.Sprint(n, " ", unit); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
