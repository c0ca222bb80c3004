package share_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/degrade/share"
)

func meter(t testing.TB, text string) *weir.Meter {
	t.Helper()
	l, err := weir.ParseLimit(text)
	if err != nil {
		t.Fatal(err)
	}
	return weir.MustMeter(l)
}

// node is one instance and what it knows of one key.
type node struct {
	meter  *weir.Meter
	parts  int
	starts bool
	state  share.State
	desk   share.Desk
}

func (n *node) ask(now weir.Micros, mode weir.Mode, cost int64) weir.Outcome {
	e := weir.Entry{Charges: []weir.Charge{{Key: "k", Meter: n.meter, Cost: cost, Mode: mode}}}
	n.desk.Answer(&e, now, []share.Part{{State: &n.state, Parts: n.parts, Starts: n.starts}})
	return e.Outcomes[0]
}

// drain takes single units until one is denied, and returns how many it got.
func (n *node) drain(now weir.Micros) (got int64) {
	for n.ask(now, weir.Enforce, 1).OK {
		got++
	}
	return got
}

const start = 1000 * weir.Second

func TestColdAndWarm(t *testing.T) {
	for _, c := range []struct {
		limit  string
		parts  int
		heard  int64 // -1 for nothing
		after  weir.Micros
		passes int64
	}{
		{"20/s burst 20", 1, -1, 0, 20},
		{"20/s burst 20", 2, -1, 0, 10},
		{"20/s burst 20", 3, -1, 0, 6}, // 3 x 6 <= 20
		{"20/s burst 20", 100, -1, 0, 1},
		{"20/s burst 20", 2, 20, 0, 10},
		{"20/s burst 20", 2, 7, 0, 3}, // 2 x 3 <= 7
		{"20/s burst 20", 2, 1, 0, 0},
		{"20/s burst 20", 2, 0, 0, 0},
		{"20/s burst 20", 2, 0, 100*weir.Millisecond - 1, 0},
		{"20/s burst 20", 2, 0, 100 * weir.Millisecond, 1},
		{"20/s burst 20", 2, 0, weir.Hour, 10}, // the ceiling
		{"100/h fixed_window", 4, -1, 0, 25},
		{"100/h fixed_window", 4, 10, 0, 2},
		{"100/h fixed_window", 4, 0, 30 * weir.Minute, 12},
		{"100/h", 4, 50, 0, 12},
		{"1/h", 10, -1, 0, 1},
		{"1/h", 10, 0, 10*weir.Hour - 1, 0},
		{"1/h", 10, 0, 10 * weir.Hour, 1},
		{"5/m sliding_log", 2, 3, 0, 1},
		{"1/365d", 1000, -1, 0, 1},
		{"7/3s burst 10", 3, 0, 1285715, 1}, // 9/7 s, rounded up
		{"7/3s burst 10", 3, 0, 1285714, 0},
	} {
		n := &node{meter: meter(t, c.limit), parts: c.parts}
		if c.heard >= 0 {
			n.state.Learn(share.NewsOf(n.meter, c.heard, start))
		}
		if got := n.drain(start + c.after); got != c.passes {
			t.Errorf("%s in %d, %d heard to be left, after %d us: %d pass, want %d", c.limit, c.parts, c.heard, c.after, got, c.passes)
		}
	}
}

// A store that answers now and then gives nothing back of what was let through
// here.
func TestAnswersGiveNothingBack(t *testing.T) {
	n := &node{meter: meter(t, "10/m burst 10"), parts: 2}
	total := int64(0)
	for i := range 60 {
		now := start + weir.Micros(i)*weir.Second
		n.state.Learn(share.NewsOf(n.meter, 10, now))
		total += n.drain(now)
	}
	if total != 5+4 { // the share, and a unit every 12 s
		t.Errorf("%d passed in a minute", total)
	}
	// What was let through is paid for by now, and the store's word counts alone.
	late := start + weir.Hour
	n.state.Learn(share.NewsOf(n.meter, 4, late))
	if got := n.drain(late); got != 2 {
		t.Errorf("%d passed of 4 left", got)
	}
}

func TestOvertakenAnswerIsNotLearnt(t *testing.T) {
	n := &node{meter: meter(t, "10/h burst 10"), parts: 1}
	n.state.Learn(share.NewsOf(n.meter, 3, start+1))
	n.state.Learn(share.NewsOf(n.meter, 9, start))
	if got := n.drain(start + 1); got != 3 {
		t.Errorf("%d passed", got)
	}
}

func TestModes(t *testing.T) {
	n := &node{meter: meter(t, "10/h burst 10"), parts: 2}
	for i, c := range []struct {
		mode      weir.Mode
		cost      int64
		ok        bool
		granted   int64
		remaining int64
	}{
		{weir.Peek, 5, true, 0, 5},
		{weir.Enforce, 0, true, 0, 5},
		{weir.Enforce, 3, true, 3, 2},
		{weir.Enforce, 3, false, 0, 2},
		{weir.Shadow, 3, false, 0, 2},
		{weir.Peek, 3, false, 0, 2},
		{weir.UpTo, 2, true, 0, 2},
		{weir.Always, 3, false, 3, 0}, // 6 in use of 5
		{weir.Refund, 2, true, 2, 1},
		{weir.Refund, 100, true, 4, 5},
		{weir.Enforce, 10, true, 10, 0}, // larger than the share, and nothing in use
		{weir.Enforce, 1, false, 0, 0},
		{weir.Enforce, 11, false, 0, 0}, // larger than the limit
	} {
		o := n.ask(start, c.mode, c.cost)
		if o.OK != c.ok || o.Granted != c.granted || o.Remaining != c.remaining {
			t.Errorf("step %d, %v %d: %+v", i, c.mode, c.cost, o)
		}
	}
	if o := n.ask(start, weir.Enforce, 11); o.RetryAfter != weir.Never {
		t.Errorf("above the limit: retry after %d", o.RetryAfter)
	}
	// 10 in use of 5, one drains in 12 minutes.
	if o := n.ask(start, weir.Enforce, 1); o.RetryAfter != 6*12*weir.Minute || o.ResetAfter != 10*12*weir.Minute {
		t.Errorf("%+v", o)
	}
}

func TestConcurrency(t *testing.T) {
	open := &node{meter: meter(t, "10 concurrency 1m"), parts: 2}
	for range 100 {
		if o := open.ask(start, weir.Enforce, 1); !o.OK || o.Granted != 0 || o.Remaining != 5 {
			t.Fatalf("%+v", o)
		}
	}
	strict := &node{meter: open.meter, parts: 5, starts: true}
	if got := strict.drain(start); got != 2 {
		t.Errorf("%d started at once", got)
	}
	if got := strict.drain(start + weir.Second); got != 2 {
		t.Errorf("%d started a second later", got)
	}
}

func TestCrowded(t *testing.T) {
	n := &node{meter: meter(t, "100/h burst 100"), parts: 2}
	m := share.Of(n.meter, n.parts)
	n.state.Crowd(&m, start)
	if got := n.drain(start); got != 1 {
		t.Errorf("%d passed", got)
	}
}

func TestMoreInstancesKeepWhatIsInUse(t *testing.T) {
	n := &node{meter: meter(t, "7/3s burst 40"), parts: 2}
	if got := n.drain(start); got != 20 {
		t.Fatal(got)
	}
	n.parts = 4
	if got := n.drain(start); got != 0 {
		t.Errorf("%d passed", got)
	}
	n.parts = 1
	if got := n.drain(start); got != 20 {
		t.Errorf("%d passed", got)
	}
}

// All or nothing, and a group passes when one of it does.
func TestEntries(t *testing.T) {
	wide, narrow := meter(t, "10/h burst 10"), meter(t, "1/h burst 1")
	var a, b share.State
	var d share.Desk
	ask := func(now weir.Micros, charges ...weir.Charge) weir.Entry {
		e := weir.Entry{Charges: charges}
		d.Answer(&e, now, []share.Part{{State: &a, Parts: 1}, {State: &b, Parts: 1}})
		return e
	}
	one := weir.Charge{Key: "a", Meter: wide, Cost: 1}
	two := weir.Charge{Key: "b", Meter: narrow, Cost: 1}
	if e := ask(start, one, two); !e.Admitted || e.Outcomes[0].Remaining != 9 || e.Outcomes[1].Remaining != 0 {
		t.Errorf("%+v", e)
	}
	if e := ask(start, one, two); e.Admitted || e.Outcomes[0].Remaining != 9 || e.Outcomes[0].Granted != 0 ||
		!e.Outcomes[0].OK || e.Outcomes[1].OK || e.Outcomes[1].RetryAfter != weir.Hour || e.Binding() != 1 {
		t.Errorf("%+v", e)
	}
	one.Group, two.Group = 1, 1
	if e := ask(start, one, two); !e.Admitted || e.Outcomes[0].Remaining != 8 || e.Outcomes[1].Granted != 0 {
		t.Errorf("%+v", e)
	}
	one.Group, two.Group, two.Mode = 0, 0, weir.Shadow
	if e := ask(start, one, two); !e.Admitted || e.Outcomes[0].Remaining != 7 || e.Outcomes[1].OK {
		t.Errorf("%+v", e)
	}
	// What was denied has cost nothing at all.
	if e := ask(start+weir.Hour, one, two); !e.Admitted || e.Outcomes[0].Remaining != 9 || !e.Outcomes[1].OK {
		t.Errorf("%+v", e)
	}
}

func TestAnswerAllocatesNothing(t *testing.T) {
	n := &node{meter: meter(t, "7/3s burst 10"), parts: 3}
	e := weir.Entry{Charges: []weir.Charge{{Key: "k", Meter: n.meter, Cost: 1}}}
	parts := []share.Part{{State: &n.state, Parts: 3}}
	now := start
	if got := testing.AllocsPerRun(100, func() {
		now += weir.Second
		n.state.Learn(share.NewsOf(n.meter, 5, now))
		n.desk.Answer(&e, now, parts)
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
