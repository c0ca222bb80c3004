package policyfile

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestReportAsJSON: an operator reads it, from an endpoint or a log.
func TestReportAsJSON(t *testing.T) {
	b := newBench(t)
	b.write("p/a.yaml", "domain a")
	b.write("p/b.yaml", "domain b")
	b.load("a.yaml=a b.yaml=b")
	b.write("p/a.yaml", "domain a", "bad")
	r := b.load("a.yaml=a b.yaml=b")
	if r.Took <= 0 || r.At.IsZero() {
		t.Errorf("took %v, ended at %v", r.Took, r.At)
	}
	data, err := json.Marshal(r)
	b.must(err)
	var back Report
	b.must(json.Unmarshal(data, &back))
	if !back.same(r) || !back.At.Equal(r.At) || back.Took != r.Took {
		t.Errorf("%s\nbecame %+v\nof %+v", data, back, r)
	}
	for _, want := range []string{`"state":"stale"`, `"since":"`, `"loaded_at":"`, `"took_ns":`, "bad is not allowed", "remove it"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("there is no %s in %s", want, data)
		}
	}
	if strings.Count(string(data), `"since"`) != 1 {
		t.Errorf("a current file has a since: %s", data)
	}
}
