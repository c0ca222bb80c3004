package rls_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
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

// TestHeadersOfTheLastThatDenies: as envoyproxy/ratelimit has it, whoever has as
// little left.
func TestHeadersOfTheLastThatDenies(t *testing.T) {
	const two = "domain: test\ndescriptors:\n" +
		"  - {key: one, rate_limit: {unit: day, requests_per_unit: 1}}\n" +
		"  - {key: two, rate_limit: {unit: day, requests_per_unit: 2}}\n"
	for _, by := range lanes {
		t.Run(string(by), func(t *testing.T) {
			s := serve(t, by, memstore.New(), rls.Options{Compat: true, Headers: rls.Headers{Enabled: true}}, two)
			limit := func(descriptors ...*common.RateLimitDescriptor) string {
				t.Helper()
				return s.ask(0, descriptors...).GetResponseHeadersToAdd()[0].GetValue()
			}
			s.ask(2, d("two", "used"))
			if got := limit(d("one", "a"), d("two", "used")); got != "2" {
				t.Errorf("one used up, one over: RateLimit-Limit %s", got)
			}
			if got := limit(d("one", "a"), d("two", "used")); got != "2" {
				t.Errorf("both over: RateLimit-Limit %s", got)
			}
			if got := limit(d("two", "used"), d("one", "a")); got != "1" {
				t.Errorf("both over, the other way: RateLimit-Limit %s", got)
			}
			if got := limit(d("two", "used"), d("one", "b")); got != "2" {
				t.Errorf("one over, one used up: RateLimit-Limit %s", got)
			}
		})
	}
}

// TestLimitOfZeroThatComesAlong denies: an error would have Envoy let it pass.
func TestLimitOfZeroThatComesAlong(t *testing.T) {
	for _, by := range lanes {
		for _, compat := range []bool{false, true} {
			s := serve(t, by, memstore.New(), rls.Options{Compat: compat}, config)
			none := d("anything", "a")
			none.Limit = &common.RateLimitDescriptor_RateLimitOverride{Unit: typev3.RateLimitUnit_DAY}
			for range 2 {
				out := s.ask(0, none)
				st := out.GetStatuses()[0]
				if out.GetOverallCode() != over || st.GetCode() != over || st.GetCurrentLimit().GetRequestsPerUnit() != 0 || st.GetCurrentLimit().GetUnit() != pb.RateLimitResponse_RateLimit_DAY {
					t.Errorf("%s, compat %v: %v", by, compat, out)
				}
			}
		}
	}
}

// TestLookAtALimitOfZero is no denial of its own beside one that is.
func TestLookAtALimitOfZero(t *testing.T) {
	const zero = "domain: test\ndescriptors:\n  - {key: zero, rate_limit: {unit: day, requests_per_unit: 0}}\n"
	for _, by := range lanes {
		s := serve(t, by, memstore.New(), rls.Options{Compat: true}, zero)
		out := s.ask(0, withHits(d("zero", "a"), 0), d("zero", "b"))
		if st := out.GetStatuses(); out.GetOverallCode() != over || st[0].GetCode() == over || st[1].GetCode() != over {
			t.Errorf("%s: %v", by, out)
		}
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
