package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/httpapi"
	"github.com/weirlimit/weir/memstore"
)

func handler(t testing.TB, store weir.Store) http.Handler {
	t.Helper()
	return httpapi.New(enginetest.New(t, `
policies:
  - {id: tenants, by: [tenant], limits: [2/m], on_failure: closed}
  - {id: jobs, by: [worker], limits: [1 concurrency 30s], on_failure: open}
`, engine.Options{Store: store, Deadline: time.Second}))
}

func post(h http.Handler, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	return w
}

func TestCheckAndDeny(t *testing.T) {
	h := handler(t, memstore.New())
	body := `{"dimensions": {"tenant": "acme"}}`
	first := post(h, "/v1/check", body)
	var out struct {
		Allowed   bool
		Rule      string
		Remaining int64
	}
	if err := json.Unmarshal(first.Body.Bytes(), &out); err != nil || first.Code != http.StatusOK || !out.Allowed || out.Rule != "tenants" || out.Remaining != 1 {
		t.Fatalf("%d %s, %v", first.Code, first.Body, err)
	}
	post(h, "/v1/check", body)
	denied := post(h, "/v1/check", body)
	if denied.Code != http.StatusTooManyRequests || denied.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("%d %v", denied.Code, denied.Header())
	}
	for _, name := range []string{
		"RateLimit", "RateLimit-Policy", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining",
		"X-RateLimit-Reset", "X-RateLimit-Policy", "X-RateLimit-Scope",
	} {
		if denied.Header().Get(name) == "" {
			t.Errorf("no %s in %v", name, denied.Header())
		}
	}
	var problem struct {
		Type     string
		Violated []string `json:"violated-policies"`
		Error    struct {
			Code  string
			Scope string
		}
	}
	if err := json.Unmarshal(denied.Body.Bytes(), &problem); err != nil || len(problem.Violated) != 1 || problem.Error.Scope != "tenant" || !strings.HasSuffix(problem.Type, "#quota-exceeded") {
		t.Errorf("%s, %v", denied.Body, err)
	}
}

// away is a store that does not answer.
type away struct{ weir.Store }

func (away) Submit(b *weir.Batch, done func(*weir.Batch)) {
	b.Entries[0].Err = &weir.Error{Code: weir.CodeTimeout}
	done(b)
}

func TestFailClosedIs503(t *testing.T) {
	w := post(handler(t, away{}), "/v1/check", `{"dimensions": {"tenant": "acme"}}`)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "#temporary-reduced-capacity") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestModesAndRelease(t *testing.T) {
	h := handler(t, memstore.New())
	post(h, "/v1/check", `{"dimensions": {"tenant": "a"}, "cost": 2}`)
	post(h, "/v1/check", `{"dimensions": {"tenant": "a"}, "cost": 1, "mode": "refund"}`)
	if w := post(h, "/v1/check", `{"dimensions": {"tenant": "a"}, "mode": "peek"}`); !strings.Contains(w.Body.String(), `"remaining":1`) {
		t.Errorf("peek: %s", w.Body)
	}
	acquire := `{"dimensions": {"worker": "w"}, "request_id": "1"}`
	if w := post(h, "/v1/check", acquire); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := post(h, "/v1/release", acquire); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"released":1`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestBadInput(t *testing.T) {
	h := handler(t, memstore.New())
	for body, want := range map[string]int{
		``:                                   http.StatusBadRequest,
		`{`:                                  http.StatusBadRequest,
		`{"dimension": {}}`:                  http.StatusBadRequest,
		`{} {}`:                              http.StatusBadRequest,
		`{"cost": -1}`:                       http.StatusBadRequest,
		`{"mode": "nosuch"}`:                 http.StatusBadRequest,
		`{"timeout_ms": -1}`:                 http.StatusBadRequest,
		`{"dimensions": {"": "x"}}`:          http.StatusBadRequest,
		`{"policy": "nosuch"}`:               http.StatusNotFound,
		`"` + strings.Repeat("x", 70<<10):    http.StatusBadRequest,
		`{"dimensions": {"tenant": "a"}} `:   http.StatusOK,
		`{"dimensions": {"unknown": "any"}}`: http.StatusOK,
	} {
		if w := post(h, "/v1/check", body); w.Code != want {
			t.Errorf("%.40q: %d %s", body, w.Code, w.Body)
		}
	}
	if w := post(h, "/v1/release", `{}`); w.Code != http.StatusBadRequest {
		t.Errorf("release without an id: %d", w.Code)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"dimensions": {"tenant": "acme"}, "cost": 1}`)
	h := handler(f, memstore.New())
	f.Fuzz(func(t *testing.T, body string) {
		if w := post(h, "/v1/check", body); w.Code >= 500 {
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
	})
}

// TestSpentIsChargedPastTheLimit: 3 of 2 are spent; giving one back leaves none.
func TestSpentIsChargedPastTheLimit(t *testing.T) {
	h := handler(t, memstore.New())
	spent := post(h, "/v1/check", `{"dimensions": {"tenant": "acme"}, "cost": 3, "mode": "spent"}`)
	if spent.Code != http.StatusTooManyRequests {
		t.Errorf("spent: %d %s", spent.Code, spent.Body)
	}
	post(h, "/v1/check", `{"dimensions": {"tenant": "acme"}, "mode": "refund"}`)
	if next := post(h, "/v1/check", `{"dimensions": {"tenant": "acme"}}`); next.Code != http.StatusTooManyRequests {
		t.Errorf("next: %d %s", next.Code, next.Body)
	}
	post(h, "/v1/check", `{"dimensions": {"tenant": "acme"}, "mode": "refund"}`)
	if next := post(h, "/v1/check", `{"dimensions": {"tenant": "acme"}}`); next.Code != http.StatusOK {
		t.Errorf("after another refund: %d %s", next.Code, next.Body)
	}
}

// TestBoundsAreThoseOfGRPC: what the gRPC API refuses is refused here, too. A
// name that stands twice would be whichever came last, and values that are not
// UTF-8 would all be the same.
func TestBoundsAreThoseOfGRPC(t *testing.T) {
	long := make(map[string]string)
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		long[name] = strings.Repeat("x", 4<<10)
	}
	tooMuch, err := json.Marshal(map[string]any{"dimensions": long})
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"more than 32 KiB":  string(tooMuch),
		"a dimension twice": `{"dimensions": {"tenant": "acme", "tenant": "globex"}}`,
		"not UTF-8":         "{\"dimensions\": {\"tenant\": \"\xff\"}}",
	} {
		for _, path := range []string{"/v1/check", "/v1/release"} {
			if w := post(handler(t, memstore.New()), path, body); w.Code != http.StatusBadRequest {
				t.Errorf("%s: %s: %d %s", path, name, w.Code, w.Body)
			}
		}
	}
	delete(long, "a")
	fits, err := json.Marshal(map[string]any{"dimensions": long})
	if err != nil {
		t.Fatal(err)
	}
	if w := post(handler(t, memstore.New()), "/v1/check", string(fits)); w.Code != http.StatusOK {
		t.Errorf("28 KiB: %d %s", w.Code, w.Body)
	}
}
