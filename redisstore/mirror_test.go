package redisstore

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/internal/redistest"
)

// TestScriptMirrorsSettle flies anything that may be asked, at random, and compares what
// Redis has after each flight with what the flight says: states byte for byte,
// how many were admitted, and that no state expires before it is empty.
func TestScriptMirrorsSettle(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 50
	}
	srv := redistest.Start(t)
	for seed := range uint64(4) {
		srv.MustDo("FLUSHALL")
		m := newMirror(t, srv, seed)
		for range rounds {
			m.passTime()
			items := m.items()
			if len(items) == 0 {
				continue
			}
			m.fly(items)
			m.compare(items)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

// TestScriptMirrorsTakeover has another algorithm take a key over, and be denied by the
// first: what Redis held before is gone for both sides.
func TestScriptMirrorsTakeover(t *testing.T) {
	m := newMirror(t, redistest.Start(t), 0)
	bucket, window := still(5), weir.MustMeter(weir.Limit{Algorithm: weir.FixedWindow, Count: 5, Window: weir.Year})
	m.marked[bucket.Mark], m.marked[window.Mark] = bucket, window
	fly := func(charges ...weir.Charge) {
		t.Helper()
		var items []*item
		for _, c := range charges {
			it := &item{ordered: true}
			it.init(&weir.Entry{Charges: []weir.Charge{c}}, &amendment{}, 0, 0)
			items = append(items, it)
		}
		m.fly(items)
		m.compare(items)
	}
	fly(charge("k", window, 5))
	fly(charge("k", bucket, 1), charge("k", window, 6), charge("k", window, 1))
}

type mirror struct {
	*testing.T
	srv    *redistest.Server
	s      *Store
	f      *flight
	rnd    *rand.Rand
	now    weir.Micros
	kinds  [][]*weir.Meter
	marked map[uint16]*weir.Meter
	limits map[string]*weir.Meter // of each key, for some time
	sent   []weir.Entry
	before map[string]string
}

func newMirror(t *testing.T, srv *redistest.Server, seed uint64) *mirror {
	m := &mirror{
		T: t, srv: srv, rnd: rand.New(rand.NewPCG(seed, 9)), now: weir.MicrosAt(time.Now().Add(time.Hour)),
		marked: map[uint16]*weir.Meter{}, limits: map[string]*weir.Meter{},
	}
	for _, kind := range []string{
		"3/s burst 3,7/s burst 11,700000/s burst 700000,9999991/365d burst 9999991,1/365d burst 2,10/s burst 5 leaky_bucket,7/3s burst 200",
		"5/s fixed_window,1/m fixed_window,100/h fixed_window,9999991/d fixed_window",
		"1/s,3/s,17/m,100/m,9999991/365d,40/10s,5/s sliding_log,60/m sliding_log",
		"1 concurrency 5s,3 concurrency 30s,10 concurrency 1h",
	} {
		var meters []*weir.Meter
		for text := range strings.SplitSeq(kind, ",") {
			l, err := weir.ParseLimit(text)
			if err != nil {
				t.Fatal(err)
			}
			meter := weir.MustMeter(l)
			meters, m.marked[meter.Mark] = append(meters, meter), meter
		}
		m.kinds = append(m.kinds, meters)
	}
	m.s = open(t, WithClock(Options{Addrs: []string{srv.Addr()}}, func() weir.Micros { return m.now }))
	m.f = newFlight(m.s)
	return m
}

// oneIn is true so often.
func (m *mirror) oneIn(n int) bool { return m.rnd.IntN(n) == 0 }

func (m *mirror) passTime() {
	span := 2 * weir.Second
	switch m.rnd.IntN(50) {
	case 0:
		span = 100 * weir.Day
	case 1, 2, 3, 4, 5:
		span = 2 * weir.Hour
	case 6, 7, 8, 9, 10: // a clock that was set back
		m.now -= 3 * weir.Second
	case 11, 12, 13, 14, 15:
		return
	}
	m.now += weir.Micros(m.rnd.Int64N(int64(span)))
}

func (m *mirror) key(kind int) string { return fmt.Sprintf("{t}%d-%d", kind, m.rnd.IntN(3)) }

func (m *mirror) charge(plain, upto bool) weir.Charge {
	kind := m.rnd.IntN(len(m.kinds))
	if plain {
		kind = m.rnd.IntN(3)
	}
	c := weir.Charge{Key: m.key(kind), Cost: m.rnd.Int64N(4), Mode: weir.Enforce}
	if c.Meter = m.limits[c.Key]; c.Meter == nil || m.oneIn(40) {
		c.Meter = m.kinds[kind][m.rnd.IntN(len(m.kinds[kind]))]
		m.limits[c.Key] = c.Meter
	}
	switch {
	case m.oneIn(8):
		c.Cost = m.rnd.Int64N(c.Meter.Capacity + 2)
	case m.oneIn(60):
		c.Cost = weir.MaxUsed + m.rnd.Int64N(3) - 1
	case m.oneIn(100):
		c.Cost = 1 << 60
	}
	switch {
	case !plain && m.oneIn(30): // another algorithm looks, or takes the key over
		c.Meter, c.Mode = m.kinds[(kind+1)%3][0], weir.Peek
		if m.oneIn(2) {
			c.Mode = weir.Enforce
		}
		return c
	case upto:
		c.Mode = weir.UpTo
	case plain && m.oneIn(3):
		c.Mode = weir.Always
	case !plain && m.oneIn(2):
		c.Mode = weir.Mode(m.rnd.IntN(5))
	}
	if !plain && !upto && m.oneIn(4) && (c.Mode == weir.Enforce || c.Mode == weir.Always) {
		c.Group = uint8(1 + m.rnd.IntN(2))
	}
	if !plain && m.oneIn(4) {
		c.Twin, c.Twinning = m.key(kind), weir.Twinning(1+m.rnd.IntN(3))
	}
	return c
}

// entry is a new one, or one of those before.
func (m *mirror) entry() weir.Entry {
	if len(m.sent) > 0 && m.oneIn(4) {
		return m.sent[m.rnd.IntN(len(m.sent))]
	}
	var e weir.Entry
	if m.oneIn(3) {
		e.ID = fmt.Sprint("id", m.rnd.IntN(20))
	}
	plain, upto := m.oneIn(3), m.oneIn(10)
	for range 1 + m.rnd.IntN(3) {
		e.Charges = append(e.Charges, m.charge(plain, upto))
	}
	return e
}

func (m *mirror) items() []*item {
	var items []*item
	for range 1 + m.rnd.IntN(12) {
		e := m.entry()
		if e.Validate() != nil {
			continue
		}
		if m.sent = append(m.sent, e); len(m.sent) > 40 {
			m.sent = m.sent[1:]
		}
		times := 1
		if m.oneIn(4) {
			times += m.rnd.IntN(4)
		}
		undo := m.oneIn(4)
		for range times {
			own := e
			it := &item{}
			it.init(&own, &amendment{}, 0, 0)
			it.identify(nil)
			it.ordered = m.oneIn(2)
			if it.flags&flagReplay != 0 {
				if undo || m.oneIn(2) {
					it.flags |= flagTried
					it.attempt = 1 + m.rnd.Uint64N(2)
				}
				if undo {
					it.flags = it.flags&^flagReplay | flagUndo
				} else if m.oneIn(4) {
					it.flags |= flagShort
				}
			}
			items = append(items, it)
		}
	}
	return items
}

// fly has the script decide the items, and then the flight.
func (m *mirror) fly(items []*item) {
	m.Helper()
	if n := m.f.build(items, maxKeysHard); n != len(items) {
		m.Fatalf("%d of %d items fit", n, len(items))
	}
	m.before = map[string]string{}
	for _, sp := range m.f.keys.spans {
		k := string(m.f.arena[sp.from:sp.to])
		m.before[k], _ = m.srv.MustDo("GET", k).(string)
	}
	m.f.encode()
	n, err := m.s.topo.Load().shards[0].acquire(m.Context())
	if err != nil {
		m.Fatal(err)
	}
	sc, inArgs := m.s.script()
	err = m.s.evalOn(n.node, sc, m.f, inArgs, false, time.Now())
	n.release()
	if err == nil {
		err = m.f.read()
	}
	if err != nil {
		m.Fatal(err)
	}
	admitted := int64(0)
	for i := range m.f.groups {
		g := &m.f.groups[i]
		for at := g.head; at >= 0; at = m.f.next[at] {
			if m.f.answer(g, items[at].entry) {
				admitted++
			}
		}
	}
	if admitted != m.f.admitted || m.f.corrupt > 0 {
		m.Errorf("admitted are %d, by the script %d; %d damaged\n%s", admitted, m.f.admitted, m.f.corrupt, m.dump(items))
	}
}

func (m *mirror) compare(items []*item) {
	m.Helper()
	for i, sp := range m.f.keys.spans {
		k := string(m.f.arena[sp.from:sp.to])
		got, _ := m.srv.MustDo("GET", k).(string)
		st, want := &m.f.states[i], m.before[k]
		switch {
		case m.f.loaded[i] == 0:
		case st.Used == 0 && (st.Dirty || got == ""):
			want = ""
		case st.Dirty || got != want:
			want = string(algo.AppendState(nil, &weir.Meter{Machine: weir.Machine(st.Mark >> 14)}, st))
			if !st.Dirty && got != "" { // a look has put the mark back
				want = got[:2] + want[2:]
			}
		}
		if got != want {
			m.Errorf("%s is %x, not %x\n%s", k, got, want, m.dump(items))
			return
		}
		if got == "" {
			continue
		}
		limit := m.marked[uint16(got[0])<<8|uint16(got[1])]
		var p algo.State
		if err := algo.ParseState([]byte(got), limit, &p); err != nil {
			m.Errorf("%s: %v\n%s", k, err, m.dump(items))
		} else if at, _ := m.srv.MustDo("PEXPIRETIME", k).(int64); weir.Micros(at)*weir.Millisecond < p.Expiry(limit) {
			m.Errorf("%s expires at %d ms, and is empty at %d us\n%s", k, at, p.Expiry(limit), m.dump(items))
		}
	}
}

func (m *mirror) dump(items []*item) string {
	var b strings.Builder
	fmt.Fprintf(&b, "now %d\n", m.now)
	for _, it := range items {
		fmt.Fprintf(&b, "flags %d attempt %d id %q\n", it.flags, it.attempt, it.entry.ID)
		for i, c := range it.entry.Charges {
			fmt.Fprintf(&b, "    %s %s cost %d mode %v group %d twin %q %v: %+v\n",
				c.Key, c.Meter.Limit, c.Cost, c.Mode, c.Group, c.Twin, c.Twinning, it.entry.Outcomes[i])
		}
	}
	for k, v := range m.before {
		fmt.Fprintf(&b, "before %s %x\n", k, v)
	}
	return b.String()
}
