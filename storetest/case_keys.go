package storetest

import (
	"strings"

	"github.com/weirlimit/weir"
)

// hostileKeys are bytes that split, join, end or hide keys in one encoding or
// another. No two may share a counter.
func hostileKeys() []string {
	keys := []string{
		"}", "{", "{}", "{}x", "{{}}", "}{", "{a", "a}", "{a}", "{a}{b}", "{a}b", "{b}a",
		"\x00", "\x00\x00", "a\x00", "\x00a", "a\x00b", "a\x00c", "a", "A", "b",
		" ", "  ", " a", "a ", "\n", "\r\n", "\t", "a\r\n", "*", "?", "[a]", "%", "%s", "\\", "\"", "'",
		":", "a:b", "a:b:", "a::b", "a_b", "a|b", "a/b", "a,b", "1", "01", "1.0", "1e3", "1000", "-1", "nil",
		"\xff", "\xfe", "\xff\xfe", "\xc3\x28", "\xed\xa0\x80", "\ufffd", "é", "e\u0301", "日本",
		strings.Repeat("x", 31), strings.Repeat("x", 32), strings.Repeat("x", 33),
		strings.Repeat("x", 255), strings.Repeat("x", 256),
		strings.Repeat("}", 1000), strings.Repeat("{", 1000),
		strings.Repeat("k", weir.MaxKeyBytes), strings.Repeat("k", weir.MaxKeyBytes-1),
		strings.Repeat("k", weir.MaxKeyBytes-1) + "}", strings.Repeat("k", weir.MaxKeyBytes-1) + "\x00",
		"{" + strings.Repeat("k", weir.MaxKeyBytes-1),
	}
	for b := range 256 {
		keys = append(keys, "byte"+string([]byte{byte(b)}))
	}
	return keys
}

// checkKeys charges each hostile key its own amount and looks for it there.
// The keys are fixed, so that what an earlier run left is forgotten first.
func checkKeys(p *probe) {
	keys := hostileKeys()
	m := still(int64(len(keys)) + 1)
	for _, key := range keys {
		p.reset(key)
	}
	for i, key := range keys {
		e := p.take("", weir.Charge{Key: key, Meter: m, Cost: int64(i) + 1})
		if was := e.Outcomes[0].Before.Used; was != 0 {
			p.Fatalf("key %.40q (%d bytes) finds %d units of another key", key, len(key), was)
		}
	}
	for i, key := range keys {
		p.wantUsed(key, m, int64(i)+1)
	}
	checkKeysTogether(p, keys, m)
	for _, key := range keys {
		p.reset(key)
		p.wantUsed(key, m, 0)
	}
}

// checkKeysTogether asks for the same keys in one batch.
func checkKeysTogether(p *probe, keys []string, m *weir.Meter) {
	entries := make([]weir.Entry, len(keys))
	for i, key := range keys {
		entries[i].Charges = []weir.Charge{{Key: key, Meter: m, Cost: 1, Mode: weir.Refund}}
	}
	for i, e := range p.decide(entries...) {
		if o := e.Outcomes[0]; o.Granted != 1 || o.Before.Used != int64(i)+1 {
			p.Fatalf("in a batch, key %.40q finds %d in use, want %d", keys[i], o.Before.Used, i+1)
		}
	}
}

func (p *probe) reset(key string) {
	p.Helper()
	if err := p.patient().reset(key); err != nil {
		p.Fatalf("reset %.40q: %v", key, err)
	}
}

// checkReadReset reads without changing, and forgets one key.
func checkReadReset(p *probe) {
	m := still(10)
	a, b := p.key("a"), p.key("b")
	p.wantUsed(a, m, 0)
	p.reset(a)
	p.take("", weir.Charge{Key: a, Meter: m, Cost: 10}, weir.Charge{Key: b, Meter: m, Cost: 3})
	for range 3 {
		p.wantUsed(a, m, 10)
	}
	o, err := p.patient().read(b, m)
	if err != nil || o.Remaining != 7 || o.Granted != 0 || o.ResetAfter <= 0 || o.Before.Since == 0 {
		p.Fatalf("read of 3 used of 10: %+v, %v", o, err)
	}
	// Read under another limit shows that limit's room, and changes nothing.
	if o, err := p.patient().read(b, still(2)); err != nil || o.Remaining != 0 || o.Before.Used != 3 {
		p.Fatalf("read of 3 used of 2: %+v, %v; want none left, never less", o, err)
	}
	p.wantAdmitted(p.take("", weir.Charge{Key: a, Meter: m, Cost: 1}), false)
	p.reset(a)
	p.wantUsed(a, m, 0)
	p.wantUsed(b, m, 3)
	p.wantAdmitted(p.take("", weir.Charge{Key: a, Meter: m, Cost: 10}), true)
	p.wantAdmitted(p.take("", weir.Charge{Key: b, Meter: m, Cost: 8}), false)
}
