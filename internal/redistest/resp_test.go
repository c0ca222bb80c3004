package redistest

import (
	"bufio"
	"reflect"
	"strings"
	"testing"
)

func TestReadReply(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   string
		want any
	}{
		{"+OK\r\n", "OK"},
		{"-ERR no\r\n", ReplyError("ERR no")},
		{":-7\r\n", int64(-7)},
		{"$-1\r\n", nil},
		{"*-1\r\n", nil},
		{"$0\r\n\r\n", ""},
		{"$4\r\na\r\nb\r\n", "a\r\nb"},
		{"*3\r\n:1\r\n-ERR x\r\n*1\r\n$1\r\nk\r\n", []any{int64(1), ReplyError("ERR x"), []any{"k"}}},
	} {
		c := &conn{r: bufio.NewReader(strings.NewReader(tc.in))}
		if got, err := c.read(); err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("read(%q) = %#v, %v, want %#v", tc.in, got, err, tc.want)
		}
	}
	for _, in := range []string{"", "\n", "+OK", "+OK\n", ":x\r\n", "$5\r\nab", "$-2\r\n", "*2\r\n:1\r\n", "?1\r\n", "$999999999999\r\n"} {
		c := &conn{r: bufio.NewReader(strings.NewReader(in))}
		if got, err := c.read(); err == nil {
			t.Errorf("read(%q) = %#v, want an error", in, got)
		}
	}
}

func TestParseTopology(t *testing.T) {
	t.Parallel()
	top, err := parseTopology("" +
		"aa 127.0.0.1:1@11 myself,master - 0 0 1 connected 0-99 200 [77->-bb]\n" +
		"bb 127.0.0.1:2@12,host master,fail? - 0 0 2 connected 100-199\n" +
		"cc 127.0.0.1:3@13 slave aa 0 0 1 disconnected\n")
	if err != nil {
		t.Fatal(err)
	}
	for slot, want := range map[int]string{0: "aa", 77: "aa", 99: "aa", 100: "bb", 200: "aa", 201: ""} {
		if got := top.owner(slot); got != want {
			t.Errorf("owner of %d = %q, want %q", slot, got, want)
		}
	}
	for id, want := range map[string]bool{"aa": true, "bb": false, "cc": false} {
		if n, ok := top.node(id); !ok || n.healthy() != want {
			t.Errorf("healthy of %s = %v, want %v", id, n.healthy(), want)
		}
	}
	if n, _ := top.node("cc"); n.master != "aa" || !n.has("slave") {
		t.Errorf("replica = %+v", n)
	}
	for _, bad := range []string{"aa 127.0.0.1:1@11 master\n", "aa x master - 0 0 1 connected 1-x\n"} {
		if _, err := parseTopology(bad); err == nil {
			t.Errorf("parseTopology(%q) is no error", bad)
		}
	}
}
