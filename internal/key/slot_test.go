package key

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

func TestCRCTable(t *testing.T) {
	for i := range 256 {
		crc := uint16(i) << 8
		for range 8 {
			top := crc & 0x8000
			crc <<= 1
			if top != 0 {
				crc ^= 0x1021
			}
		}
		if crcTable[i] != crc {
			t.Errorf("crcTable[%d] = %#x, want %#x", i, crcTable[i], crc)
		}
	}
}

func TestTag(t *testing.T) {
	for key, want := range map[string]string{
		"":             "",
		"foo":          "foo",
		"{foo}":        "foo",
		"a{foo}b{bar}": "foo",
		"foo{}{bar}":   "foo{}{bar}",
		"foo{{bar}}z":  "{bar",
		"foo{bar":      "foo{bar",
		"foo}bar":      "foo}bar",
		"}{":           "}{",
		"}{a}":         "a",
		"{\x00}":       "\x00",
	} {
		if got := Tag(key); got != want {
			t.Errorf("Tag(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestSlot(t *testing.T) {
	for key, want := range map[string]uint16{
		"":                     0,
		"123456789":            0x31c3, // CRC-16/XMODEM's check value
		"foo":                  12182,
		"{foo}.bar":            12182,
		"user1000":             3443,
		"{user1000}.following": 3443,
	} {
		if got := Slot(key); got != want {
			t.Errorf("Slot(%q) = %d, want %d", key, got, want)
		}
	}
}

// TestSlotIsThePartitions holds the reason for the tag: charges of one
// partition are decided by one script call.
func TestSlotIsThePartitions(t *testing.T) {
	for _, partition := range hostile {
		want := Slot(string(AppendTag(nil, partition)))
		for _, h := range hostile {
			k := Key{
				Partition: partition, Domain: h, Rule: h, Values: []string{h, h},
				Algorithm: weir.FixedWindow, Window: weir.Hour,
			}
			if got := Slot(encode(k)); got != want {
				t.Errorf("%q is in slot %d, its partition in %d", encode(k), got, want)
			}
		}
	}
}

// TestSlotIsRedis asks a real node.
func TestSlotIsRedis(t *testing.T) {
	cluster := redistest.StartCluster(t, 1, 0)
	keys := []string{"foo{}{bar}", "foo{{bar}}zap", "foo{bar}{zap}", "{", "}", "}{", "{}", "{}}"}
	for _, h := range hostile {
		keys = append(
			keys, h, "{"+h+"}", "a{"+h+"}b{"+h,
			encode(Key{Partition: h, Domain: h, Rule: h, Algorithm: weir.GCRA, Window: weir.Second}),
		)
	}
	for _, k := range keys {
		if got, want := Slot(k), cluster.SlotOf(k); int(got) != want {
			t.Errorf("Slot(%q) = %d, Redis says %d", k, got, want)
		}
	}
}

func BenchmarkSlot(b *testing.B) {
	k := encode(Key{Partition: "0123456789abcdef0123456789abcdef", Domain: "api", Rule: "login", Algorithm: weir.GCRA, Window: weir.Second})
	for b.Loop() {
		Slot(k)
	}
}
