package rls_test

import (
	"reflect"
	"strings"
	"testing"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/weirlimit/weir/internal/rls"
)

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// messages are requests of all kinds, as bytes.
func messages(t testing.TB) map[string][]byte {
	full := withHits(d("tenant", "a", "path", "/api/x"), 7)
	full.IsNegativeHits = true
	full.Limit = &common.RateLimitDescriptor_RateLimitOverride{
		RequestsPerUnit: 1 << 31, Unit: typev3.RateLimitUnit_HOUR, UnitMultiplier: wrapperspb.UInt32(2),
	}
	many, long := &pb.RateLimitRequest{Domain: "test"}, d()
	for range rls.MaxDescriptors + 2 {
		many.Descriptors = append(many.Descriptors, d("tenant", "a"))
	}
	for range rls.MaxPairs + 2 {
		long.Entries = append(long.Entries, &common.RateLimitDescriptor_Entry{Key: "k", Value: "v"})
	}
	one := marshal(t, &pb.RateLimitRequest{Domain: "test", HitsAddend: 3, Descriptors: []*common.RateLimitDescriptor{full}})
	ask := func(d ...*common.RateLimitDescriptor) []byte {
		return marshal(t, &pb.RateLimitRequest{Domain: "test", Descriptors: d})
	}
	within := func(descriptor string) []byte {
		return append([]byte("\x0a\x04test\x12"), string(rune(len(descriptor)))+descriptor...)
	}
	return map[string][]byte{
		"empty":                      nil,
		"no domain":                  marshal(t, &pb.RateLimitRequest{Descriptors: []*common.RateLimitDescriptor{d("k", "v")}}),
		"no descriptor":              ask(),
		"full":                       one,
		"twice":                      append(append([]byte(nil), one...), one...),
		"three":                      ask(d("tenant", "a"), withHits(d("tenant", ""), 0), d()),
		"too many descriptors":       marshal(t, many),
		"too many entries":           ask(long),
		"a long domain":              marshal(t, &pb.RateLimitRequest{Domain: strings.Repeat("d", 300), Descriptors: []*common.RateLimitDescriptor{d("k", "v")}}),
		"a long key":                 ask(d(strings.Repeat("k", 257), "v")),
		"a long value":               ask(d("tenant", strings.Repeat("v", 60<<10))),
		"too many hits":              ask(withHits(d("tenant", "a"), 1<<63)),
		"a limit in two parts":       within("\x12\x02\x08\x05\x12\x02\x10\x01"),
		"hits in two parts":          within("\x1a\x02\x08\x05\x1a\x00"),
		"a multiplier in two parts":  within("\x12\x0e\x1a\x02\x08\x05\x08\x01\x10\x01\x1a\x04\x08\x81\x80\x00"),
		"too long a window":          within("\x12\x0c\x08\x01\x10\x04\x1a\x06\x08\xff\xff\xff\xff\x0f"),
		"a bad multiplier":           within("\x12\x03\x1a\x01\x08"),
		"a bad limit":                within("\x12\x01\x08"),
		"bad hits":                   within("\x1a\x01\x08"),
		"a bad entry":                within("\x0a\x01\x0a"),
		"a unit beyond 32 bits":      within("\x12\x07\x10\x81\x80\x80\x80\x10\x08"),
		"a unit below 0":             within("\x12\x0b\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		"hits beyond 32 bits":        []byte("\x0a\x04test\x12\x00\x18\x81\x80\x80\x80\x10"),
		"a bool of 2^32":             within("\x20\x80\x80\x80\x80\x10"),
		"a domain of another type":   []byte("\x08\x01\x12\x00"),
		"unknown fields":             append([]byte("\x0a\x04test\xa2\x06\x03abc\x95\x061234\x0b\x08\x01\x0c"), within("\x2a\x01x\x0a\x04\x1a\x02ab")...),
		"cut off":                    one[:len(one)-1],
		"no UTF-8":                   within("\x0a\x07\x0a\x01k\x12\x02\xff\xfe"),
		"one too many and malformed": append(marshal(t, many), "\x12\x02\x0a\x05"...),
	}
}

// TestScan: our decoder reads what protobuf reads, and refuses what it refuses.
func TestScan(t *testing.T) {
	for name, b := range messages(t) {
		t.Run(name, func(t *testing.T) { compareScan(t, b) })
	}
}

// reused is what the decoder writes into, call after call.
var reused rls.Asked

func compareScan(t *testing.T, b []byte) {
	t.Helper()
	var in pb.RateLimitRequest
	err := reused.Scan(string(b))
	if want := proto.Unmarshal(b, &in); (err == nil) != (want == nil) {
		switch {
		case err == nil && strings.Contains(want.Error(), "UTF-8"): // on purpose
		case want == nil && mayNest(b):
		default:
			t.Errorf("%x: %v, protobuf says %v", b, err, want)
		}
		return
	}
	if err != nil {
		return
	}
	var want rls.Asked
	want.Read(&in)
	if got, want := plainly(&reused), plainly(&want); !reflect.DeepEqual(got, want) {
		t.Errorf("%x:\n%+v\nprotobuf reads\n%+v", b, got, want)
	}
}

// plainly takes the memory out of what was read: none and empty are one.
func plainly(a *rls.Asked) (out []any) {
	v := reflect.ValueOf(a).Elem()
	descriptors := v.FieldByName("descriptors")
	out = append(out, v.FieldByName("domain").String(), v.FieldByName("hits").Uint(), v.FieldByName("total").Int())
	for i := range descriptors.Len() {
		d := descriptors.Index(i)
		pairs, limit := d.FieldByName("pairs"), d.FieldByName("limit")
		for j := range pairs.Len() {
			out = append(out, pairs.Index(j).Field(0).String(), pairs.Index(j).Field(1).String())
		}
		out = append(out,
			d.FieldByName("entries").Int(), d.FieldByName("refund").Bool(), d.FieldByName("hasHits").Bool(),
			d.FieldByName("hits").Uint(), d.FieldByName("hasLimit").Bool(), limit.Field(0).Uint(), limit.Field(1).Int(), limit.Field(2).Uint())
	}
	return out
}

// mayNest tells whether there may be more groups within each other than are
// taken: each has a tag of which the first byte says so.
func mayNest(b []byte) bool {
	n := 0
	for _, c := range b {
		if c&7 == 3 {
			n++
		}
	}
	return n > 64
}

// FuzzScan is TestScan with anything.
func FuzzScan(f *testing.F) {
	for _, b := range messages(f) {
		f.Add(b)
	}
	f.Fuzz(compareScan)
}
