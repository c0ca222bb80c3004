package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/stage"
	"github.com/weirlimit/weir/memstore"
)

// recorder is every stage at once, does what it is told and remembers what it
// was asked.
type recorder struct {
	answers          bool // as Local
	shuts            bool // as Gate
	all              bool // as Switch
	rule             string
	tried, learnt    int
	backed, inside   int
	forgotten        []string
	hints            []stage.Hint
	lastNow, nextNow weir.Micros
}

func (r *recorder) Try(a *stage.Ask) (weir.Source, bool) {
	r.tried++
	r.lastNow, r.nextNow = r.nextNow, a.Now
	r.hints = append(r.hints[:0], a.Hints...)
	if r.answers {
		r.fill(a, false)
	}
	return weir.SourceDenyCache, r.answers
}

func (r *recorder) fill(a *stage.Ask, ok bool) {
	a.Entry.Admitted = ok
	for range a.Entry.Charges {
		a.Entry.Outcomes = append(a.Entry.Outcomes, weir.Outcome{OK: ok, RetryAfter: weir.Second})
	}
}
func (r *recorder) Learn(*stage.Ask)    { r.learnt++ }
func (r *recorder) Forget(key string)   { r.forgotten = append(r.forgotten, key) }
func (r *recorder) Answer(a *stage.Ask) { r.backed++; r.fill(a, true) }
func (r *recorder) Enter() bool         { r.inside++; return !r.shuts }
func (r *recorder) Leave(time.Duration) { r.inside-- }
func (r *recorder) On() bool            { return r.all || r.rule != "" }
func (r *recorder) Forced(_, rule string) bool {
	return r.all || rule != "" && rule == r.rule
}

func staged(t *testing.T, store weir.Store, text string) (*engine.Engine, *recorder) {
	t.Helper()
	r := &recorder{}
	e, err := engine.New(engine.Options{Store: store, Deadline: time.Second, Local: r, Backstop: r, Switch: r, Gate: r})
	if err != nil {
		t.Fatal(err)
	}
	e.Swap(compile(t, text))
	return e, r
}

const twoRules = `
policies:
  - {id: tenants, by: [tenant], limits: [2/m, 5/h], on_failure: open}
  - {id: users, by: [user], limits: [1/m], on_failure: local}
`

func TestStagesInOrder(t *testing.T) {
	e, r := staged(t, memstore.New(), twoRules)
	if d := check(t, e, ask("tenant", "a")); d.Source != weir.SourceStore || r.tried != 1 || r.learnt != 2 || r.inside != 0 {
		t.Errorf("through the store: %+v, %+v", d, r)
	}
	if len(r.hints) != 2 || r.hints[0].Frees || r.hints[0].Strict || r.hints[0].ID == r.hints[1].ID {
		t.Errorf("hints: %+v", r.hints)
	}
	check(t, e, ask("tenant", "a", "user", "u"))
	if len(r.hints) != 3 || !r.hints[0].Frees || r.hints[0].Strict || !r.hints[2].Strict {
		t.Errorf("hints across slots: %+v", r.hints)
	}
	if r.lastNow < weir.Second || r.nextNow < r.lastNow {
		t.Errorf("instants %d, %d", r.lastNow, r.nextNow)
	}
	r.answers = true
	if d := check(t, e, ask("tenant", "a")); d.Allowed() || d.Source != weir.SourceDenyCache || d.RetryAfter != weir.Second || len(d.Charges) != 2 || r.learnt != 4 {
		t.Errorf("answered here: %+v, %+v", d, r)
	}
	// Whatever is known here, the store may hold the answer of an id.
	q := ask("tenant", "b")
	q.ID = "once"
	if d := check(t, e, q); !d.Allowed() || d.Source != weir.SourceStore {
		t.Errorf("with an id: %+v", d)
	}
}

func TestGateAndBackstop(t *testing.T) {
	e, r := staged(t, memstore.New(), twoRules)
	r.shuts = true
	if d := check(t, e, ask("tenant", "a")); !d.Allowed() || d.Source != weir.SourceBackstop || d.Reason != weir.ReasonDegraded || r.backed != 1 {
		t.Errorf("kept out: %+v, %+v", d, r)
	}
	store := memstore.New()
	e, r = staged(t, store, twoRules)
	_ = store.Close()
	if d := check(t, e, ask("user", "a")); !d.Allowed() || d.Source != weir.SourceBackstop || r.backed != 1 || r.learnt != 0 || r.inside != 0 {
		t.Errorf("no store: %+v, %+v", d, r)
	}
}

func TestForced(t *testing.T) {
	e, r := staged(t, memstore.New(), twoRules)
	verdicts := func(want ...bool) {
		t.Helper()
		for i, w := range want {
			if d := check(t, e, ask("tenant", "a", "user", "u")); d.Allowed() != w {
				t.Errorf("request %d: %+v", i+1, d)
			}
		}
	}
	verdicts(true, false)
	r.rule = "users"
	verdicts(true, false) // the tenant's limit still holds
	if d := check(t, e, ask("user", "u")); !d.Allowed() || d.Reason != weir.ReasonForced || d.Source != weir.SourceSwitch || d.Rule != "users" {
		t.Errorf("one rule: %+v", d)
	}
	r.rule, r.all = "", true
	if d := check(t, e, ask("tenant", "a")); !d.Allowed() || d.Reason != weir.ReasonForced || d.Source != weir.SourceSwitch {
		t.Errorf("everything: %+v", d)
	}
	r.all = false
	verdicts(false)
}

func TestResetIsTold(t *testing.T) {
	e, r := staged(t, memstore.New(), twoRules)
	check(t, e, ask("tenant", "a"))
	if _, _, err := e.Reset(context.Background(), ask("tenant", "a")); err != nil {
		t.Fatal(err)
	}
	if len(r.forgotten) != 4 { // two counters, two stages
		t.Errorf("forgotten: %q", r.forgotten)
	}
}

// foretells says that it is about to answer.
type foretells struct{ weir.Store }

func (s foretells) Submit(b *weir.Batch, done func(*weir.Batch)) {
	b.Soon()
	s.Store.Submit(b, done)
}

// A store may say that it is about to answer: who asked is answered once, by what
// it says then.
func TestSoon(t *testing.T) {
	e, r := staged(t, foretells{later{memstore.New()}}, "policies:\n  - {id: p, by: [tenant], limits: [2/m], on_failure: open}\n")
	if d := check(t, e, ask("tenant", "a")); !d.Allowed() || d.Remaining != 1 || r.learnt != 2 { // by two stages
		t.Errorf("%+v, learnt %d", d, r.learnt)
	}
}
