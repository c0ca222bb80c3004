package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/httpapi"
)

func TestShedIs503(t *testing.T) {
	h := httpapi.New(enginetest.New(t, `
policies:
  - {id: fleet, match: {priority: [test, read, write]}, limits: 1/h, answer: unavailable, on_failure: open}
`, engine.Options{}))
	body := `{"dimensions": {"method": "GET"}}`
	post(h, "/v1/check", body)
	w := post(h, "/v1/check", body)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
		w.Header().Get("Content-Type") != "application/problem+json" ||
		!strings.Contains(w.Body.String(), "#temporary-reduced-capacity") || !strings.Contains(w.Body.String(), `"code":"shed"`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := post(h, "/v1/check", `{"dimensions": {"priority": "critical"}}`); w.Code != http.StatusOK {
		t.Errorf("critical: %d %s", w.Code, w.Body)
	}
}
