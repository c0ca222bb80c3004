package storetest

import (
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/weirlimit/weir"
)

// probe is one case at work on one store.
type probe struct {
	testing.TB
	Harness
	tag string // a hash tag no other probe uses: no key is shared
}

func open(t testing.TB, f Factory) *probe {
	t.Helper()
	h := f(t)
	if h.Store == nil {
		t.Fatal("the factory returned no store")
	}
	t.Cleanup(func() {
		if err := h.Store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &probe{TB: t, Harness: h, tag: randomTag()}
}

func randomTag() string { return rand.Text()[:12] }

// taggedKey places the key named name, or name@tag, in a hash tag below tag.
func taggedKey(tag, name string) string {
	name, sub, _ := strings.Cut(name, "@")
	return "{" + tag + sub + "}" + name
}

func (p *probe) key(name string) string { return taggedKey(p.tag, name) }

func (p *probe) patient() patient { return patient{p.Store} }

func (p *probe) effort() int { return max(1, p.Effort) }

// freeze stops the clock when it can be, for cases that are merely simpler then.
func (p *probe) freeze() {
	if p.SetClock != nil {
		p.SetClock(Base)
	}
}

// meter parses a limit.
func meter(text string) *weir.Meter {
	l, err := weir.ParseLimit(text)
	if err != nil {
		panic(err)
	}
	return weir.MustMeter(l)
}

// still returns a meter of n units of which none comes back while a test runs.
func still(n int64) *weir.Meter {
	return weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: n, Window: weir.Year})
}

// ask decides entries as one batch and returns them answered. Errors are the
// caller's to look at; ask is for any goroutine.
func (p *probe) ask(entries ...weir.Entry) []weir.Entry {
	b := weir.Batch{Entries: entries}
	p.patient().decide(&b)
	return b.Entries
}

// decide is ask for entries that no store may answer with an error.
func (p *probe) decide(entries ...weir.Entry) []weir.Entry {
	p.Helper()
	for i, e := range p.ask(entries...) {
		if e.Err != nil {
			p.Fatalf("entry %d: %v", i, e.Err)
		}
		if len(e.Outcomes) != len(e.Charges) {
			p.Fatalf("entry %d: %d outcomes for %d charges", i, len(e.Outcomes), len(e.Charges))
		}
	}
	return entries
}

// take decides one entry.
func (p *probe) take(id string, charges ...weir.Charge) weir.Entry {
	p.Helper()
	return p.decide(weir.Entry{ID: id, Charges: charges})[0]
}

// used reads how many units are in use under a key.
func (p *probe) used(key string, m *weir.Meter) int64 {
	p.Helper()
	o, err := p.patient().read(key, m)
	if err != nil {
		p.Fatalf("read %q: %v", key, err)
	}
	return o.Before.Used
}

func (p *probe) wantUsed(key string, m *weir.Meter, want int64) {
	p.Helper()
	if got := p.used(key, m); got != want {
		p.Fatalf("%d units are in use under %.40q, want %d", got, key, want)
	}
}

func (p *probe) wantAdmitted(e weir.Entry, want bool) {
	p.Helper()
	if e.Admitted != want {
		p.Fatalf("admitted = %v, want %v: %+v", e.Admitted, want, e.Outcomes)
	}
}

// parallel runs work on n goroutines that start together, and fails with the
// first error any of them returns.
func (p *probe) parallel(n int, work func(worker int) error) {
	p.Helper()
	start := make(chan struct{})
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = work(i)
		})
	}
	close(start)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		p.Fatal(err)
	}
}
