package algo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"pgregory.net/rapid"
)

// TestReplayOwnersAreDistinct draws entries from few and nasty bytes, so that
// many are equal and many others differ by where a byte stands: two have one
// owner if and only if id, keys, costs and modes are the same.
func TestReplayOwnersAreDistinct(t *testing.T) {
	m := parse(t, "10/s")
	text := rapid.SampledFrom([]string{"a", "aa", "\x01", "\x01a", "a\x01", "\x00", "\x01a\x01\x00", "\x80", "\x01\x01"})
	draw := func(t *rapid.T, name string) weir.Entry {
		e := weir.Entry{ID: text.Draw(t, name+" id")}
		for range rapid.IntRange(1, 3).Draw(t, name+" charges") {
			e.Charges = append(e.Charges, weir.Charge{
				Key:   text.Draw(t, "key"),
				Meter: m,
				Cost:  rapid.SampledFrom([]int64{0, 1, 2, 97, 127, 128, 1 << 62}).Draw(t, "cost"),
				Mode:  rapid.SampledFrom([]weir.Mode{weir.Enforce, weir.Shadow, weir.Always}).Draw(t, "mode"),
			})
		}
		return e
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		if rapid.Bool().Draw(t, "near") {
			b = a
			b.ID = text.Draw(t, "near id")
		}
		ownerA, okA, scratch := algo.ReplayOwner(&a, nil)
		ownerB, okB, _ := algo.ReplayOwner(&b, scratch)
		same := fmt.Sprintf("%q", words(a)) == fmt.Sprintf("%q", words(b))
		if !okA || !okB || (ownerA == ownerB) != same {
			t.Fatalf("%q and %q: one owner is %v", words(a), words(b), ownerA == ownerB)
		}
	})
}

func words(e weir.Entry) []string {
	list := []string{e.ID}
	for _, c := range e.Charges {
		list = append(list, c.Key, fmt.Sprint(c.Cost), c.Mode.String())
	}
	return list
}

func TestReplayOwnerShiftedBytes(t *testing.T) {
	m := parse(t, "10/s")
	entry := func(id string, charges ...weir.Charge) *weir.Entry {
		for i := range charges {
			charges[i].Meter = m
		}
		return &weir.Entry{ID: id, Charges: charges}
	}
	seen := map[algo.Owner]string{}
	for name, e := range map[string]*weir.Entry{
		"plain":                   entry("id", weir.Charge{Key: "key", Cost: 1}),
		"id takes a byte of key":  entry("idk", weir.Charge{Key: "ey", Cost: 1}),
		"key takes a byte of id":  entry("i", weir.Charge{Key: "dkey", Cost: 1}),
		"another cost":            entry("id", weir.Charge{Key: "key", Cost: 2}),
		"another mode":            entry("id", weir.Charge{Key: "key", Cost: 1, Mode: weir.Shadow}),
		"two charges":             entry("id", weir.Charge{Key: "k", Cost: 1}, weir.Charge{Key: "ey", Cost: 1}),
		"two charges, other way":  entry("id", weir.Charge{Key: "ey", Cost: 1}, weir.Charge{Key: "k", Cost: 1}),
		"two charges, shifted":    entry("id", weir.Charge{Key: "ke", Cost: 1}, weir.Charge{Key: "y", Cost: 1}),
		"one that spells another": entry("id", weir.Charge{Key: "k\x01\x00\x02ey", Cost: 1}),
		"spelled without lengths": entry("id", weir.Charge{Key: "k\x01\x00ey", Cost: 1}),
		"a NUL more":              entry("id", weir.Charge{Key: "key\x00", Cost: 1}),
	} {
		owner, ok, _ := algo.ReplayOwner(e, nil)
		if other, dup := seen[owner]; dup || !ok || owner == (algo.Owner{}) {
			t.Errorf("%s has the owner of %q (ok %v)", name, other, ok)
		}
		seen[owner] = name
	}
}

func TestReplayOwnerIsOfEntriesWithAnIDThatCount(t *testing.T) {
	rate, slots := parse(t, "10/s"), parse(t, "10 concurrency 1s")
	for _, tt := range []struct {
		name   string
		id     string
		meters []*weir.Meter
		want   bool
	}{
		{"no id", "", []*weir.Meter{rate}, false},
		{"a rate", "id", []*weir.Meter{rate}, true},
		{"concurrency is idempotent by itself", "id", []*weir.Meter{slots, slots}, false},
		{"a rate beside concurrency", "id", []*weir.Meter{slots, rate}, true},
	} {
		e := weir.Entry{ID: tt.id}
		for i, m := range tt.meters {
			e.Charges = append(e.Charges, weir.Charge{Key: fmt.Sprint(i), Meter: m, Cost: 1})
		}
		if _, ok, _ := algo.ReplayOwner(&e, nil); ok != tt.want {
			t.Errorf("%s: %v", tt.name, ok)
		}
	}
}

func TestOwnerOf(t *testing.T) {
	if algo.OwnerOf("") != (algo.Owner{}) {
		t.Error("no id has an owner")
	}
	seen := map[algo.Owner]string{}
	for _, id := range []string{"a", "b", "aa", "a\x00", "\x00", strings.Repeat("x", 256), strings.Repeat("x", 257)} {
		owner := algo.OwnerOf(id)
		if other, dup := seen[owner]; dup || owner == (algo.Owner{}) {
			t.Errorf("%q has the owner of %q", id, other)
		}
		if seen[owner] = id; algo.OwnerOf(id) != owner {
			t.Errorf("%q has two owners", id)
		}
	}
}
