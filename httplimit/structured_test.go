package httplimit

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dunglas/httpsfv"
)

func TestParseList(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want []member
	}{
		{``, nil},
		{`"a";r=5;t=30`, []member{{"a", 5, 30, -1, -1, ""}}},
		{`"a";q=100;w=60;qu="content-bytes", "b c";q=1;w=2;pk=:cHJva28=:`, []member{{"a", -1, -1, 100, 60, "content-bytes"}, {"b c", -1, -1, 1, 2, ""}}},
		{` "\"\\" ; r=1 ;t=2`, nil}, // a space before a semicolon
		{`"a"; r=1`, []member{{"a", 1, -1, -1, -1, ""}}},
		{`"a";r=1;r=2`, []member{{"a", 2, -1, -1, -1, ""}}},
		{`"a";r=-1;t=1.5;q="x";w`, []member{{"a", -1, -1, -1, -1, ""}}},
		{`"a";x;y=?1;z=tok/en;d=@12;e=%"f%c3%bc"`, []member{{"a", -1, -1, -1, -1, ""}}},
		{`"a";r=999999999999999`, []member{{"a", 999999999999999, -1, -1, -1, ""}}},
	} {
		have, _ := parseList([]string{tc.in})
		if !slices.Equal(have, tc.want) {
			t.Errorf("%s: %+v, want %+v", tc.in, have, tc.want)
		}
	}
	for _, in := range []string{
		`a;r=1`, `1`, `("a")`, `"a`, `"a",`, `"a" "b"`, `"a";`, `"a";R=1`, `"a";r=`, `"a";r=1234567890123456`, `"a";r=1.`, `"a";r=1.2345`,
		`"\x"`, "\"\x01\"", `"a";r=--1`, `"a";p=:x`, `"a";d=@1.5`, `"a";e=%"%zz"`, `"a";e=%"%ff"`, `limit=100, remaining=50`,
		`"a"` + strings.Repeat(`,"a"`, maxMembers), `"` + strings.Repeat("a", maxFieldBytes) + `"`,
	} {
		if have, ok := parseList([]string{in}); ok {
			t.Errorf("%.80s is taken for %+v", in, have)
		}
	}
	if have, ok := parseList([]string{`"a";r=1`, `"b";r=2`}); !ok || len(have) != 2 {
		t.Errorf("two lines: %v %v", have, ok)
	}
}

// FuzzParseList compares with a full parser of structured fields.
func FuzzParseList(f *testing.F) {
	for _, s := range []string{
		`"a";r=5;t=30, "b";r=1`, `"a";q=100;w=60;qu="x";pk=:cHJva28=:`, `"a";d=@12;e=%"f%c3%bc";f=1.5;g=?0;h=t*`, `"\"\\"`, `"a";r`, ` "a" , "b"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if len(in) > maxFieldBytes {
			return
		}
		have, ok := parseList([]string{in})
		list, err := httpsfv.UnmarshalList([]string{in})
		if _, padding := errors.AsType[base64.CorruptInputError](err); padding && ok {
			return // the standard lets parsers accept what has no padding; the other does not
		}
		want := err == nil && len(list) <= maxMembers
		for _, m := range list {
			item, isItem := m.(httpsfv.Item)
			if !isItem {
				want = false
				break
			}
			if _, isString := item.Value.(string); !isString {
				want = false
			}
		}
		if ok != want {
			t.Fatalf("%q: taken %v, want %v (%v)", in, ok, want, err)
		}
		if !ok {
			return
		}
		if len(have) != len(list) {
			t.Fatalf("%q: %d members, want %d", in, len(have), len(list))
		}
		for i, m := range have {
			item := list[i].(httpsfv.Item)
			if m.name != item.Value.(string) || m.r != integer(item, "r") || m.t != integer(item, "t") || m.q != integer(item, "q") || m.w != integer(item, "w") {
				t.Errorf("%q: %+v, want %+v", in, m, item)
			}
			if v, _ := item.Params.Get("qu"); true {
				if s, _ := v.(string); m.unit != s {
					t.Errorf("%q: unit %q, want %q", in, m.unit, s)
				}
			}
		}
	})
}

func integer(item httpsfv.Item, name string) int64 {
	v, _ := item.Params.Get(name)
	if n, ok := v.(int64); ok && n >= 0 {
		return n
	}
	return -1
}
