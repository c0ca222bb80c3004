package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

func TestParsePairs(t *testing.T) {
	for text, want := range map[string][]weir.Pair{
		"a=b":             {{Name: "a", Value: "b"}},
		"a=b,c=d":         {{Name: "a", Value: "b"}, {Name: "c", Value: "d"}},
		"a=":              {{Name: "a"}},
		"a=b=c":           {{Name: "a", Value: "b=c"}},
		`a=b\,c,d=e`:      {{Name: "a", Value: "b,c"}, {Name: "d", Value: "e"}},
		`a\=b=c`:          {{Name: "a=b", Value: "c"}},
		`a=\\`:            {{Name: "a", Value: `\`}},
		`a=b\`:            {{Name: "a", Value: `b\`}},
		"path=/v1/x?y=1":  {{Name: "path", Value: "/v1/x?y=1"}},
		"tenant=\x00\xff": {{Name: "tenant", Value: "\x00\xff"}},
	} {
		got, err := parsePairs("descriptor", text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "a", ",", "a=b,", ",a=b", "=b", "a=b,c", `a\=b`} {
		if got, err := parsePairs("descriptor", text); err == nil || !strings.Contains(err.Error(), "is not name=value") {
			t.Errorf("%q: %q, %v; want an error", text, got, err)
		}
	}
}

// FuzzPairsText: what is shown of a request can be pasted back.
func FuzzPairsText(f *testing.F) {
	f.Add("tenant", "acme", "path", "/a,b=c\\")
	f.Add(`a\,=`, "", "=", ",")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		want := []weir.Pair{{Name: "x" + a, Value: b}, {Name: "y" + c, Value: d}}
		got, err := parsePairs("dimension", pairsText(want))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q reads as %q, %v; want %q", pairsText(want), got, err, want)
		}
	})
}

func TestSubject(t *testing.T) {
	pairs := func(text string) []weir.Pair {
		out, err := parsePairs("dimension", text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, tc := range []struct {
		name  string
		flags subjectFlags
		want  subject
	}{
		{
			"an Envoy request",
			subjectFlags{domain: "api", descriptors: []string{"a=1,b=2", "c=3"}, hits: 5},
			subject{Request: weir.Request{
				Domain: "api", Cost: 5, Descriptors: []weir.Descriptor{{Pairs: pairs("a=1,b=2")}, {Pairs: pairs("c=3")}},
			}},
		},
		{
			"an Envoy look",
			subjectFlags{domain: "api", descriptors: []string{"a=1"}},
			subject{Request: weir.Request{Domain: "api", Descriptors: []weir.Descriptor{{Pairs: pairs("a=1"), HasCost: true}}}},
		},
		{
			"dimensions are of one descriptor",
			subjectFlags{dimensions: []string{"a=1,b=2", "c=3"}, hits: 1},
			subject{native: true, Request: weir.Request{
				Domain: "default", Cost: 1, Descriptors: []weir.Descriptor{{Pairs: pairs("a=1,b=2,c=3")}},
			}},
		},
		{
			"a policy alone",
			subjectFlags{domain: "api", policy: "p", id: "42", hits: 1},
			subject{native: true, Request: weir.Request{
				Domain: "api", Policy: "p", ID: "42", Cost: 1, Descriptors: []weir.Descriptor{{}},
			}},
		},
	} {
		got, err := tc.flags.parse()
		if err != nil || !reflect.DeepEqual(*got, tc.want) {
			t.Errorf("%s: %+v, %v; want %+v", tc.name, got, err, tc.want)
		}
	}
}
