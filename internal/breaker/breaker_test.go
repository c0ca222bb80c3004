package breaker

import (
	"testing"

	"github.com/weirlimit/weir"
)

const (
	ms = weir.Millisecond
	s  = weir.Second
)

// step is one event and what it leaves. Only those fields that belong to the
// event are looked at.
type step struct {
	at   weir.Micros
	do   string // allow, fail, one event fails, succeed, probe fails, probe succeeds, forget, topology
	n    int    // how many, for fail and succeed; 0 is 1
	want string // of allow: yes, no, probe
	is   weir.BreakerState
}

const (
	closed = weir.BreakerClosed
	open   = weir.BreakerOpen
	half   = weir.BreakerHalfOpen
)

// TestSteps walks the diagram.
func TestSteps(t *testing.T) {
	for name, steps := range map[string][]step{
		"stays closed below twenty in a row": {
			{do: "fail", n: 19, is: closed},
			{do: "allow", want: "yes", is: closed},
			{do: "succeed", is: closed},
			{do: "fail", n: 19, is: closed},
		},
		"twenty in a row open it": {
			{do: "fail", n: 19, is: closed},
			{do: "fail", is: open},
			{at: 249 * ms, do: "allow", want: "no", is: open},
		},
		"successes come before failures of the same count": {
			{do: "fail", n: 19, is: closed},
			{do: "succeed and fail", n: 1, is: closed},
			{do: "fail", n: 19, is: open},
		},
		"a share above one percent opens it": {
			{do: "succeed", n: 2390, is: closed},
			{at: 1 * s, do: "fail", n: 10, is: closed},
			{at: 1 * s, do: "succeed", is: closed},
			{at: 1 * s, do: "fail", n: 14, is: closed}, // 24 of 2415
			{at: 2 * s, do: "succeed", is: closed},
			{at: 2 * s, do: "fail", is: open}, // 25 of 2417
		},
		"exactly one percent does not": {
			{do: "succeed", n: 2474, is: closed},
			{at: 1 * s, do: "fail", n: 15, is: closed},
			{at: 1 * s, do: "succeed", is: closed},
			{at: 1 * s, do: "fail", n: 10, is: closed}, // 25 of 2500
			{at: 1 * s, do: "fail", is: open},
		},
		"few calls have no share": {
			{do: "succeed", n: 478, is: closed},
			{do: "fail", n: 19, is: closed},
			{do: "succeed", is: closed},
			{do: "fail", is: closed}, // 20 of 499
			{do: "fail", is: open},
		},
		"few failures have none either": {
			{do: "succeed", n: 500, is: closed},
			{do: "fail", n: 10, is: closed},
			{do: "succeed", is: closed},
			{do: "fail", n: 9, is: closed},
			{do: "succeed", is: closed},
			{do: "fail", is: open},
		},
		"one event is not many failures": {
			{do: "succeed", n: 1000, is: closed},
			{do: "one event fails", n: 300, is: closed},
			{do: "one event fails", n: 300, is: closed}, // at once, on the same connection
			{do: "succeed", is: closed},
			{at: 1 * s, do: "fail", is: closed},
			{at: 1 * s, do: "fail", is: open}, // 602 of 1603 calls, of a weight of 20
		},
		"three events in a row are": {
			{do: "one event fails", n: 30, is: closed},
			{do: "one event fails", n: 30, is: closed},
			{do: "one event fails", n: 30, is: open},
		},
		"an event of one call weighs one": {
			{do: "one event fails", n: 1, is: closed},
			{do: "fail", n: 18, is: closed},
			{do: "fail", is: open},
		},
		"what is older than the window is forgotten": {
			{at: 500 * ms, do: "fail", n: 19, is: closed},
			{at: 1 * s, do: "succeed", n: 500, is: closed},
			{at: 30 * s, do: "succeed", is: closed},
			{at: 30 * s, do: "fail", n: 6, is: closed}, // 6 of 507: the others are gone
		},
		"what is inside it is not": {
			{at: 500 * ms, do: "fail", n: 19, is: closed},
			{at: 1 * s, do: "succeed", n: 500, is: closed},
			{at: 29999 * ms, do: "fail", n: 1, is: open},
		},
		"a long silence empties the window": {
			{do: "fail", n: 19, is: closed},
			{do: "succeed", n: 400, is: closed},
			{at: 1000 * s, do: "succeed", n: 400, is: closed},
			{at: 1000 * s, do: "fail", n: 19, is: closed},
		},
		"one probe, and its success closes": {
			{do: "fail", n: 20, is: open},
			{at: 250 * ms, do: "allow", want: "probe", is: half},
			{at: 250 * ms, do: "allow", want: "no", is: half},
			{at: 260 * ms, do: "probe succeeds", is: closed},
			{at: 260 * ms, do: "allow", want: "yes", is: closed},
			{at: 260 * ms, do: "fail", n: 19, is: closed}, // the history starts anew
		},
		"the cooldown doubles to five seconds and starts again after a success": {
			{do: "fail", n: 20, is: open},
			{at: 250 * ms, do: "allow", want: "probe", is: half},
			{at: 250 * ms, do: "probe fails", is: open},
			{at: 749 * ms, do: "allow", want: "no", is: open},
			{at: 750 * ms, do: "allow", want: "probe", is: half},
			{at: 750 * ms, do: "probe fails", is: open},
			{at: 1749 * ms, do: "allow", want: "no", is: open},
			{at: 1750 * ms, do: "allow", want: "probe", is: half},
			{at: 1750 * ms, do: "probe fails", is: open},
			{at: 3750 * ms, do: "allow", want: "probe", is: half},
			{at: 3750 * ms, do: "probe fails", is: open},
			{at: 7750 * ms, do: "allow", want: "probe", is: half},
			{at: 7750 * ms, do: "probe fails", is: open},
			{at: 12749 * ms, do: "allow", want: "no", is: open},
			{at: 12750 * ms, do: "allow", want: "probe", is: half},
			{at: 12750 * ms, do: "probe fails", is: open},
			{at: 17749 * ms, do: "allow", want: "no", is: open},
			{at: 17750 * ms, do: "allow", want: "probe", is: half},
			{at: 17750 * ms, do: "probe succeeds", is: closed},
			{at: 18 * s, do: "fail", n: 20, is: open},
			{at: 18*s + 249*ms, do: "allow", want: "no", is: open},
			{at: 18*s + 250*ms, do: "allow", want: "probe", is: half},
		},
		"calls sent before it opened change nothing": {
			{do: "fail", n: 20, is: open},
			{at: 100 * ms, do: "succeed", n: 50, is: open},
			{at: 200 * ms, do: "fail", n: 50, is: open},
			{at: 250 * ms, do: "allow", want: "probe", is: half},
			{at: 250 * ms, do: "succeed", n: 50, is: half},
		},
		"a probe that is not heard of has failed": {
			{do: "fail", n: 20, is: open},
			{at: 250 * ms, do: "allow", want: "probe", is: half},
			{at: 1249 * ms, do: "allow", want: "no", is: half},
			{at: 1250 * ms, do: "allow", want: "no", is: open},
			{at: 1260 * ms, do: "probe succeeds", is: open}, // too late to speak
			{at: 1749 * ms, do: "allow", want: "no", is: open},
			{at: 1750 * ms, do: "allow", want: "probe", is: half},
		},
		"a probe that was not sent lets the next call be one": {
			{do: "fail", n: 20, is: open},
			{at: 250 * ms, do: "allow", want: "probe", is: half},
			{at: 251 * ms, do: "forget", is: half},
			{at: 251 * ms, do: "allow", want: "probe", is: half},
			{at: 252 * ms, do: "probe fails", is: open},
			{at: 751 * ms, do: "allow", want: "no", is: open},
			{at: 752 * ms, do: "allow", want: "probe", is: half},
		},
		"a topology change probes at once and forgets the cooldown": {
			{do: "topology", is: closed},
			{do: "fail", n: 20, is: open},
			{at: 250 * ms, do: "allow", want: "probe", is: half},
			{at: 250 * ms, do: "probe fails", is: open},
			{at: 300 * ms, do: "topology", is: open},
			{at: 300 * ms, do: "allow", want: "probe", is: half},
			{at: 300 * ms, do: "allow", want: "no", is: half},
			{at: 310 * ms, do: "probe fails", is: open},
			{at: 809 * ms, do: "allow", want: "no", is: open},
			{at: 810 * ms, do: "allow", want: "probe", is: half},
		},
		"a topology change gives up the probe to the old server": {
			{do: "fail", n: 20, is: open},
			{at: 250 * ms, do: "allow", want: "probe", is: half},
			{at: 260 * ms, do: "topology", is: open},
			{at: 261 * ms, do: "old probe fails", is: open},
			{at: 261 * ms, do: "allow", want: "probe", is: half},
			{at: 262 * ms, do: "probe succeeds", is: closed},
		},
		"time that goes back shortens nothing": {
			{at: 10 * s, do: "fail", n: 20, is: open},
			{at: 1 * s, do: "allow", want: "no", is: open},
			{at: 10*s + 250*ms, do: "allow", want: "probe", is: half},
		},
	} {
		t.Run(name, func(t *testing.T) { walk(t, New(Config{}), steps) })
	}
}

func walk(t *testing.T, b *Breaker, steps []step) {
	t.Helper()
	var probe Ticket
	for i, st := range steps {
		n := max(1, st.n)
		switch st.do {
		case "allow":
			got := "no"
			switch tk, ok := b.Allow(st.at); {
			case tk.Probe():
				got, probe = "probe", tk
			case ok:
				got = "yes"
			}
			if got != st.want {
				t.Fatalf("step %d at %d: allow says %s, want %s", i, st.at, got, st.want)
			}
		case "fail":
			for range n {
				b.Done(st.at, 0, true)
			}
		case "succeed":
			b.Count(st.at, n, 0, 0)
		case "succeed and fail":
			b.Count(st.at, n, n, n)
		case "one event fails":
			b.Count(st.at, 0, n, min(n, b.PerEvent()))
		case "probe fails", "old probe fails":
			b.Done(st.at, probe, true)
		case "probe succeeds":
			b.Done(st.at, probe, false)
		case "forget":
			b.Forget(st.at, probe)
		case "topology":
			b.TopologyChanged(st.at)
		default:
			t.Fatalf("step %d: no event %q", i, st.do)
		}
		if b.State() != st.is {
			t.Fatalf("step %d at %d, %s: %s, want %s", i, st.at, st.do, b.State(), st.is)
		}
	}
}

// TestJitter adds up to a fifth of the cooldown.
func TestJitter(t *testing.T) {
	u := 0.0
	b := New(Config{Jitter: func() float64 { return u }})
	u = 0.5
	walk(t, b, []step{
		{do: "fail", n: 20, is: open},
		{at: 274 * ms, do: "allow", want: "no", is: open},
		{at: 275 * ms, do: "allow", want: "probe", is: half},
	})
	u = 0.999999
	walk(t, b, []step{
		{at: 275 * ms, do: "topology", is: open},
		{at: 275 * ms, do: "allow", want: "probe", is: half},
	})
	b.Done(275*ms, b.probe, true)
	if wait := b.until - 275*ms; wait < 599*ms || wait >= 600*ms {
		t.Errorf("a cooldown of 500 ms lasts %d us with the most jitter, want just below 600 ms", wait)
	}
}

// TestAllocations: it is asked for every call.
func TestAllocations(t *testing.T) {
	b := New(Config{Jitter: func() float64 { return 0.5 }})
	now := weir.Micros(0)
	if n := testing.AllocsPerRun(1000, func() {
		now += 100 * ms
		tk, _ := b.Allow(now)
		b.Done(now, tk, now%s < 300*ms)
		b.Count(now, 3, 5, 2)
	}); n != 0 {
		t.Errorf("%v allocations a call, want none", n)
	}
}

func BenchmarkClosed(b *testing.B) {
	br := New(Config{})
	now := weir.Micros(0)
	for b.Loop() {
		now += 10
		tk, _ := br.Allow(now)
		br.Done(now, tk, false)
	}
}

func TestOverdue(t *testing.T) {
	b := New(Config{Consecutive: 1, Cooldown: 100, ProbeFor: 1000})
	if n := b.Overdue(50); n != 0 {
		t.Errorf("%d of one that is closed", n)
	}
	b.Done(50, 0, true)
	for now, want := range map[weir.Micros]weir.Micros{100: 0, 150: 0, 151: 1, 650: 500} {
		if n := b.Overdue(now); n != want {
			t.Errorf("at %d: %d, want %d", now, n, want)
		}
	}
	ticket, _ := b.Allow(700)
	if n := b.Overdue(1700); !ticket.Probe() || n != 0 {
		t.Errorf("%d while a probe is away", n)
	}
	if n := b.Overdue(1800); n != 100 {
		t.Errorf("%d after one that was lost, want 100", n)
	}
	b.Forget(1800, ticket)
	if n := b.Overdue(1850); n != 50 {
		t.Errorf("%d after one that said nothing, want 50", n)
	}
}

// A row that must go on for a while opens nothing before it has, and begins anew
// with a success.
func TestSpan(t *testing.T) {
	b := New(Config{Consecutive: 3, Span: 20 * ms})
	for _, c := range []struct {
		at                weir.Micros
		succeeded, failed int
		is                weir.BreakerState
	}{
		{1 * s, 0, 50, closed},
		{1*s + 19*ms, 0, 50, closed},
		{1*s + 19*ms, 1, 0, closed},
		{1*s + 30*ms, 0, 3, closed},
		{1*s + 49*ms, 0, 1, closed},
		{1*s + 50*ms, 0, 1, open},
	} {
		b.Count(c.at, c.succeeded, c.failed, c.failed)
		if b.State() != c.is {
			t.Fatalf("at %d it is %v, want %v", c.at, b.State(), c.is)
		}
	}
}
