package local

import (
	"testing"

	"github.com/weirlimit/weir"
)

// step is a request at an instant, and who denies it.
type step struct {
	at      weir.Micros // after the one before
	ask     []weir.Charge
	here    bool // without the store
	admits  bool
	retry   weir.Micros // of the charge that binds; 0 is not looked at
	id      string
	frees   bool
	serial  uint32 // a new set of policies, when not 0
	forget  string
	refunds string // by another node, a unit, before the request
}

func TestDenials(t *testing.T) {
	one := func(key, limit string, cost int64) []weir.Charge { return []weir.Charge{charge(t, key, limit, cost)} }
	minute := one("k", "1/m fixed_window", 1)
	two := one("k", "1/s gcra", 1)
	const ms = weir.Millisecond
	for name, steps := range map[string][]step{
		"until it fits": {
			{ask: two, admits: true},
			{ask: two, retry: weir.Second},
			{at: 400 * ms, ask: two, here: true, retry: 600 * ms},
			{at: 600*ms - 1, ask: two, here: true, retry: 1},
			{at: 1, ask: two, admits: true},
		},
		"a second at most, and the true retry-after": {
			{ask: one("k", "1/m gcra", 1), admits: true},
			{ask: one("k", "1/m gcra", 1), retry: weir.Minute},
			{at: weir.Second - 1, ask: one("k", "1/m gcra", 1), here: true, retry: 59*weir.Second + 1},
			{at: 1, ask: one("k", "1/m gcra", 1), retry: 59 * weir.Second},
			{at: 1, ask: one("k", "1/m gcra", 1), here: true, retry: 59*weir.Second - 1},
		},
		"the same cost or more": {
			{ask: one("k", "10/s gcra", 8), admits: true},
			{ask: one("k", "10/s gcra", 5), retry: 300 * ms},
			{ask: one("k", "10/s gcra", 5), here: true, retry: 300 * ms},
			{ask: one("k", "10/s gcra", 7), here: true, retry: 500 * ms}, // exact: a bucket drains at a known pace
			{ask: one("k", "10/s gcra", 11), here: true, retry: weir.Never},
			{ask: one("k", "10/s gcra", 2), admits: true},
			{ask: one("k", "10/s gcra", 5), retry: 500 * ms}, // what was taken has moved it
			{ask: one("k", "10/s gcra", 1)},                  // less than was denied
			{ask: one("k", "10/s gcra", 5), here: true},
		},
		"too costly": {
			{ask: one("k", "2/s gcra", 3), retry: weir.Never},
			{ask: one("k", "2/s gcra", 3), here: true, retry: weir.Never},
			{ask: one("k", "2/s gcra", 1), admits: true},
			{at: weir.Second, ask: one("k", "2/s gcra", 3), retry: weir.Never},
		},
		"50 ms where others free": {
			{ask: minute, admits: true},
			{ask: minute, frees: true},
			{at: 50*ms - 1, ask: minute, here: true},
			{at: 1, ask: minute},
			{at: 60 * ms, ask: minute}, // sticks to the counter for a while
			{at: 10 * weir.Second, ask: minute},
			{at: 60 * ms, ask: minute, here: true},
		},
		"a refund of this node's": {
			{ask: minute, admits: true},
			{ask: minute},
			{ask: minute, here: true},
			{ask: []weir.Charge{with(weir.Refund, minute[0])}, admits: true},
			{ask: minute, admits: true},
			{ask: minute},
			{at: 50*ms - 1, ask: minute, here: true},
			{at: 1, ask: minute},
		},
		"a refund of another node's": {
			{ask: minute, admits: true},
			{ask: minute},
			{at: weir.Second - 1, ask: minute, here: true, refunds: "k"},
			{at: 1, ask: minute, admits: true},
		},
		"a new set of policies": {
			{ask: minute, admits: true},
			{ask: minute},
			{ask: minute, here: true},
			{ask: minute, serial: 2},
			{ask: minute, here: true},
		},
		"a limit raised by an override": {
			{ask: minute, admits: true},
			{ask: minute},
			{ask: minute, here: true},
			{ask: one("k", "2/m fixed_window", 1), admits: true},
			{ask: one("k", "2/m fixed_window", 1)},
			{ask: one("k", "2/m fixed_window", 1), here: true},
			{ask: minute},
		},
		"a reset": {
			{ask: minute, admits: true},
			{ask: minute},
			{ask: minute, here: true},
			{ask: minute, forget: "k", admits: true},
			{ask: minute},
			{at: 50*ms - 1, ask: minute, here: true},
			{at: 1, ask: minute},
		},
		"a reset, and a new set": {
			{ask: minute, admits: true},
			{ask: minute},
			{ask: minute, forget: "k", serial: 2, admits: true},
			{ask: minute},
			{at: 50*ms - 1, ask: minute, here: true},
			{at: 1, ask: minute},
		},
		"what is freed is so under any limit": {
			{ask: minute, admits: true},
			{ask: minute, frees: true},
			{ask: one("k", "2/m fixed_window", 2)},
			{at: 50*ms - 1, ask: one("k", "2/m fixed_window", 2), here: true},
			{at: 1, ask: one("k", "2/m fixed_window", 2)},
		},
		"the least of the costs that are denied": {
			{ask: one("k", "10/m gcra", 10), admits: true},
			{ask: one("k", "10/m gcra", 1)},
			{ask: one("k", "10/m gcra", 5), id: "x"},
			{ask: one("k", "10/m gcra", 1), here: true, retry: 6 * weir.Second},
		},
		"a reset of another": {
			{ask: minute, admits: true}, {ask: minute}, {ask: minute, here: true, forget: "other"},
		},
		"an id": {
			{ask: minute, admits: true}, {ask: minute, id: "x"}, {ask: minute, id: "x"}, {ask: minute, here: true},
		},
		"a replay says nothing new": {
			{ask: minute, admits: true, id: "x"}, {ask: minute}, {ask: minute, admits: true, id: "x"}, {ask: minute, here: true},
		},
		"nothing asked fits always": {
			{ask: minute, admits: true},
			{ask: minute},
			{ask: one("k", "1/m fixed_window", 0), admits: true},
			{ask: minute, here: true},
		},
		"a peek": {
			{ask: minute, admits: true},
			{ask: []weir.Charge{with(weir.Peek, minute[0])}},
			{ask: []weir.Charge{with(weir.Peek, minute[0])}, here: true},
			{ask: minute, here: true},
		},
		"shadow denies nothing": {
			{ask: minute, admits: true},
			{ask: minute},
			{ask: []weir.Charge{with(weir.Shadow, minute[0])}, admits: true},
			{ask: []weir.Charge{with(weir.Shadow, minute[0]), charge(t, "other", "1/m", 1)}, admits: true},
			{ask: []weir.Charge{with(weir.Shadow, minute[0]), charge(t, "other", "1/m", 1)}},
			{ask: []weir.Charge{with(weir.Shadow, minute[0]), charge(t, "other", "1/m", 1)}, here: true},
		},
		"up to": {
			{ask: minute, admits: true},
			{ask: minute},
			{ask: []weir.Charge{with(weir.UpTo, minute[0])}, admits: true},
			{ask: minute, here: true},
		},
		"refund and charge in one": {
			{ask: minute, admits: true},
			{ask: minute},
			{ask: []weir.Charge{charge(t, "k", "1/m fixed_window", 1), with(weir.Refund, charge(t, "r", "1/m", 1))}},
		},
		"always: a window that is used up": {
			{ask: []weir.Charge{with(weir.Always, minute[0])}, admits: true},
			{ask: []weir.Charge{with(weir.Always, minute[0])}},
			{ask: []weir.Charge{with(weir.Always, minute[0])}, here: true},
		},
		"always: a window that has some left": {
			{ask: one("k", "4/m fixed_window", 2), admits: true},
			{ask: one("k", "4/m fixed_window", 3)},
			{ask: []weir.Charge{with(weir.Always, charge(t, "k", "4/m fixed_window", 3))}},
			{ask: one("k", "4/m fixed_window", 1)}, // counted
		},
		"always: a debt is counted": {
			{ask: []weir.Charge{with(weir.Always, two[0])}, admits: true},
			{ask: []weir.Charge{with(weir.Always, two[0])}, retry: 2 * weir.Second},
			{ask: []weir.Charge{with(weir.Always, two[0])}, retry: 3 * weir.Second},
			{ask: two, here: true, retry: 3 * weir.Second},
			{ask: []weir.Charge{two[0], with(weir.Always, charge(t, "z", "9/m fixed_window", 1))}},
			{ask: []weir.Charge{two[0], with(weir.Always, charge(t, "z", "9/m fixed_window", 0))}, here: true},
		},
		"a group denies when all are used up": {
			{ask: []weir.Charge{grouped(1, minute[0]), grouped(1, charge(t, "b", "2/m fixed_window", 1))}, admits: true},
			{ask: minute},
			{ask: minute, here: true},
			{ask: []weir.Charge{grouped(1, minute[0]), grouped(1, charge(t, "b", "2/m fixed_window", 1))}, admits: true},
			{ask: []weir.Charge{grouped(1, minute[0]), grouped(1, charge(t, "b", "2/m fixed_window", 1))}},
			{ask: []weir.Charge{grouped(1, minute[0]), grouped(1, charge(t, "b", "2/m fixed_window", 1))}, here: true},
			{ask: []weir.Charge{grouped(1, minute[0]), grouped(1, charge(t, "c", "2/m fixed_window", 1))}, admits: true},
		},
		"concurrency": {
			{ask: one("k", "1 concurrency 1m", 1), id: "a", admits: true},
			{ask: one("k", "1 concurrency 1m", 1), id: "b"},
			{ask: one("k", "1 concurrency 1m", 1), id: "a", admits: true}, // renews
			{ask: one("k", "1 concurrency 1m", 1), id: "b"},
			{at: 49 * ms, ask: []weir.Charge{with(weir.Peek, charge(t, "k", "1 concurrency 1m", 1))}, here: true},
			{at: ms, ask: []weir.Charge{with(weir.Peek, charge(t, "k", "1 concurrency 1m", 1))}},
		},
		"one of several denies": {
			{ask: []weir.Charge{minute[0], charge(t, "b", "5/m", 1)}, admits: true},
			{ask: []weir.Charge{minute[0], charge(t, "b", "5/m", 1)}},
			{ask: []weir.Charge{minute[0], charge(t, "b", "5/m", 1)}, here: true},
			{ask: one("b", "5/m", 1), admits: true},
			{ask: []weir.Charge{charge(t, "b", "5/m", 1), minute[0]}, here: true},
		},
		"a counter with two names": {
			{ask: one("{t}old", "1/m fixed_window", 1), admits: true},
			{ask: one("{t}old", "1/m fixed_window", 1)},
			{ask: []weir.Charge{twin(charge(t, "{t}old", "1/m fixed_window", 1), "{t}new", weir.TwinNext)}, here: true},
			// The names change places.
			{ask: []weir.Charge{twin(charge(t, "{t}new", "1/m fixed_window", 1), "{t}old", weir.TwinLast)}},
			{ask: []weir.Charge{twin(charge(t, "{t}new", "1/m fixed_window", 1), "{t}old", weir.TwinOld)}, here: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newWorld(t).node(100)
			for i, s := range steps {
				n.play(t, i, s)
			}
		})
	}
}

func twin(c weir.Charge, name string, t weir.Twinning) weir.Charge {
	c.Twin, c.Twinning = name, t
	return c
}

func (n *node) play(t *testing.T, i int, s step) {
	t.Helper()
	n.now += s.at
	if s.serial != 0 {
		n.serial = s.serial
	}
	if s.forget != "" {
		if err := n.store.Reset(t.Context(), s.forget); err != nil {
			t.Fatal(err)
		}
		n.tier.Forget(s.forget)
	}
	if s.refunds != "" {
		back := with(weir.Refund, s.ask[0])
		n.submit(&weir.Entry{Charges: []weir.Charge{back}})
	}
	e, here := n.decideAs(s.id, s.frees, append([]weir.Charge(nil), s.ask...)...)
	if here != s.here || e.Admitted != s.admits {
		t.Fatalf("step %d: answered here %v, admitted %v; want %v, %v", i, here, e.Admitted, s.here, s.admits)
	}
	if len(e.Outcomes) != len(s.ask) {
		t.Fatalf("step %d: %d outcomes", i, len(e.Outcomes))
	}
	if s.retry == 0 {
		return
	}
	if o := e.Outcomes[e.Binding()]; o.RetryAfter != s.retry || o.OK {
		t.Fatalf("step %d: %+v, want to be told %d", i, o, s.retry)
	}
}
