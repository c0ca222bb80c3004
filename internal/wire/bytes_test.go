package wire_test

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/wire"
)

var amounts = rapid.OneOf(rapid.Int64Range(0, 200), rapid.Int64(), rapid.Just(int64(weir.Never)))

func limit(t *rapid.T) weir.Limit {
	return rapid.SampledFrom([]weir.Limit{
		{},
		{Algorithm: weir.GCRA, Count: 100, Window: weir.Second, Burst: 200},
		{Algorithm: weir.Concurrency, Count: 3, Window: 30 * weir.Second},
		{Algorithm: weir.FixedWindow, Count: 1e7, Window: weir.Year},
		{Algorithm: weir.SlidingLog, Count: 7, Window: 90 * weir.Second},
	}).Draw(t, "limit")
}

// TestAppendAnswer: what is appended is, byte for byte, what protobuf writes.
func TestAppendAnswer(t *testing.T) {
	var buffer []byte
	rapid.Check(t, func(t *rapid.T) {
		micros := func(name string) weir.Micros { return weir.Micros(amounts.Draw(t, name)) }
		name := rapid.SampledFrom([]string{"", "p", strings.Repeat("policy", 30)})
		d := &weir.Decision{
			Verdict: weir.Verdict(rapid.IntRange(1, 2).Draw(t, "verdict")), Reason: weir.Reason(rapid.IntRange(0, 6).Draw(t, "reason")),
			Source: weir.Source(rapid.IntRange(0, 5).Draw(t, "source")), Rule: name.Draw(t, "rule"), Scope: name.Draw(t, "scope"), Limit: limit(t),
			Remaining: amounts.Draw(t, "remaining"), ResetAfter: micros("reset"), RetryAfter: micros("retry"), Delay: micros("delay"),
			PolicyVersion: name.Draw(t, "version"), Replayed: rapid.Bool().Draw(t, "replayed"),
		}
		for range rapid.IntRange(0, 4).Draw(t, "charges") {
			d.Charges = append(d.Charges, weir.Charged{
				Rule: name.Draw(t, "charged"), Limit: limit(t), Cost: amounts.Draw(t, "cost"), Mode: weir.Mode(rapid.IntRange(0, 5).Draw(t, "mode")),
				Outcome: weir.Outcome{
					OK: rapid.Bool().Draw(t, "ok"), Granted: amounts.Draw(t, "granted"), Remaining: amounts.Draw(t, "left"),
					ResetAfter: micros("its reset"), RetryAfter: micros("its retry"), Delay: micros("its delay"),
					Before: weir.Usage{Used: amounts.Draw(t, "used")},
				},
			})
		}
		in := &weirv1.CheckRequest{Number: rapid.Uint64().Draw(t, "number"), WantCharges: rapid.Bool().Draw(t, "want charges")}
		var out weirv1.CheckResponse
		wire.Answer(d, in, &out)
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(&out)
		if err != nil {
			t.Fatal(err)
		}
		buffer = wire.AppendAnswer(buffer[:0], d, in)
		if !bytes.Equal(buffer, want) {
			t.Errorf("%+v:\n%x\nwant\n%x", d, buffer, want)
		}
	})
}

// FuzzScan reads what protobuf reads, and refuses what it refuses.
func FuzzScan(f *testing.F) {
	for _, m := range []*weirv1.CheckRequest{
		{}, {Domain: "d", Dimensions: make([]*weirv1.Dimension, 70)}, {
			Domain: "d", Policy: "p", Dimensions: []*weirv1.Dimension{{Name: "n", Value: "v"}, {Name: "é"}}, Cost: -3, RequestId: "id",
			Number: 1 << 63, Mode: weirv1.Mode_MODE_SPENT, TimeoutUs: 77, WantCharges: true,
		},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(append(b, b...))
	}
	f.Add([]byte("\x0a\x01\xff\x0a\x01d"))
	f.Add([]byte("\x1a\x04\x0a\x02\xc3\xa9\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x80\x01\x80\x80\x80\x80\x10"))
	f.Add([]byte("\x1a\x03\x0a\x02\xc3\x08\x01"))
	var s wire.Scanned
	f.Fuzz(func(t *testing.T, b []byte) {
		var want weirv1.CheckRequest
		err, wantErr := s.Scan(string(b)), proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(b, &want)
		if (err == nil) != (wantErr == nil) {
			if len(b) <= 64 || wantErr != nil { // else there may be groups within groups
				t.Errorf("%x: %v, protobuf says %v", b, err, wantErr)
			}
			return
		}
		if err != nil {
			return
		}
		if n := len(want.Dimensions); n > wire.MaxDimensions {
			if len(s.Message.Dimensions) != n {
				t.Errorf("%x: %d dimensions, want %d", b, len(s.Message.Dimensions), n)
			}
			return
		}
		if !proto.Equal(&s.Message, &want) {
			t.Errorf("%x: read\n%v\nprotobuf reads\n%v", b, &s.Message, &want)
		}
	})
}
