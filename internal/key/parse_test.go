package key

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/weirlimit/weir"
	"pgregory.net/rapid"
)

// said is what a parsed key should say of k. It shares no code with Append.
func said(k Key) Parsed {
	part := func(s string) Part {
		if len(s) <= MaxLiteral {
			return Part{Text: s}
		}
		sum := sha256.Sum256([]byte(s))
		return Part{Text: base64.RawURLEncoding.EncodeToString(sum[:]), Digest: true}
	}
	p := Parsed{
		Partition: part(k.Partition), Domain: part(k.Domain), Rule: part(k.Rule), Values: []Part{},
		Algorithm: k.Algorithm, Window: k.Window, Shard: k.Shard,
	}
	if k.Hidden {
		p.Partition = Part{Text: fmt.Sprintf("%03x", k.Slot), Slot: true}
	}
	if p.Algorithm == weir.TokenBucket {
		p.Algorithm = weir.GCRA
	}
	for _, v := range k.Values {
		p.Values = append(p.Values, part(v))
	}
	return p
}

func checkRoundTrip(t rapid.TB, k Key) {
	t.Helper()
	text := encode(k)
	got, err := Parse(text)
	if want := said(k); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Parse(%q)\n got %+v, %v\nwant %+v", text, got, err, want)
	}
}

func TestParseRefuses(t *testing.T) {
	good := "{a}1:d1:rgs"
	if _, err := Parse(good); err != nil {
		t.Fatalf("Parse(%q): %v", good, err)
	}
	for _, text := range []string{
		"", "{", "}", "{}", "a", "{a}", "x" + good, good + "x", good + good,
		"{}1:d1:rgs",                                                                                                                      // an empty tag
		"{%}}1:d1:rgs",                                                                                                                    // a brace that ends the tag early
		"{%2}1:d1:rgs",                                                                                                                    // half an escape
		"{%7d}1:d1:rgs",                                                                                                                   // lower case
		"{%!}1:d1:rgs", "{%!1}1:d1:rgs", "{%!00a}1:d1:rgs", "{%!41a}1:d1:rgs", "{%!0Aa}1:d1:rgs", "{%!01}1:d1:rgs", "{%!01%!02a}1:d1:rgs", // no shard, or nothing behind it
		"{%41}1:d1:rgs",                                                                            // an escape that is not needed
		"{%#}1:d1:rgs",                                                                             // no digest
		"{%#abc}1:d1:rgs",                                                                          // a short one
		"{%~}1:d1:rgs", "{%~3f}1:d1:rgs", "{%~3fab}1:d1:rgs", "{%~3FA}1:d1:rgs", "{%~3f%}1:d1:rgs", // no slot
		"{" + long("a") + "}1:d1:rgs", // too long for a literal
		"{a}gs", "{a}1:dgs",           // parts missing
		"{a}01:d1:rgs", // a length with a zero before it
		"{a}+1:d1:rgs", "{a}-1:d1:rgs", "{a} 1:d1:rgs",
		"{a}9:d1:rgs",                           // longer than what is left
		"{a}201:" + long("d") + "1:rgs",         // too long for a literal
		"{a}99999999999999999999:d1:rgs",        // not a number
		"{a}1:d#abcgs",                          // a short digest
		"{a}1:d#" + digestOf("x")[:42] + "\ngs", // base64 that skips a line end
		"{a}1:d#" + digestOf("x")[:42] + "_gs",  // bits beyond the digest
		"{a}1:d1:r", "{a}1:d1:rg", "{a}1:d1:rs", // no window, no algorithm
		"{a}1:d1:rg1s", "{a}1:d1:rg60s", "{a}1:d1:rgsecond", "{a}1:d1:rg366d", "{a}1:d1:rg0s", "{a}1:d1:rg-1s",
		"{a}1:d1:rzs", "{a}1:d1:r\x00s",
	} {
		if got, err := Parse(text); !errors.Is(err, ErrSyntax) || !reflect.DeepEqual(got, Parsed{}) {
			t.Errorf("Parse(%q) = %+v, %v; want ErrSyntax", text, got, err)
		}
	}
}

// FuzzInjective: whatever the texts, a key says all of what it was made of, and
// its tag is its partition's.
func FuzzInjective(f *testing.F) {
	for i, h := range hostile {
		f.Add(h, "api", "login", h, uint8(i), uint32(i))
		f.Add("acme", h, hostile[len(hostile)-1-i], h, uint8(i), uint32(60*i))
	}
	f.Fuzz(func(t *testing.T, partition, domain, rule, values string, algorithm uint8, window uint32) {
		k := Key{
			Partition: partition, Domain: domain, Rule: rule, Values: split(values),
			Algorithm: weir.Algorithm(1 + algorithm%7),
			Window:    (1 + weir.Micros(window)%(weir.MaxWindow/weir.Second)) * weir.Second,
		}
		checkRoundTrip(t, k)
		alone := Key{Partition: partition, Algorithm: weir.GCRA, Window: weir.Second}
		if got, want := Tag(encode(k)), Tag(encode(alone)); got != want {
			t.Errorf("the tag of %q is %q, want %q", encode(k), got, want)
		}
		if room := make([]byte, 1, 1024); string(AppendTagged(room, partition, "rest")) != "\x00"+string(AppendTag(nil, partition))+"rest" {
			t.Errorf("%q: %q", partition, AppendTagged(room, partition, "rest"))
		}
		if tag := string(AppendTag(nil, partition)); tag != "{"+Tag(encode(k))+"}" {
			t.Errorf("Redis sees the tag %q in a key that starts %q", Tag(encode(k)), tag)
		}
	})
}

// split makes values of a fuzzed text: its first bytes are their lengths.
func split(s string) []string {
	var values []string
	for s != "" {
		n := min(int(s[0])*3, len(s)-1)
		values = append(values, s[1:1+n])
		s = s[1+n:]
	}
	return values
}

// FuzzParse: what Parse accepts is what Append writes for what Parse read.
func FuzzParse(f *testing.F) {
	for _, h := range hostile {
		f.Add(h)
		f.Add(encode(Key{Partition: h, Domain: h, Rule: "r", Values: []string{h}, Algorithm: weir.GCRA, Window: weir.Day}))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		// A digest cannot be undone, but all else is written again.
		if again := rewrite(p); again != text {
			t.Errorf("Parse accepts %q, but %+v is written %q", text, p, again)
		}
	})
}

// rewrite writes a parsed key, digests as they are.
func rewrite(p Parsed) string {
	b := []byte("{")
	if p.Shard > 0 {
		b = fmt.Appendf(b, "%%!%02x", p.Shard)
	}
	switch {
	case p.Partition.Digest:
		b = append(b, "%#"+p.Partition.Text...)
	case p.Partition.Slot:
		b = append(b, "%~"+p.Partition.Text...)
	default:
		b = appendPartition(b, p.Partition.Text)
	}
	b = append(b, '}')
	for _, part := range append([]Part{p.Domain, p.Rule}, p.Values...) {
		if part.Digest {
			b = append(b, "#"+part.Text...)
		} else {
			b = appendPart(b, part.Text)
		}
	}
	return string(b) + string(letters[p.Algorithm]) + weir.WindowText(p.Window)
}

// TestKeysAreInjective draws from the bytes that matter: two keys are equal
// exactly when what they name is.
func TestKeysAreInjective(t *testing.T) {
	text := rapid.OneOf(
		rapid.StringMatching(`[{}%:#~!05gs27D]{0,5}`),
		rapid.StringOfN(rapid.RuneFrom([]rune{'}', '%', 'x', 0}), MaxLiteral-1, MaxLiteral+1, MaxLiteral+1),
		rapid.String(),
	)
	draw := rapid.Custom(func(t *rapid.T) Key {
		return Key{
			Partition: text.Draw(t, "partition"),
			Hidden:    rapid.Bool().Draw(t, "hidden"),
			Slot:      uint16(rapid.IntRange(0, MaxSlot-1).Draw(t, "slot")),
			Shard:     uint8(rapid.IntRange(0, MaxShard).Draw(t, "shard")),
			Domain:    text.Draw(t, "domain"),
			Rule:      text.Draw(t, "rule"),
			Values:    rapid.SliceOfN(text, 0, 3).Draw(t, "values"),
			Algorithm: weir.Algorithm(rapid.IntRange(1, 7).Draw(t, "algorithm")),
			Window:    weir.Micros(rapid.Int64Range(1, 365*86400).Draw(t, "window")) * weir.Second,
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		checkRoundTrip(t, a)
		if rapid.Bool().Draw(t, "same partition") {
			b.Partition, b.Hidden, b.Slot, b.Shard = a.Partition, a.Hidden, a.Slot, a.Shard
			if Slot(encode(a)) != Slot(encode(b)) {
				t.Errorf("one partition in two slots: %q, %q", encode(a), encode(b))
			}
		}
		if same := reflect.DeepEqual(said(a), said(b)); same != (encode(a) == encode(b)) {
			t.Errorf("same counter: %v, keys %q and %q", same, encode(a), encode(b))
		}
	})
}
