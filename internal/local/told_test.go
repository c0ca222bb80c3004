package local

import (
	"fmt"
	"testing"

	"github.com/weirlimit/weir"
)

// What a denied request is told of its other counters is what was last known.
func TestOthersAreToldAsLastKnown(t *testing.T) {
	n := newWorld(t).node(100)
	tenant, ip, path := charge(t, "tenant", "1/m fixed_window", 1), charge(t, "ip", "10/m fixed_window", 1), charge(t, "path", "2/m gcra", 1)
	n.decide(ip)
	n.decide(ip, path)
	n.decide(tenant)
	n.decide(tenant, ip, path) // denied: all three are known now
	n.now += 300 * weir.Millisecond
	e, here := n.decide(tenant, ip, path)
	if !here || e.Admitted {
		t.Fatalf("here %v, %+v", here, e)
	}
	left := 58*weir.Second + 700*weir.Millisecond // of the fixed windows, which are 1 s old
	for i, want := range []weir.Outcome{
		{Remaining: 0, ResetAfter: left, RetryAfter: left, Before: weir.Usage{Used: 1}},
		{OK: true, Remaining: 8, ResetAfter: left, Before: weir.Usage{Used: 2}},
		{OK: true, Remaining: 1, ResetAfter: 30*weir.Second - 300*weir.Millisecond, Before: weir.Usage{Used: 1}},
	} {
		got := e.Outcomes[i]
		got.Before.Since = 0
		if got != want {
			t.Errorf("charge %d: %+v, want %+v", i, got, want)
		}
	}
	if e.Binding() != 0 {
		t.Errorf("charge %d binds", e.Binding())
	}
	// What is known is used for a cost that is asked now, not the one before.
	e, here = n.decide(tenant, charge(t, "path", "2/m gcra", 3))
	if o := e.Outcomes[1]; !here || o.OK || o.RetryAfter != weir.Never || o.Remaining != 1 {
		t.Errorf("here %v, %+v", here, o)
	}
}

// A flood of one exhausted counter that comes with another that is new each time
// costs some calls a second, not one per request.
func TestUnknownOthersCostLittle(t *testing.T) {
	for name, c := range map[string]struct {
		frees bool
		most  int // a second
	}{
		"one slot": {false, 1 + maxLooks}, "several": {true, int(weir.Second/believeFreed) + maxLooks},
	} {
		t.Run(name, func(t *testing.T) { unknownOthers(t, c.frees, c.most) })
	}
}

func unknownOthers(t *testing.T, frees bool, most int) {
	n := newWorld(t).node(1000)
	tenant := charge(t, "tenant", "1/h gcra", 1)
	n.decide(tenant)
	n.decide(tenant)
	before := n.asked
	for i := range 3000 { // three seconds
		n.now += weir.Millisecond
		e, here := n.decideAs("", frees, tenant, charge(t, fmt.Sprint("ip", i), "10/m", 1))
		if e.Admitted || len(e.Outcomes) != 2 {
			t.Fatalf("%+v", e)
		}
		if o := e.Outcomes[1]; here && (!o.OK || o.Remaining != 10 || o.ResetAfter != 0) {
			t.Fatalf("told %+v of a counter of which nothing is known", o)
		}
	}
	if calls := n.asked - before; calls < 3 || calls > 3*most+1 {
		t.Errorf("%d calls in 3 s", calls)
	}
	// One that is met again is known, and told as it is.
	n.decide(charge(t, "ip0", "10/m", 3))
	n.now += weir.Second
	n.decide(tenant, charge(t, "ip0", "10/m", 1))
	if e, here := n.decide(tenant, charge(t, "ip0", "10/m", 1)); !here || e.Outcomes[1].Remaining != 7 {
		t.Errorf("here %v, %+v", here, e.Outcomes)
	}
}

// What is told counts from when the store's answer came, and what is believed
// from when the request did: the store's instant lies between.
func TestSlowAnswer(t *testing.T) {
	n := newWorld(t).node(10)
	c := charge(t, "k", "2/s gcra", 2)
	n.decide(c)
	a := n.prepare("", false, []weir.Charge{c})
	n.now += 100 * weir.Millisecond // on the way there
	n.submit(a.Entry)
	n.now += 200 * weir.Millisecond // and back
	a.Took = 300 * weir.Millisecond
	n.tier.Learn(a) // it fits 1 s after it was charged, and so 0.9 s after the store answered
	n.now += 550 * weir.Millisecond
	if e, here := n.decide(c); !here || e.Outcomes[0].RetryAfter != 350*weir.Millisecond {
		t.Errorf("here %v, %+v", here, e.Outcomes) // the store would say 150 ms
	}
	n.now += 50 * weir.Millisecond // 0.9 s after it came
	if e, here := n.decide(c); here || e.Outcomes[0].RetryAfter != 100*weir.Millisecond {
		t.Errorf("here %v, %+v", here, e.Outcomes)
	}
}

// Answers that come in after newer ones change nothing.
func TestAnswersOutOfOrder(t *testing.T) {
	w := newWorld(t)
	n, late := w.node(10), w.node(10)
	late.tier = n.tier
	c := charge(t, "k", "1/m gcra", 1)
	n.decide(c)
	old := late.prepare("", false, []weir.Charge{c})
	w.submit(old.Entry) // denied
	n.now += weir.Millisecond
	n.decide(with(weir.Refund, c))
	n.tier.Learn(old)
	if e, here := n.decide(c); here || !e.Admitted {
		t.Errorf("here %v, %+v", here, e)
	}
	// The clock of a replica that took over may be behind by more.
	n.now += weir.Second
	n.decide(c)
	n.now -= weir.Minute
	n.start -= weir.Minute + weir.Second
	n.decide(c)
	if _, here := n.decide(c); !here {
		t.Error("nothing is learnt while the store's clock is behind")
	}
}

func TestBounded(t *testing.T) {
	n := newWorld(t).node(64)
	m := "1/h gcra"
	for i := range 5000 {
		c := charge(t, fmt.Sprint("k", i), m, 1)
		n.decide(c)
		n.decide(c)
		if _, here := n.decide(c); !here {
			t.Fatalf("counter %d: the newest is not known", i)
		}
	}
	if got := n.tier.Stats().Denials; got != 64 {
		t.Errorf("%d records", got)
	}
	if got := New(Options{}).Stats().Denials; got != 0 {
		t.Errorf("%d records of no cache", got)
	}
}

// A tier without parts answers nothing and minds nothing.
func TestNoParts(t *testing.T) {
	n := newWorld(t).node(0)
	c := charge(t, "k", "1/h gcra", 1)
	n.decide(c)
	n.decide(c)
	n.tier.Forget("k")
	if e, here := n.decide(c); here || e.Admitted {
		t.Errorf("here %v, %+v", here, e)
	}
}
