package admin

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestHotKeys(t *testing.T) {
	asked := 0
	keys := []HotKey{{Key: "{acme}3:api\n", Rate: 1234.4, Error: 5, Hot: true, Lease: 123}, {Key: "{b}", Rate: 12}}
	o := all()
	o.Pages = []Page{HotKeys(func(n int) []HotKey { asked = n; return keys[:min(n, len(keys))] })}
	h := New(o)
	if w := ask(h, "GET", "/hotkeys"); asked != 20 || w.Body.String() != "1234/s (up to 5 less) \"{acme}3:api\\n\" hot, leased by 123\n12/s (up to 0 less) \"{b}\"\n" {
		t.Errorf("asked for %d: %q", asked, w.Body)
	}
	for _, w := range []*struct {
		path   string
		header []string
	}{{"/hotkeys?format=json&n=1", nil}, {"/hotkeys?n=1", []string{"Accept", "application/json"}}} {
		var got struct{ Keys []HotKey }
		body := ask(h, "GET", w.path, w.header...)
		if err := json.Unmarshal(body.Body.Bytes(), &got); err != nil || len(got.Keys) != 1 || got.Keys[0] != keys[0] {
			t.Errorf("%s: %v %s", w.path, err, body.Body)
		}
	}
	for _, query := range []string{"n=0", "n=101", "n=x", "format=xml"} {
		if w := ask(h, "GET", "/hotkeys?"+query); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", query, w.Code)
		}
	}
	keys = nil
	if w := ask(h, "GET", "/hotkeys?format=json"); !strings.Contains(w.Body.String(), `"keys": []`) {
		t.Errorf("none: %s", w.Body)
	}
	if w := ask(h, "GET", "/hotkeys"); !strings.HasPrefix(w.Body.String(), "no counter") {
		t.Errorf("none: %s", w.Body)
	}
}
