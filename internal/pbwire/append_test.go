package pbwire_test

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weirlimit/weir/internal/pbwire"
)

func TestAppend(t *testing.T) {
	var got, want []byte
	for _, v := range []uint64{1, 127, 128, 1 << 32, 1<<64 - 1} {
		got = pbwire.AppendUint(got, 1, v)
		want = protowire.AppendVarint(protowire.AppendTag(want, 1, protowire.VarintType), v)
		got = pbwire.AppendInt(got, 16, -int64(v>>1)-1)
		want = protowire.AppendVarint(protowire.AppendTag(want, 16, protowire.VarintType), uint64(-int64(v>>1)-1))
	}
	for _, n := range []int{1, 127, 128, 1 << 15} {
		text := strings.Repeat("x", n)
		got = pbwire.AppendText(got, 2, text)
		want = protowire.AppendString(protowire.AppendTag(want, 2, protowire.BytesType), text)
	}
	got = pbwire.AppendBool(got, 3, true)
	want = protowire.AppendVarint(protowire.AppendTag(want, 3, protowire.VarintType), 1)
	if !bytes.Equal(got, want) {
		t.Errorf("%x\nwant %x", got, want)
	}
	if b := pbwire.AppendBool(pbwire.AppendText(pbwire.AppendInt(pbwire.AppendUint(nil, 1, 0), 2, 0), 3, ""), 4, false); len(b) != 0 {
		t.Errorf("zeros are written: %x", b)
	}
}

// TestOpenClose: the length stands before the content, whatever it is.
func TestOpenClose(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 129, 1<<14 - 1, 1 << 14, 1 << 21} {
		content := bytes.Repeat([]byte("abc"), n/3+1)[:n]
		got, from := pbwire.Open([]byte("before"), 17)
		got = pbwire.Close(append(got, content...), from)
		want := protowire.AppendBytes(protowire.AppendTag([]byte("before"), 17, protowire.BytesType), content)
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %.20x, want %.20x", n, got, want)
		}
	}
}
