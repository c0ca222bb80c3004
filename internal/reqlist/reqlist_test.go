package reqlist

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

const sample = `weir-requests 1
# by hand

api	1	tenant=acme
api	2	tenant=acme,path=/a\,b\=c=d	user=b\tob\\
d\n	0	empty=
`

func all(t *testing.T, text string) ([]weir.Request, error) {
	t.Helper()
	var out []weir.Request
	err := Read(strings.NewReader(text), func(r *weir.Request) error {
		c := *r
		c.Descriptors = append([]weir.Descriptor(nil), r.Descriptors...)
		out = append(out, c)
		return nil
	})
	return out, err
}

func TestRead(t *testing.T) {
	got, err := all(t, sample)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{api 1 [[{tenant acme}]]} {api 2 [[{tenant acme} {path /a,b=c=d}] [{user b	ob\}]]} {d
 0 [[{empty }]]}]`
	type short struct {
		domain      string
		cost        int64
		descriptors [][]weir.Pair
	}
	var texts []short
	for _, r := range got {
		s := short{domain: r.Domain, cost: r.Cost}
		for _, d := range r.Descriptors {
			s.descriptors = append(s.descriptors, d.Pairs)
			if d.HasCost != (r.Cost == 0) {
				t.Errorf("%+v: a cost of 0 is the descriptor's", r)
			}
		}
		texts = append(texts, s)
	}
	if text := fmt.Sprint(texts); text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "line 1 is missing",
		"GET / HTTP/1.1\n":                    `line 1 is not "weir-requests 1"`,
		"weir-requests 2\n":                   `line 1 has version "2"; this program reads version 1`,
		"weir-requests 1\na\t1\n":             "line 2 has fewer than three columns",
		"weir-requests 1\n\t1\ta=b\n":         "line 2 has no domain",
		"weir-requests 1\na\t-1\ta=b\n":       `line 2 cost "-1" is not a number`,
		"weir-requests 1\n\na\t1\ta\n":        `line 3 "a" is not name=value`,
		"weir-requests 1\na\t1\t=b\n":         `line 2 "=b" is not name=value`,
		"weir-requests 1\na\t1\ta=b,\n":       `line 2 "" is not name=value`,
		"weir-requests 1\na\t1\ta=\\x\n":      `line 2 \x is no escape`,
		"weir-requests 1\na\t1\ta=\\\n":       "line 2 ends with a backslash",
		"weir-requests 1\na\t1\ta=\xff\n":     "line 2 is not UTF-8",
		"weir-requests 1\na\t4294967296\ta=b": `line 2 cost "4294967296"`,
		"weir-requests 1\na\t1" + strings.Repeat("\ta=b", 17) + "\n":                    "line 2 has more than 16 descriptors",
		"weir-requests 1\na\t1\t" + strings.TrimSuffix(strings.Repeat("a=b,", 17), ","): "line 2 a descriptor has more than 16 pairs",
		"weir-requests 1\na\t1\ta=" + strings.Repeat("x", MaxLine):                      "line 2 has more than 16384 bytes",
	} {
		_, err := all(t, text)
		e, ok := errors.AsType[*weir.Error](err)
		if !ok || e.Code != weir.CodeInvalid || !strings.HasPrefix(e.Field+" "+e.Message, want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
	stop := errors.New("enough")
	if err := Read(strings.NewReader(sample), func(*weir.Request) error { return stop }); !strings.Contains(err.Error(), "line 4") {
		t.Errorf("error of the caller: %v", err)
	}
}

// FuzzRead: what is read can be written, and is then the same.
func FuzzRead(f *testing.F) {
	f.Add(sample)
	f.Add("weir-requests 1\na\t1\ta=b")
	f.Fuzz(func(t *testing.T, text string) {
		var once, twice bytes.Buffer
		w := NewWriter(&once)
		err := Read(strings.NewReader(text), func(r *weir.Request) error {
			if err := w.Write(r); err != nil && len(w.line) <= MaxLine && r.Domain[0] != '#' {
				t.Fatal(err)
			}
			return nil
		})
		if err != nil {
			return
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		w = NewWriter(&twice)
		if err := Read(bytes.NewReader(once.Bytes()), w.Write); err != nil {
			t.Fatalf("%v\n%s", err, once.String())
		}
		if err := w.Flush(); err != nil || once.String() != twice.String() {
			t.Fatalf("%v: %q, then %q", err, once.String(), twice.String())
		}
	})
}

func ExampleWriter() {
	w := NewWriter(os.Stdout)
	r := weir.Request{Domain: "api", Cost: 1, Descriptors: []weir.Descriptor{
		{Pairs: []weir.Pair{{Name: "tenant", Value: "acme"}, {Name: "path", Value: "/a,b"}}},
	}}
	if err := w.Write(&r); err != nil {
		fmt.Println(err)
	}
	if err := w.Flush(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// weir-requests 1
	// api	1	tenant=acme,path=/a\,b
}
