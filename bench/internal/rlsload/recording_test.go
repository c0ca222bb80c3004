package rlsload

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestRecordingRoundTrip(t *testing.T) {
	want := Recording{
		{Domain: "shop", Hits: 3, Descriptors: []Descriptor{{{"tenant", "acme"}, {"path", "/login"}}, {{"tenant", ""}}}},
		{Domain: "edge", Descriptors: []Descriptor{{{"k", "v"}}}},
	}
	var b bytes.Buffer
	if _, err := want.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if text := "shop 3 tenant=acme,path=/login|tenant=\nedge 0 k=v\n"; b.String() != text {
		t.Errorf("text is %q, want %q", b.String(), text)
	}
	got, err := ReadRecording(&b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v, want %+v", got, err, want)
	}
}

func TestReadRecordingRefuses(t *testing.T) {
	for _, text := range []string{
		"shop 1", "shop x k=v", "shop -1 k=v", "shop 1 k", "shop 1 =v", "shop 1 k=a=b", "shop 1 k=v|", "shop 1 k=v,",
		" 1 k=v", "shop 1 k=v extra", "a|b 1 k=v", "shop 1 k=\x7f", "shop 4294967296 k=v",
		"shop 1 k=" + strings.Repeat("v", maxLine),
	} {
		if r, err := ReadRecording(strings.NewReader("ok 1 k=v\n" + text + "\n")); err == nil {
			t.Errorf("%.40q is read as %+v", text, r)
		}
	}
}

// What is read can be written and read again.
func FuzzReadRecording(f *testing.F) {
	f.Add("shop 1 tenant=acme,path=/login|tenant=acme\n")
	f.Add("edge 0 k=v\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ReadRecording(strings.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if _, err := r.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		again, err := ReadRecording(&b)
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%+v, %v, want %+v", again, err, r)
		}
	})
}
