package storetest

import (
	"context"
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weirlimit/weir"
)

func brokenKeys() []broken {
	rows := []struct {
		name  string
		blur  func(string) string
		cases []string
	}{
		{"ends keys at a NUL", func(k string) string { k, _, _ = strings.Cut(k, "\x00"); return orDot(k) }, nil},
		{"ends keys at a closing brace", untilBrace, nil},
		{"keeps the hash tag only", hashTag, []string{"order"}},
		{"folds case", strings.ToLower, nil},
		{"trims space", func(k string) string { return orDot(strings.TrimSpace(k)) }, nil},
		{"reads keys as UTF-8", func(k string) string { return strings.ToValidUTF8(k, "\ufffd") }, nil},
		{"keeps 32 bytes of long keys", func(k string) string { return k[:min(len(k), 32)] }, nil},
		{"keeps 16 bits of long keys' length", func(k string) string { return orDot(k[:len(k)&0xffff]) }, nil},
		{"hashes keys to 12 bits", hashed, nil},
		{"composes accents", func(k string) string { return strings.ReplaceAll(k, "e\u0301", "é") }, nil},
	}
	var all []broken
	for _, r := range rows {
		all = append(all, broken{r.name, append(r.cases, "keys"), blurring(r.blur)})
	}
	return append(all,
		broken{"reads a stale value", []string{"read_reset", "linearizable", "modes"}, calling(newStaleReads)},
		broken{"never resets", []string{"read_reset", "vectors/read_reset"}, calling(func(m *Model) weir.Store { return neverResets{m} })},
		broken{"resets the neighbours too", []string{"read_reset"}, calling(func(m *Model) weir.Store { return resetsAll{m} })},
		broken{"charges a read", []string{"read_reset", "vectors/read_reset"}, calling(func(m *Model) weir.Store { return chargingReads{m} })},
		broken{"reads any key", []string{"invalid_read_reset"}, calling(func(m *Model) weir.Store { return readsAnyKey{m} })},
	)
}

// blurring is a Model that takes some keys for others.
func blurring(blur func(string) string) func() Harness {
	return calling(func(m *Model) weir.Store {
		m.decide = func(m *Model, e *weir.Entry, now weir.Micros) {
			other := *e
			other.Charges = slices.Clone(e.Charges)
			for i := range other.Charges {
				other.Charges[i].Key = blur(other.Charges[i].Key)
			}
			m.decideLocked(&other, now)
			other.Charges = e.Charges
			*e = other
		}
		return blurred{m, blur}
	})
}

type blurred struct {
	*Model
	blur func(string) string
}

func (s blurred) Read(ctx context.Context, key string, m *weir.Meter) (weir.Outcome, error) {
	return s.Model.Read(ctx, s.blur(key), m)
}

func (s blurred) Reset(ctx context.Context, key string) error {
	return s.Model.Reset(ctx, s.blur(key))
}

// orDot stands in for the empty key, which Model would refuse.
func orDot(k string) string {
	if k == "" {
		return "."
	}
	return k
}

func untilBrace(k string) string {
	if i := strings.IndexByte(k, '}'); i >= 0 && !strings.HasPrefix(k, "{") {
		return orDot(k[:i])
	}
	return k
}

func hashTag(k string) string {
	_, tag, _ := strings.Cut(k, "{")
	if tag, _, ok := strings.Cut(tag, "}"); ok && tag != "" {
		return tag
	}
	return k
}

func hashed(k string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(k)) // a hash does not fail
	n := h.Sum32() % 4096
	return string(utf8.AppendRune(nil, rune(n+1)))
}

// staleReads answers reads and peeks from a replica that lacks the last write.
type staleReads struct {
	*Model
	replica *Model
	behind  *weir.Batch
}

func newStaleReads(m *Model) weir.Store { return &staleReads{Model: m, replica: NewModel()} }

func (s *staleReads) Submit(b *weir.Batch, done func(*weir.Batch)) {
	s.Model.mu.Lock()
	defer s.Model.mu.Unlock()
	now := s.now()
	for i := range b.Entries {
		e := &b.Entries[i]
		if e.Err = e.Validate(); e.Err != nil {
			continue
		}
		if e.Charges[0].Mode == weir.Peek {
			s.replica.decideLocked(e, now)
			continue
		}
		s.decideLocked(e, now)
		if s.behind != nil {
			s.replica.decideLocked(&s.behind.Entries[0], now)
		}
		s.behind = &weir.Batch{Entries: []weir.Entry{{ID: e.ID, Charges: slices.Clone(e.Charges)}}}
	}
	done(b)
}

func (s *staleReads) Decide(_ context.Context, b *weir.Batch) { s.Submit(b, func(*weir.Batch) {}) }

func (s *staleReads) Read(ctx context.Context, key string, m *weir.Meter) (weir.Outcome, error) {
	s.Model.mu.Lock()
	defer s.Model.mu.Unlock()
	return s.replica.Read(ctx, key, m)
}

type neverResets struct{ *Model }

func (neverResets) Reset(context.Context, string) error { return nil }

type resetsAll struct{ *Model }

func (s resetsAll) Reset(context.Context, string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.mu.states)
	return nil
}

type chargingReads struct{ *Model }

func (s chargingReads) Read(ctx context.Context, key string, m *weir.Meter) (weir.Outcome, error) {
	b := weir.Batch{Entries: []weir.Entry{{Charges: []weir.Charge{{Key: key, Meter: m, Cost: 1, Mode: weir.Shadow}}}}}
	s.Decide(ctx, &b)
	if err := b.Entries[0].Err; err != nil {
		return weir.Outcome{}, err
	}
	o := b.Entries[0].Outcomes[0]
	o.Granted = 0
	return o, nil
}

type readsAnyKey struct{ *Model }

func (s readsAnyKey) Read(ctx context.Context, key string, m *weir.Meter) (weir.Outcome, error) {
	if key == "" {
		return weir.Outcome{Remaining: m.Capacity}, nil
	}
	return s.Model.Read(ctx, key, m)
}
