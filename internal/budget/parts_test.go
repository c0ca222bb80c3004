//go:build unix

package budget_test

import (
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/internal/degrade"
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/internal/obs"
	"github.com/weirlimit/weir/internal/stage"
	"github.com/weirlimit/weir/internal/ticks"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
)

// counter is the key that request is charged to.
const counter = "{acme}7:default7:tenantsgs"

func meter(b *testing.B) *weir.Meter {
	b.Helper()
	m, err := weir.NewMeter(weir.Limit{Algorithm: weir.GCRA, Count: 1_000_000, Window: weir.Second, Burst: 1_000_000})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// BenchmarkPart is each part of a decision by itself, in the order of its use.
// They are warm here, and so their sum is less than a decision.
func BenchmarkPart(b *testing.B) {
	m := meter(b)
	b.Run("clock", func(b *testing.B) {
		from := time.Now()
		loop(b, func() { _ = time.Since(from) })
	})
	b.Run("counter", func(b *testing.B) {
		loop(b, func() { _ = ticks.Read() })
	})
	b.Run("resolve-native", func(b *testing.B) { resolve(b, native(b, ample), request()) })
	b.Run("resolve-envoy", func(b *testing.B) { resolve(b, envoy(b), request()) })
	b.Run("resolve-private", func(b *testing.B) {
		r := request()
		r.Descriptors[0].Pairs = append(r.Descriptors[0].Pairs, weir.Pair{Name: "user", Value: "ann"})
		resolve(b, native(b, private), r)
	})
	b.Run("hash", func(b *testing.B) {
		loop(b, func() { _ = keytable.Of(counter) })
	})
	b.Run("lookup", func(b *testing.B) {
		t := keytable.New[[8]int64](1 << 16)
		id := keytable.Of(counter)
		s := t.Lock(id)
		s.Put(id)
		s.Unlock()
		loop(b, func() {
			s := t.Lock(id)
			s.Find(id)[0]++
			s.Unlock()
		})
	})
	b.Run("decide", func(b *testing.B) {
		var o weir.Outcome
		st, now := algo.State{}, weir.Micros(1_700_000_000_000_000)
		loop(b, func() {
			now++
			algo.DecideInto(m, &st, now, 1, algo.Owner{}, &o)
		})
	})
	b.Run("memstore", func(b *testing.B) {
		s := memstore.New()
		batch := weir.Batch{Entries: []weir.Entry{{Charges: []weir.Charge{{Key: counter, Meter: m, Cost: 1}}}}}
		done := func(*weir.Batch) {}
		loop(b, func() { s.Submit(&batch, done) })
	})
	b.Run("backstop-learns", func(b *testing.B) {
		s := degrade.NewBackstop(degrade.BackstopOptions{})
		e := weir.Entry{Charges: []weir.Charge{{Key: counter, Meter: m, Cost: 1}}, Outcomes: make([]weir.Outcome, 1), Admitted: true}
		a := stage.Ask{Now: weir.Second, Serial: 1, Entry: &e, Hints: []stage.Hint{{ID: keytable.Of(counter)}}}
		loop(b, func() {
			a.Now++
			s.Learn(&a)
		})
	})
	b.Run("gate", func(b *testing.B) {
		g := degrade.NewGate(degrade.GateOptions{Target: time.Second})
		loop(b, func() { g.Enter(); g.Leave(time.Microsecond) })
	})
	b.Run("metrics", func(b *testing.B) {
		o := obs.New(obs.Options{})
		o.SetLoaded(1, "v", []obs.RuleInfo{{Domain: "default", ID: "tenants"}})
		r, d, decided := request(), &weir.Decision{Verdict: weir.Allow, SetSerial: 1}, o.Hooks().Decided
		loop(b, func() { decided(r, d, 731) })
	})
}

func resolve(b *testing.B, set *policy.Set, r *weir.Request) {
	p := policy.Plan{Now: 1_700_000_000_000_000}
	loop(b, func() {
		if err := set.Resolve(r, &p); err != nil || len(p.Charges) == 0 {
			b.Fatal(err, p.Charges)
		}
	})
}

func native(b *testing.B, text string) *policy.Set {
	b.Helper()
	f, problems := policy.ParseNative("budget.yaml", []byte(text))
	return compile(b, &policy.File{Name: "budget.yaml", Native: f}, problems)
}

// private counts by a value that goes by a pseudonym, which is a keyed hash.
const private = "policies:\n  - {id: users, by: [tenant, user], limits: [1000000/s], on_failure: open}\n"

// envoy is a domain in envoyproxy/ratelimit's format that has request's entries.
func envoy(b *testing.B) *policy.Set {
	b.Helper()
	f, problems := policy.ParseEnvoy("budget.yaml", []byte(`
domain: default
descriptors:
  - key: tenant
    descriptors:
      - key: region
        rate_limit: {unit: second, requests_per_unit: 1000000}
`))
	return compile(b, &policy.File{Name: "budget.yaml", Envoy: f}, problems)
}

func compile(b *testing.B, f *policy.File, problems []policy.Problem) *policy.Set {
	b.Helper()
	if policy.HasErrors(problems) {
		b.Fatal(problems)
	}
	set, problems := policy.Compile([]*policy.File{f}, policy.Options{})
	if policy.HasErrors(problems) {
		b.Fatal(problems)
	}
	return set
}
