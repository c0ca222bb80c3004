package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirlimit/weir"
)

// Faults in how batches are taken apart, and in when a store answers at all.
func brokenBatches() []broken {
	return []broken{
		{"fails a batch for one entry", []string{"invalid"}, submitting(failTogether)},
		{"stops at an invalid entry", []string{"invalid"}, submitting(stopAtInvalid)},
		{"has errors without a type", []string{"invalid"}, submitting(func(m *Model, b *weir.Batch, done func(*weir.Batch)) {
			m.Submit(b, func(*weir.Batch) {})
			for i := range b.Entries {
				if err := b.Entries[i].Err; err != nil {
					b.Entries[i].Err = errors.New(err.Error())
				}
			}
			done(b)
		})},
		{"takes an empty key", []string{"invalid"}, submitting(func(m *Model, b *weir.Batch, done func(*weir.Batch)) {
			for i := range b.Entries {
				for j := range b.Entries[i].Charges {
					if c := &b.Entries[i].Charges[j]; c.Key == "" {
						c.Key = "empty"
					}
				}
			}
			m.Submit(b, done)
		})},
		{"decides a batch from its end", []string{"order", "vectors/batches", "history/batches"}, submitting(reversed)},
		{"lets equal entries overtake", []string{"order", "vectors/batches", "history/batches"}, submitting(overtaking)},
		{"tells equal entries the same", []string{"vectors/equal", "vectors/batches", "history/batches"}, submitting(alike)},
		{"answers the first 256 of a batch", []string{"large_batch"}, submitting(func(m *Model, b *weir.Batch, done func(*weir.Batch)) {
			head := *b
			head.Entries = b.Entries[:min(256, len(b.Entries))]
			m.Submit(&head, func(*weir.Batch) { done(b) })
		})},
		{"ignores deadlines", []string{"deadline"}, submitting(func(m *Model, b *weir.Batch, done func(*weir.Batch)) {
			b.Deadline = time.Time{}
			m.Submit(b, done)
		})},
		{"charges what is late", []string{"deadline"}, submitting(chargeLate)},
		{"charges for nobody", []string{"deadline"}, calling(func(m *Model) weir.Store { return chargesCanceled{m} })},
		{"takes an expired context for a canceled one", []string{"deadline"}, calling(func(m *Model) weir.Store { return allCanceled{m} })},
		{"goes on when closed", []string{"close"}, calling(func(m *Model) weir.Store { return neverCloses{m} })},
		{"fails a second close", []string{"close"}, calling(func(m *Model) weir.Store { return &closesOnce{Model: m} })},
		{"does not refund across slots", []string{"across_slots"}, deciding(decideSlotsApart)},
	}
}

func failTogether(m *Model, b *weir.Batch, done func(*weir.Batch)) {
	for i := range b.Entries {
		if err := b.Entries[i].Validate(); err != nil {
			for j := range b.Entries {
				b.Entries[j].Err = err
			}
			done(b)
			return
		}
	}
	m.Submit(b, done)
}

func stopAtInvalid(m *Model, b *weir.Batch, done func(*weir.Batch)) {
	for i := range b.Entries {
		one := &weir.Batch{Entries: b.Entries[i : i+1], Deadline: b.Deadline}
		m.Submit(one, func(*weir.Batch) {})
		if one.Entries[0].Err != nil {
			break
		}
	}
	done(b)
}

func reversed(m *Model, b *weir.Batch, done func(*weir.Batch)) {
	slices.Reverse(b.Entries)
	m.Submit(b, func(*weir.Batch) {})
	slices.Reverse(b.Entries)
	done(b)
}

// overtaking groups equal entries and decides group by group.
func overtaking(m *Model, b *weir.Batch, done func(*weir.Batch)) {
	name := func(e *weir.Entry) string { return fmt.Sprintf("%q %+v", e.ID, e.Charges) }
	var order []string
	groups := make(map[string][]int)
	for i := range b.Entries {
		n := name(&b.Entries[i])
		if groups[n] == nil {
			order = append(order, n)
		}
		groups[n] = append(groups[n], i)
	}
	for _, n := range order {
		for _, i := range groups[n] {
			m.Submit(&weir.Batch{Entries: b.Entries[i : i+1], Deadline: b.Deadline}, func(*weir.Batch) {})
		}
	}
	done(b)
}

// alike decides every entry, and tells those it admits what the first of their
// equals was told.
func alike(m *Model, b *weir.Batch, done func(*weir.Batch)) {
	m.Submit(b, func(*weir.Batch) {})
	first := make(map[string]int)
	for i := range b.Entries {
		e := &b.Entries[i]
		name := fmt.Sprintf("%q %+v", e.ID, e.Charges)
		if j, known := first[name]; known && e.Admitted {
			copy(e.Outcomes, b.Entries[j].Outcomes)
		} else if e.Admitted {
			first[name] = i
		}
	}
	done(b)
}

// chargeLate says that it is too late, and has charged.
func chargeLate(m *Model, b *weir.Batch, done func(*weir.Batch)) {
	late := !b.Deadline.IsZero() && b.Deadline.Before(time.Now())
	if late {
		b.Deadline = time.Time{}
	}
	m.Submit(b, func(*weir.Batch) {})
	for i := range b.Entries {
		if late {
			b.Entries[i].Err = &weir.Error{Code: weir.CodeTimeout}
		}
	}
	done(b)
}

type chargesCanceled struct{ *Model }

func (s chargesCanceled) Decide(ctx context.Context, b *weir.Batch) {
	s.Submit(b, func(*weir.Batch) {})
	if err := contextError(ctx); err != nil {
		for i := range b.Entries {
			b.Entries[i].Err = err
		}
	}
}

type allCanceled struct{ *Model }

func (s allCanceled) Decide(ctx context.Context, b *weir.Batch) {
	if ctx.Err() != nil {
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		for i := range b.Entries {
			b.Entries[i].Err = &weir.Error{Code: weir.CodeCanceled, Err: canceled.Err()}
		}
		return
	}
	s.Model.Decide(ctx, b)
}

type neverCloses struct{ *Model }

func (neverCloses) Close() error { return nil }

type closesOnce struct {
	*Model
	closed bool
}

func (s *closesOnce) Close() error {
	if s.closed {
		return errClosed()
	}
	s.closed = true
	return s.Model.Close()
}

// decideSlotsApart decides the charges of each hash tag together, and lets
// those stand that were admitted when others were not.
func decideSlotsApart(m *Model, e *weir.Entry, now weir.Micros) {
	parts := make(map[string]*weir.Entry)
	for _, c := range e.Charges {
		tag := hashTag(c.Key)
		if parts[tag] == nil {
			parts[tag] = &weir.Entry{ID: e.ID}
		}
		parts[tag].Charges = append(parts[tag].Charges, c)
	}
	e.Admitted, e.Now = true, now
	e.Outcomes = e.Outcomes[:0]
	for _, p := range parts {
		m.decideLocked(p, now)
		e.Admitted = e.Admitted && p.Admitted
	}
	for _, c := range e.Charges {
		p := parts[hashTag(c.Key)]
		o := p.Outcomes[0]
		if !e.Admitted {
			o.Granted = 0
		}
		e.Outcomes, p.Outcomes = append(e.Outcomes, o), p.Outcomes[1:]
	}
}
