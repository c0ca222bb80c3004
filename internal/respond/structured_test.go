package respond_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/dunglas/httpsfv"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/respond"
)

// parseList reads a structured field with a parser that is not ours.
func parseList(t testing.TB, value []byte) []httpsfv.Item {
	t.Helper()
	list, err := httpsfv.UnmarshalList([]string{string(value)})
	if err != nil {
		t.Fatalf("%v in %s", err, value)
	}
	items := make([]httpsfv.Item, len(list))
	for i, member := range list {
		items[i] = member.(httpsfv.Item)
	}
	return items
}

// TestRoundTrip: what is encoded here reads, and is written again by an encoder
// that is not ours, byte for byte.
func TestRoundTrip(t *testing.T) {
	for _, rule := range []string{"api", "a b", " edges ", `quote"d`, `back\slash`, "100%", "žluťoučký", "\x00\x7f\xff", "", "a,b;c=d", strings.Repeat("x", 96), strings.Repeat("é", 2000)} {
		for _, text := range []string{"1/s", "10000000/365d", "7/s burst 10000000", "1000 concurrency 365d"} {
			d := denied(t, rule, text, 3*weir.Second, charged(t, rule, text, false), charged(t, rule, "9/90s", true))
			a := respond.To(d, now, nil)
			for _, value := range [][]byte{a.AppendPolicies(nil), a.AppendRateLimit(nil)} {
				list, err := httpsfv.UnmarshalList([]string{string(value)})
				if err != nil {
					t.Fatalf("%v in %s", err, value)
				}
				again, err := httpsfv.Marshal(list)
				if err != nil || again != string(value) {
					t.Errorf("%q is written %q by others (%v)", value, again, err)
				}
			}
		}
	}
}

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		text string
		want map[string]any
	}{
		{"100/m", map[string]any{"q": int64(100), "w": int64(60)}},
		{"100/s burst 200", map[string]any{"q": int64(100), "w": int64(1), "weir-burst": int64(200)}},
		{"100/s burst 100", map[string]any{"q": int64(100), "w": int64(1)}},
		{"5 concurrency 30s", map[string]any{"q": int64(5), "qu": "concurrent-requests"}},
	} {
		a := respond.To(allowed(t, "api", c.text, 3), now, nil)
		item := parseList(t, a.AppendPolicies(nil))[0]
		if have := item.Params.Names(); len(have) != len(c.want) {
			t.Errorf("%s: parameters %v", c.text, have)
		}
		for name, want := range c.want {
			if have, _ := item.Params.Get(name); have != want {
				t.Errorf("%s: %s is %v, want %v", c.text, name, have, want)
			}
		}
	}
}

// TestNumbersStayInRange: whatever a store answered, the field is one.
func TestNumbersStayInRange(t *testing.T) {
	d := allowed(t, "api", "5/m", 1<<62)
	d.ResetAfter = weir.Never
	a := respond.To(d, now, nil)
	if have := string(a.AppendRateLimit(nil)); have != `"api";r=999999999999999;t=9223372036855` {
		t.Error(have)
	}
	d.Remaining, d.ResetAfter = -3, -weir.Second
	if have := string(a.AppendRateLimit(nil)); have != `"api";r=0;t=0` {
		t.Error(have)
	}
	if have := fmt.Sprint(lines(&a)); !strings.Contains(have, "X-RateLimit-Remaining: 0 X-RateLimit-Reset: 1767225601 ") {
		t.Error(have)
	}
	d.ResetAfter = weir.Never - 1
	if have := fmt.Sprint(lines(&a)); !strings.Contains(have, "X-RateLimit-Reset: 9223372036855 ") {
		t.Error(have)
	}
}

// Distinct long names stay distinct, and none fills a header.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("key_value.", 500)
	seen := map[string]bool{}
	for _, rule := range []string{long + "a", long + "b", long[:96], long[:97]} {
		a := respond.To(allowed(t, rule, "5/m", 1), now, nil)
		name := string(a.AppendName(nil))
		if len(name) > 96 || seen[name] {
			t.Errorf("%d bytes, seen before: %v: %s", len(name), seen[name], name)
		}
		seen[name] = true
	}
	if !seen[long[:96]] {
		t.Error("a name of 96 bytes is not left as it is")
	}
}

func FuzzName(f *testing.F) {
	for _, seed := range []string{"api", "é\"\\%", " ", "\x00\xff", "a\r\nSet-Cookie: x=1", strings.Repeat("\"", 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, rule string) {
		if rule == "" {
			return // has a name of its own
		}
		a := respond.To(denied(t, rule, "5/m", weir.Second), now, nil)
		for _, value := range [][]byte{a.AppendPolicies(nil), a.AppendRateLimit(nil)} {
			item := parseList(t, value)[0]
			if len(rule) > 96 {
				continue
			}
			back, err := url.PathUnescape(item.Value.(string))
			if err != nil || back != rule {
				t.Errorf("%q became %q (%v)", rule, back, err)
			}
		}
		for _, line := range lines(&a) {
			for i := range len(line) {
				if line[i] < ' ' || line[i] > '~' {
					t.Errorf("%q is no header line", line)
				}
			}
			if strings.TrimSpace(line) != line {
				t.Errorf("%q loses a space in parsing", line)
			}
		}
		body := problem(t, &a)
		if have := body.Violated; len(have) != 1 || have[0] != parseList(t, a.AppendRateLimit(nil))[0].Value {
			t.Errorf("the body names %q, the field %s", have, a.AppendRateLimit(nil))
		}
	})
}
