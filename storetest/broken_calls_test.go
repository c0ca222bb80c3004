package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/weirlimit/weir"
)

// submits is a Model whose Submit is replaced, and whose Decide goes there too.
type submits struct {
	*Model
	submit func(m *Model, b *weir.Batch, done func(*weir.Batch))
}

func (s submits) Submit(b *weir.Batch, done func(*weir.Batch)) { s.submit(s.Model, b, done) }

func (s submits) Decide(ctx context.Context, b *weir.Batch) {
	if ctx.Err() != nil {
		s.Model.Decide(ctx, b)
		return
	}
	s.submit(s.Model, b, func(*weir.Batch) {})
}

func submitting(submit func(m *Model, b *weir.Batch, done func(*weir.Batch))) func() Harness {
	return calling(func(m *Model) weir.Store { return submits{m, submit} })
}

// Faults in what a store does with what it is given.
func brokenCalls() []broken {
	return []broken{
		{"calls done twice", []string{"done"}, submitting(func(m *Model, b *weir.Batch, done func(*weir.Batch)) {
			m.Submit(b, done)
			done(b)
		})},
		{"calls done for an empty batch twice", []string{"done"}, submitting(func(m *Model, b *weir.Batch, done func(*weir.Batch)) {
			if len(b.Entries) == 0 {
				done(b)
			}
			m.Submit(b, done)
		})},
		{"calls done with a copy", []string{"done"}, submitting(func(m *Model, b *weir.Batch, done func(*weir.Batch)) {
			m.Submit(b, func(b *weir.Batch) { other := *b; done(&other) })
		})},
		{"writes after done", []string{"memory"}, submitting(func(m *Model, b *weir.Batch, done func(*weir.Batch)) {
			m.Submit(b, done)
			if len(b.Entries) > 0 {
				b.Entries[0].Err = nil
			}
		})},
		{"keeps the caller's keys", []string{"memory"}, keeping(func(e *weir.Entry, name func(string) string) {
			for i := range e.Charges {
				e.Charges[i].Key = name(e.Charges[i].Key)
			}
		})},
		{"keeps the caller's ids", []string{"memory"}, keeping(func(e *weir.Entry, name func(string) string) {
			if e.ID != "" {
				e.ID = name(e.ID)
			}
		})},
		{"keeps the caller's outcomes", []string{"memory"}, keepingOutcomes},
		{"sorts the caller's charges", []string{"entry_reuse"}, telling(func(e *weir.Entry) {
			slices.Reverse(e.Charges)
			slices.Reverse(e.Outcomes)
		})},
		{"brings its own memory for outcomes", []string{"entry_reuse"}, telling(func(e *weir.Entry) { e.Outcomes = slices.Clone(e.Outcomes) })},
		{"leaves an old error", []string{"entry_reuse"}, carrying(func(old, e *weir.Entry) { e.Err = old.Err })},
		{"leaves an old replay", []string{"entry_reuse"}, carrying(func(old, e *weir.Entry) { e.Replayed = e.Replayed || old.Replayed })},
		{"leaves an old verdict", []string{"entry_reuse"}, carrying(func(old, e *weir.Entry) { e.Admitted = e.Admitted || old.Admitted })},
		{"adds outcomes to old ones", []string{"entry_reuse"}, carrying(func(old, e *weir.Entry) { e.Outcomes = append(old.Outcomes, e.Outcomes...) })},
		{"tells no instant", []string{"entry_reuse", "real_clock"}, telling(func(e *weir.Entry) { e.Now = 0 })},
	}
}

// keeping names things by the memory that the caller gave them in.
func keeping(rename func(e *weir.Entry, name func(string) string)) func() Harness {
	return func() Harness {
		names := make(map[string]string)
		name := func(s string) string {
			if names[s] == "" {
				names[s] = fmt.Sprintf("name %d", len(names))
			}
			return names[s]
		}
		h := asking(func(e *weir.Entry) { rename(e, name) })()
		m := h.Store.(*Model)
		h.Store = blurred{m, func(key string) string {
			if _, held := m.mu.states[key]; held || names[key] == "" {
				return key
			}
			return names[key]
		}}
		return h
	}
}

// keepingOutcomes replays out of the slice it gave away.
func keepingOutcomes() Harness {
	kept := make(map[string][]weir.Outcome)
	return telling(func(e *weir.Entry) {
		key := strings.Clone(e.ID + "/" + e.Charges[0].Key)
		if e.Replayed && len(kept[key]) == len(e.Outcomes) {
			copy(e.Outcomes, kept[key])
		}
		kept[key] = e.Outcomes
	})()
}

// carrying lets something of the entry before it was decided survive.
func carrying(carry func(old, e *weir.Entry)) func() Harness {
	return submitting(func(m *Model, b *weir.Batch, done func(*weir.Batch)) {
		before := slices.Clone(b.Entries)
		for i := range before {
			before[i].Outcomes = slices.Clone(before[i].Outcomes)
		}
		m.Submit(b, func(*weir.Batch) {})
		for i := range before {
			carry(&before[i], &b.Entries[i])
		}
		done(b)
	})
}
