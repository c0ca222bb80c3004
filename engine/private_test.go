package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/pseudonym"
	"github.com/weirlimit/weir/memstore"
)

// ringAt makes a ring of two salts, the second of which comes into force after
// a while, or came so long ago.
func ringAt(t testing.TB, after time.Duration) *pseudonym.Ring {
	t.Helper()
	turn := weir.MicrosAt(time.Now().Add(after))
	r, err := pseudonym.New(pseudonym.Config{
		Salts: []pseudonym.Salt{
			{ID: "old", From: turn - weir.Day, Secret: pseudonym.Secret{1}}, {ID: "new", From: turn, Secret: pseudonym.Secret{2}},
		},
		Slots: pseudonym.Secret{3},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// witness notes what a store is asked, and lets memory answer.
type witness struct {
	weir.Store
	charges []weir.Charge
	forgot  []string
}

func (w *witness) note(b *weir.Batch) {
	w.charges = w.charges[:0]
	for _, c := range b.Entries[0].Charges {
		c.Key, c.Twin = strings.Clone(c.Key), strings.Clone(c.Twin)
		w.charges = append(w.charges, c)
	}
}

func (w *witness) Submit(b *weir.Batch, done func(*weir.Batch)) {
	w.note(b)
	w.Store.Submit(b, done)
}

func (w *witness) Decide(ctx context.Context, b *weir.Batch) {
	w.note(b)
	w.Store.Decide(ctx, b)
}

func (w *witness) Reset(ctx context.Context, key string) error {
	w.forgot = append(w.forgot, strings.Clone(key))
	return w.Store.Reset(ctx, key)
}

// private returns an engine that counts by address, and what it asks its store.
func private(t testing.TB, ring func() *pseudonym.Ring) (*engine.Engine, *witness) {
	t.Helper()
	w := &witness{Store: memstore.New()}
	e, err := engine.New(engine.Options{Store: w, Deadline: time.Second, Pseudonyms: ring})
	if err != nil {
		t.Fatal(err)
	}
	e.Swap(compile(t, "policies:\n  - {id: p, by: [ip], limits: [10/h], on_failure: open}\n"))
	return e, w
}

// TestAddressesDoNotReachTheStore, with a ring and without.
func TestAddressesDoNotReachTheStore(t *testing.T) {
	asked, r := 0, ringAt(t, time.Hour)
	seen := map[string]bool{}
	for _, ring := range []func() *pseudonym.Ring{nil, func() *pseudonym.Ring { asked++; return r }} {
		e, w := private(t, ring)
		check(t, e, ask("ip", "203.0.113.7"))
		c := w.charges[0]
		if strings.Contains(c.Key, "203.0.113.7") || !strings.HasPrefix(c.Key, "{%~") || c.Twin != "" || seen[c.Key] {
			t.Errorf("charged %+v", c)
		}
		seen[c.Key] = true
	}
	if asked != 1 {
		t.Errorf("a decision asks %d times for its ring", asked)
	}
}

// TestOperatingOnTwins: looking and resetting know both names.
func TestOperatingOnTwins(t *testing.T) {
	r := ringAt(t, -time.Second)
	e, w := private(t, func() *pseudonym.Ring { return r })
	check(t, e, ask("ip", "203.0.113.7"))
	c := w.charges[0]
	if c.Twinning != weir.TwinLast || c.Twin == "" {
		t.Fatalf("charged %+v", c)
	}
	list, _, err := e.Usage(context.Background(), ask("ip", "203.0.113.7"))
	if err != nil || list[0].Outcome.Before.Used != 1 || list[0].Outcome.Remaining != 9 || list[0].Key != c.Key || list[0].Twin != c.Twin {
		t.Errorf("usage %+v, %v", list, err)
	}
	if look := w.charges[0]; look.Mode != weir.Peek || look.Cost != 0 || look.Key != c.Key || look.Twin != c.Twin || look.Twinning != c.Twinning {
		t.Errorf("looked with %+v", look)
	}
	if _, _, err := e.Reset(context.Background(), ask("ip", "203.0.113.7")); err != nil || !slices.Contains(w.forgot, c.Key) || !slices.Contains(w.forgot, c.Twin) {
		t.Errorf("forgot %q, %v", w.forgot, err)
	}
}

func BenchmarkCheckPrivate(b *testing.B) {
	r := ringAt(b, time.Hour)
	e, err := engine.New(engine.Options{Store: memstore.New(), Deadline: time.Second, Pseudonyms: func() *pseudonym.Ring { return r }})
	if err != nil {
		b.Fatal(err)
	}
	e.Swap(compile(b, "policies:\n  - {id: p, by: [ip], limits: [10000000/s burst 10000000], on_failure: open}\n"))
	req, d := ask("ip", "203.0.113.7"), weir.Decision{}
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Check(context.Background(), req, &d); err != nil || !d.Allowed() {
			b.Fatal(err, d)
		}
	}
}
