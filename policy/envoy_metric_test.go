package policy

import (
	"fmt"
	"strings"
	"testing"
)

const measured = `
domain: d
descriptors:
  - key: plain
    rate_limit: &l {unit: second, requests_per_unit: 1}
  - key: plain
    value: v
    rate_limit: *l
  - key: wild
    value: a*
    rate_limit: *l
  - key: wild
    value: b*
    value_to_metric: true
    rate_limit: *l
  - key: wild
    value: c*
    value_to_metric: true
    share_threshold: true
    rate_limit: *l
  - key: top
    value_to_metric: true
    descriptors:
      - key: below
        rate_limit: *l
  - key: detail
    descriptors:
      - key: below
        detailed_metric: true
        rate_limit: *l
  - key: shared
    value: s*
    share_threshold: true
    descriptors:
      - key: below
        detailed_metric: true
        rate_limit: *l
`

// TestEnvoyMetricKeys: the runtime value is in the key where the flags say so.
func TestEnvoyMetricKeys(t *testing.T) {
	s := envoySet(t, Options{}, measured)
	keys := NewMetricKeys(100)
	for _, tc := range []struct{ name, ask, want string }{
		{"bare key", "plain=x", "d.plain"},
		{"literal value", "plain=v", "d.plain_v"},
		{"wildcard", "wild=abc", "d.wild_a*"},
		{"value_to_metric of a wildcard", "wild=bcd", "d.wild_bcd"},
		{"share_threshold goes before value_to_metric", "wild=cde", "d.wild_c*"},
		{"value_to_metric on the way", "top=x,below=y", "d.top_x.below"},
		{"detailed_metric has all values", "detail=x,below=y", "d.detail_x.below_y"},
		{"detailed_metric of an empty value", "detail=,below=y", "d.detail.below_y"},
		{"share_threshold goes before detailed_metric", "shared=s1,below=y", "d.shared_s*.below_y"},
		{"a long value is cut", "wild=b" + strings.Repeat("x", 100), "d.wild_b" + strings.Repeat("x", maxMetricValue-1)},
		{"a long value is cut between characters", "wild=b" + strings.Repeat("é", 100), "d.wild_b" + strings.Repeat("é", (maxMetricValue-1)/2)},
		{"no match", "nobody=1", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := envoyAsk(tc.ask)
			p := resolved(t, s, r)
			if got := string(p.AppendMetricKey(nil, r, 0)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if got := keys.Of(p, r, 0); got != tc.want {
				t.Errorf("of the bounded keys: got %q, want %q", got, tc.want)
			}
		})
	}
	r := envoyAsk("plain=x")
	r.Descriptors[0].Limit = overrideWith
	if got := keys.Of(resolved(t, s, r), r, 0); got != "d.%override" {
		t.Errorf("of a limit of the request's own: %q", got)
	}
}

// TestMetricKeysBound: when the keys are used up, new values count under their
// rule, and known ones keep theirs.
func TestMetricKeysBound(t *testing.T) {
	s := envoySet(t, Options{}, measured)
	keys := NewMetricKeys(2)
	var got []string
	for _, v := range []string{"1", "2", "3", "1", "3"} {
		r := envoyAsk("wild=b" + v)
		got = append(got, keys.Of(resolved(t, s, r), r, 0))
	}
	if want := "d.wild_b1 d.wild_b2 d.wild_b* d.wild_b1 d.wild_b*"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestMetricKeysAllocateNothing(t *testing.T) {
	s := envoySet(t, Options{}, measured)
	keys := NewMetricKeys(10)
	for _, ask := range []string{"plain=x", "wild=bcd", "detail=x,below=y"} {
		r := envoyAsk(ask)
		p := resolved(t, s, r)
		keys.Of(p, r, 0)
		if n := testing.AllocsPerRun(100, func() { keys.Of(p, r, 0) }); n != 0 {
			t.Errorf("%s: %v allocations", ask, n)
		}
	}
}

func ExampleMetricKeys() {
	f, _ := ParseEnvoy("a.yaml", []byte(`
domain: api
descriptors:
  - key: path
    value: /v1/*
    value_to_metric: true
    rate_limit: {unit: second, requests_per_unit: 5}
`))
	s, _ := Compile([]*File{{Envoy: f}}, Options{})
	keys := NewMetricKeys(2)
	for i := range 3 {
		r := envoyAsk(fmt.Sprintf("path=/v1/%d", i))
		r.Domain = "api"
		var p Plan
		if err := s.Resolve(r, &p); err != nil {
			panic(err)
		}
		fmt.Println(keys.Of(&p, r, 0))
	}
	// Output:
	// api.path_/v1/0
	// api.path_/v1/1
	// api.path_/v1/*
}
