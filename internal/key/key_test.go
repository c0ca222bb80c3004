package key

import (
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

func encode(k Key) string { return string(Append(nil, &k)) }

// long is a text that is digested, of one byte repeated.
func long(b string) string { return strings.Repeat(b, MaxLiteral+1) }

// hostile are texts that have broken keys elsewhere.
var hostile = []string{
	"", "a", "%~3fa", "~3fa", "3fa", "}", "{", "{}", "}{", "%", "%%", "%25", "%7D", "%7d", "%#", "#", ":", "0:", "1:a", "3:api", "gs", "g30s",
	"\x00", "\xff\xfe", "\r\n", "_", "a_b", "*", " ", "☃",
	strings.Repeat("x", MaxLiteral), strings.Repeat("}", MaxLiteral), long("x"), long("}"), long("%"),
	strings.Repeat("\x00", 64<<10),
	// The digest of long("x"), as it stands in a part and in a tag.
	"#" + digestOf(long("x")), "%#" + digestOf(long("x")), digestOf(long("x")),
}

func digestOf(text string) string { return string(appendDigest(nil, text)) }

func TestAppend(t *testing.T) {
	for _, tc := range []struct {
		key  Key
		want string
	}{
		{
			Key{Partition: "tenant-42", Domain: "api", Rule: "login", Algorithm: weir.GCRA, Window: weir.Second},
			"{tenant-42}3:api5:logings",
		},
		{
			Key{Partition: "acme", Domain: "api", Rule: "r", Values: []string{"GET", ""}, Algorithm: weir.SlidingWindow, Window: 30 * weir.Second},
			"{acme}3:api1:r3:GET0:w30s",
		},
		{
			Key{Algorithm: weir.Concurrency, Window: weir.Year},
			"{%}0:0:c365d",
		},
		{
			Key{Partition: "{a}%b", Domain: "}", Rule: "{%}", Algorithm: weir.FixedWindow, Window: weir.Minute},
			"{{a%7D%25b}1:}3:{%}fm",
		},
		{
			Key{Partition: "a", Domain: "d", Rule: long("x"), Algorithm: weir.LeakyBucket, Window: weir.Hour},
			"{a}1:d#hKBnjJCTf13PmZTVhmZo2muZUQnIrYRUEFWbSKTsr-0lh",
		},
		{
			Key{Partition: long("x"), Domain: "d", Rule: "r", Algorithm: weir.SlidingLog, Window: 2 * weir.Day},
			"{%#hKBnjJCTf13PmZTVhmZo2muZUQnIrYRUEFWbSKTsr-0}1:d1:rt2d",
		},
		{
			Key{Partition: "10.0.0.1", Hidden: true, Slot: 0x3fa, Rule: "r", Values: []string{"x"}, Algorithm: weir.GCRA, Window: weir.Hour},
			"{%~3fa}0:1:r1:xgh",
		},
		{
			Key{Partition: "acme", Shard: 2, Domain: "d", Rule: "r", Algorithm: weir.GCRA, Window: weir.Second},
			"{%!02acme}1:d1:rgs",
		},
		{
			Key{Hidden: true, Slot: 0x3fa, Shard: 64, Domain: "d", Rule: "r", Algorithm: weir.GCRA, Window: weir.Second},
			"{%!40%~3fa}1:d1:rgs",
		},
	} {
		if got := encode(tc.key); got != tc.want {
			t.Errorf("Append(%+v)\n got %q\nwant %q", tc.key, got, tc.want)
		}
	}
}

// TestAppendIsShort keeps a key with an identity of 32 bytes within what
// docs/benchmarks-libraries.md counts on.
func TestAppendIsShort(t *testing.T) {
	k := Key{
		Partition: "0123456789abcdef0123456789abcdef", Domain: "api", Rule: "login",
		Algorithm: weir.SlidingWindow, Window: 365 * weir.Day,
	}
	if got := encode(k); len(got) > 60 {
		t.Errorf("%q has %d bytes, want at most 60", got, len(got))
	}
}

// TestAppendIsBounded shows that a hostile caller decides the number of parts
// at most, never their size.
func TestAppendIsBounded(t *testing.T) {
	const tag, part, end = 3*MaxLiteral + len("{}"), MaxLiteral + len("200:"), len("w365d")
	for _, h := range hostile {
		k := Key{Partition: h, Domain: h, Rule: h, Values: []string{h}, Algorithm: weir.GCRA, Window: weir.Year}
		if got := len(encode(k)); got > tag+3*part+end {
			t.Errorf("a key of %d byte texts has %d bytes", len(h), got)
		}
	}
}

// TestHostileTextsAreApart puts every hostile text in every place of a key: no
// two of those keys are equal, and each says what it was made of.
func TestHostileTextsAreApart(t *testing.T) {
	seen := map[string]Key{}
	for _, h := range hostile {
		for _, k := range []Key{
			{Partition: h, Domain: "d", Rule: "r"},
			{Hidden: true, Slot: 0x3fa, Domain: "d", Rule: "r", Values: []string{h}},
			{Partition: h, Shard: 5, Domain: "d", Rule: "r"},
			{Hidden: true, Slot: 0x3fa, Shard: 5, Domain: "d", Rule: "r", Values: []string{h}},
			{Partition: "p", Domain: h, Rule: "rule"},
			{Partition: "p", Domain: "domain", Rule: h},
			{Partition: "p", Domain: "d", Rule: "r", Values: []string{h}},
			{Partition: "p", Domain: "d", Rule: "r", Values: []string{h, h}},
			{Partition: "p", Domain: "d", Rule: "r", Values: []string{h + h + "1"}},
		} {
			k.Algorithm, k.Window = weir.GCRA, weir.Second
			text := encode(k)
			if first, ok := seen[text]; ok {
				t.Errorf("%+v and %+v share the key %q", first, k, text)
			}
			seen[text] = k
			checkRoundTrip(t, k)
		}
	}
}

// TestNeighboursAreApart holds the pairs that joined keys confuse.
func TestNeighboursAreApart(t *testing.T) {
	base := Key{Partition: "p", Domain: "a", Rule: "b", Algorithm: weir.GCRA, Window: weir.Second}
	with := func(change func(*Key)) Key { k := base; change(&k); return k }
	keys := []Key{
		base,
		with(func(k *Key) { k.Domain, k.Rule = "ab", "" }),
		with(func(k *Key) { k.Domain, k.Rule = "", "ab" }),
		with(func(k *Key) { k.Domain, k.Rule = "a_b", "c" }),
		with(func(k *Key) { k.Domain, k.Rule = "a", "b_c" }),
		with(func(k *Key) { k.Values = []string{""} }),
		with(func(k *Key) { k.Values = []string{"", ""} }),
		with(func(k *Key) { k.Values = []string{"x", "y"} }),
		with(func(k *Key) { k.Values = []string{"xy"} }),
		with(func(k *Key) { k.Values = []string{"x1:y"} }),
		with(func(k *Key) { k.Values = []string{"gs"} }),
		with(func(k *Key) { k.Partition, k.Domain = "pa", "" }),
		with(func(k *Key) { k.Window = weir.Minute }),
		with(func(k *Key) { k.Window = 60 * weir.Minute }),
		with(func(k *Key) { k.Algorithm = weir.SlidingWindow }),
		with(func(k *Key) { k.Algorithm = weir.FixedWindow }),
		with(func(k *Key) { k.Algorithm = weir.LeakyBucket }),
		with(func(k *Key) { k.Algorithm = weir.SlidingLog }),
		with(func(k *Key) { k.Algorithm = weir.Concurrency }),
	}
	seen := map[string]Key{}
	for _, k := range keys {
		if first, ok := seen[encode(k)]; ok {
			t.Errorf("%+v and %+v share the key %q", first, k, encode(k))
		}
		seen[encode(k)] = k
	}
	if tb := with(func(k *Key) { k.Algorithm = weir.TokenBucket }); encode(tb) != encode(base) {
		t.Errorf("token_bucket is at %q and gcra at %q, want one key: it is one algorithm", encode(tb), encode(base))
	}
}

func TestAppendWindowIsWindowText(t *testing.T) {
	for w := weir.MinWindow; w <= weir.MaxWindow; w += 613 * weir.Second {
		for _, v := range []weir.Micros{w, w / weir.Minute * weir.Minute, w / weir.Hour * weir.Hour, w / weir.Day * weir.Day} {
			if v < weir.MinWindow {
				continue
			}
			if got, want := string(appendWindow(nil, v)), weir.WindowText(v); got != want {
				t.Fatalf("window %d: %q, want %q", v, got, want)
			}
		}
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 128<<10)
	for _, h := range hostile {
		k := Key{
			Partition: h, Domain: h, Rule: h, Values: []string{h, "GET"},
			Algorithm: weir.GCRA, Window: 30 * weir.Second,
		}
		n := testing.AllocsPerRun(10, func() { buf = Append(buf[:0], &k) })
		if n != 0 || len(buf) == 0 {
			t.Errorf("Append of texts of %d bytes allocates %v times", len(h), n)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	k := Key{
		Partition: "0123456789abcdef0123456789abcdef", Domain: "api", Rule: "login",
		Algorithm: weir.SlidingWindow, Window: 30 * weir.Second,
	}
	buf := make([]byte, 0, 128)
	b.ReportAllocs()
	for b.Loop() {
		buf = Append(buf[:0], &k)
	}
}
