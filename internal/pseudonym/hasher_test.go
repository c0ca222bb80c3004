package pseudonym_test

import (
	"fmt"
	"testing"

	"github.com/weirlimit/weir/internal/pseudonym"
)

// TestVectors holds names that another program computed. They are stored: a
// change here resets every private counter there is.
func TestVectors(t *testing.T) {
	var h pseudonym.Hasher
	h.Use(ring(t, config(0)))
	if got := string(h.Append(nil, 0, "ip", "203.0.113.7")); got != "UybkhZD44JNQUplv7VS67Q" {
		t.Errorf("name %s", got)
	}
	if got := h.Slot("ip", "203.0.113.7"); got != 0xd56 {
		t.Errorf("slot %x", got)
	}
	h.Use(pseudonym.Unsalted())
	if got := string(h.Append([]byte("x"), 0, "user", "ann")); got != "xUlN11bcD8scU60pkjQuR3A" {
		t.Errorf("unsalted name %s", got)
	}
}

func TestNamesAreApart(t *testing.T) {
	var h pseudonym.Hasher
	h.Use(ring(t, config(0, 600e6)))
	seen := map[string]string{}
	for salt := range 2 {
		for _, pair := range [][2]string{{"ip", "1"}, {"ip", "2"}, {"user", "1"}, {"ip", ""}, {"", "ip"}, {"", ""}, {"ip1", ""}} {
			name := string(h.Append(nil, salt, pair[0], pair[1]))
			what := fmt.Sprint(salt, pair)
			if other, ok := seen[name]; ok || len(name) != pseudonym.Len {
				t.Errorf("%s and %s: %q", what, other, name)
			}
			seen[name] = what
		}
	}
}

// TestSlotsStay: a slot depends on nothing that rotates, and all are used.
func TestSlotsStay(t *testing.T) {
	var a, b pseudonym.Hasher
	a.Use(ring(t, config(0)))
	later := config(0, 600e6)
	later.Salts = later.Salts[1:]
	b.Use(ring(t, later))
	used := map[uint16]bool{}
	for i := range 100_000 {
		ip := fmt.Sprint(i)
		slot := a.Slot("ip", ip)
		if slot != b.Slot("ip", ip) || slot >= pseudonym.Slots {
			t.Fatalf("%s is in slot %d and %d", ip, slot, b.Slot("ip", ip))
		}
		used[slot] = true
	}
	if len(used) != pseudonym.Slots {
		t.Errorf("%d of %d slots are used", len(used), pseudonym.Slots)
	}
}

// TestOneSlot: names are the salts' all the same.
func TestOneSlot(t *testing.T) {
	c := config(0)
	c.OneSlot = true
	var h, other pseudonym.Hasher
	h.Use(ring(t, c))
	other.Use(ring(t, config(0)))
	for i := range 100 {
		ip := fmt.Sprint(i)
		if h.Slot("ip", ip) != 0 || string(h.Append(nil, 0, "ip", ip)) != string(other.Append(nil, 0, "ip", ip)) {
			t.Errorf("%s is in slot %d", ip, h.Slot("ip", ip))
		}
	}
}

func TestHasherDoesNotAllocate(t *testing.T) {
	var h pseudonym.Hasher
	h.Use(ring(t, config(0, 600e6)))
	dst := make([]byte, 0, 64)
	use := func() {
		h.Slot("ip", "203.0.113.7")
		dst = h.Append(dst[:0], 0, "ip", "203.0.113.7")
		dst = h.Append(dst, 1, "ip", "203.0.113.7")
	}
	use()
	if n := testing.AllocsPerRun(100, use); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAppend(b *testing.B) {
	var h pseudonym.Hasher
	h.Use(pseudonym.Unsalted())
	dst := make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		dst = h.Append(dst[:0], 0, "ip", "203.0.113.7")
	}
}
