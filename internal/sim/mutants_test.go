package sim

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/breaker"
)

// mutant is a Weir with one thing broken, and the checks that may notice it.
type mutant struct {
	name  string
	in    string // the scenario that is to notice it; empty for all
	check []string
	seams seams
}

func mutants() []mutant {
	return []mutant{
		{"spends leases after their end", "chaos", []string{"leases", "window"}, seams{tierClock: behind}},
		{"spends more than was debited", "", []string{"leases"}, seams{store: answering(func(_ *node, e *weir.Entry) {
			if e.Charges[0].Mode == weir.UpTo {
				for i := range e.Outcomes {
					e.Outcomes[i].Granted++
				}
			}
		})}},
		{"ignores that others hold units too", "", []string{"hold"}, seams{instances: 1}},
		{"asks for as much as ever when it was granted less", "steady", []string{"halve"}, seams{store: stubborn}},
		{"begins an outage with a whole burst", "", []string{"warm", "outage"}, seams{deaf: true}},
		{"never tries a store again", "", []string{"dead"}, seams{breaker: breaker.Config{Cooldown: weir.Minute, MaxCooldown: weir.Minute}}},
		{"opens at every failure, and waits for ever longer", "", []string{"dead"}, seams{breaker: breaker.Config{Consecutive: 1, MaxCooldown: weir.Minute, Cooldown: 10 * weir.Second}}},
		{"tries a store that is away all the time", "blackout", []string{"shut"}, seams{breaker: breaker.Config{Cooldown: weir.Millisecond, MaxCooldown: weir.Millisecond}}},
		{"loses data and does not say so", "", []string{"bound"}, seams{blind: true}},
		{"lets through what the store denies", "", []string{"bound", "window"}, seams{store: answering(func(n *node, e *weir.Entry) {
			e.Admitted = e.Admitted || n.chance.IntN(4) == 0
		})}},
		{"loses every other lease", "steady", []string{"used"}, seams{store: answering(func(n *node, e *weir.Entry) {
			if e.Charges[0].Mode == weir.UpTo && n.chance.IntN(2) == 0 {
				for i := range e.Outcomes {
					e.Outcomes[i].Granted = min(1, e.Outcomes[i].Granted)
				}
			}
		})}},
		{"has one counter for all tenants", "flood", []string{"isolation", "leases"}, seams{named: func(key string) string { return "{t0}" + key[len(key)-1:] }}},
		{"sends away whoever comes when many do", "flood", []string{"isolation"}, seams{store: func(n *node) weir.Store { return &narrow{link: n.link} }}},
		{"tells who is denied to come too early", "lone", []string{"retry"}, seams{store: answering(func(_ *node, e *weir.Entry) {
			for i := range e.Outcomes {
				if e.Outcomes[i].RetryAfter > 5*weir.Millisecond {
					e.Outcomes[i].RetryAfter -= 5 * weir.Millisecond
				}
			}
		})}},
		{"tells who is denied to come too late", "lone", []string{"retry"}, seams{store: answering(func(_ *node, e *weir.Entry) {
			for i := range e.Outcomes {
				if e.Outcomes[i].RetryAfter > 0 {
					e.Outcomes[i].RetryAfter++
				}
			}
		})}},
	}
}

// TestMutantsAreNoticed is the test of the simulator: each is noticed by one of
// its checks within some seeds.
func TestMutantsAreNoticed(t *testing.T) {
	noticed := map[string]bool{}
	for _, m := range mutants() {
		r := play(m.in, 300, m.seams, nil)
		if r == nil {
			t.Errorf("nobody notices a Weir that %s", m.name)
			continue
		}
		found := false
		for _, c := range m.check {
			found = found || c == r.Check
		}
		if !found {
			t.Errorf("that it %s was noticed as %s", m.name, r)
		}
		noticed[r.Check] = true
		t.Logf("%s: seed %d, %s: %s", m.name, r.Seed, r.Check, r.Problem)
	}
	for _, c := range []string{"bound", "warm", "leases", "hold", "halve", "used", "dead", "shut", "isolation", "retry"} {
		if !noticed[c] {
			t.Errorf("no mutant shows that %q can fail", c)
		}
	}
}

// behind is a clock by which a lease that has ended has not.
func behind(now weir.Micros) weir.Micros { return now - 200*weir.Millisecond }

// faulty changes what a link answers.
type faulty struct {
	*link
	edit func(n *node, e *weir.Entry)
}

func (f faulty) Submit(b *weir.Batch, done func(*weir.Batch)) {
	f.link.Submit(b, func(b *weir.Batch) {
		if e := &b.Entries[0]; e.Err == nil {
			f.edit(f.n, e)
		}
		done(b)
	})
}

func answering(edit func(n *node, e *weir.Entry)) func(*node) weir.Store {
	return func(n *node) weir.Store { return faulty{n.link, edit} }
}

// insistent asks for leases as large as may be, whatever it was granted.
type insistent struct{ *link }

func (i insistent) Submit(b *weir.Batch, done func(*weir.Batch)) {
	for j := range b.Entries[0].Charges {
		if c := &b.Entries[0].Charges[j]; c.Mode == weir.UpTo {
			c.Cost = i.n.w.tenantOf(c.Key).counter(c.Key).most
		}
	}
	i.link.Submit(b, done)
}

func stubborn(n *node) weir.Store { return insistent{n.link} }

// narrow lets a few calls through at a time.
type narrow struct {
	*link
	inside int
}

func (s *narrow) Submit(b *weir.Batch, done func(*weir.Batch)) {
	if s.inside >= 4 {
		b.Entries[0].Err = errRefused
		done(b)
		return
	}
	s.inside++
	s.link.Submit(b, func(b *weir.Batch) {
		s.inside--
		done(b)
	})
}
