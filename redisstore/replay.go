package redisstore

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// replay holds what the script found, and repeats its decisions from that.
type replay struct {
	now      weir.Micros
	admitted int64 // as the script counted
	script   time.Duration
	found    answer // the values of the keys, then of the replay keys

	states  []algo.State
	loaded  []uint8        // of each state, one more than the machine that it was read for
	at      []*algo.State  // the states of one entry, where they are
	local   []algo.State   // the same, side by side
	kept    []algo.State   // and those of its keys with twins, as they were
	scratch []weir.Outcome // for entries that were given up
	records []record       // by replay key
	corrupt int
}

// record is a request that was remembered, now or before.
type record struct {
	known    bool // there is one
	now      weir.Micros
	outcomes []weir.Outcome
	granted  []int64
	attempt  uint64 // that made it, and may undo it; 0 is none
}

// attemptBytes is the length of an attempt.
const attemptBytes = 8

var errShortReply = errors.New("the script's answer is too short")

// read takes the script's answer apart.
func (f *flight) read() error {
	n := f.size()
	if len(f.found.values) == 1 {
		f.found.spread(n)
	}
	if len(f.found.values) != n+3 {
		return errShortReply
	}
	var tail [3]int64
	for i := range tail {
		var ok bool
		if tail[i], ok = f.found.number(n + i); !ok {
			return errShortReply
		}
	}
	f.now, f.admitted, f.script = weir.Micros(tail[0]), tail[1], time.Duration(tail[2])*time.Microsecond
	f.corrupt = 0
	f.states = grow(f.states, f.keys.len())
	f.loaded = grow(f.loaded, f.keys.len())
	clear(f.loaded)
	f.records = grow(f.records, f.replays.len())
	for i := range f.records {
		f.records[i].known = false
	}
	return nil
}

// grow returns s with n elements, keeping what they refer to for reuse.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		s = append(s[:cap(s)], make([]T, n-cap(s))...)
	}
	return s[:n]
}

// state returns the state of a key, parsed for meter m when it is first met. One that
// is unchanged is parsed again for another machine, to which it was nothing.
func (f *flight) state(k uint16, m *weir.Meter) *algo.State {
	st := &f.states[k]
	machine := uint8(m.Machine) + 1
	if f.loaded[k] == machine || f.loaded[k] != 0 && st.Dirty {
		return st
	}
	f.loaded[k] = machine
	if b, ok := f.found.text(int(k)); ok {
		f.parse(b, m, st)
	} else {
		*st = algo.State{Runs: st.Runs[:0]}
	}
	return st
}

func (f *flight) parse(b []byte, m *weir.Meter, st *algo.State) {
	if err := algo.ParseState(b, m, st); err != nil {
		f.corrupt++
	}
}

// reachable tells whether every key of the group was on the node.
func (f *flight) reachable(g *group) bool {
	if f.store.follow == nil {
		return true // there is no other
	}
	for i := g.first; i < g.first+g.n; i++ {
		if f.found.values[f.keyOf[i]].kind == ':' {
			return false
		}
		if t := f.twinOf[i]; t > 0 && f.found.values[t-1].kind == ':' {
			return false
		}
	}
	return g.replay < 0 || f.found.values[f.keys.len()+int(g.replay)].kind != ':'
}

// settle decides one entry of the group on the flight's states, exactly as the
// script did, into out.
func (f *flight) settle(g *group, out []weir.Outcome) bool {
	charges := f.charges[g.first : g.first+g.n]
	if len(charges) == 1 && charges[0].Mode == weir.Enforce && charges[0].Group == 0 {
		c := &charges[0]
		algo.DecideInto(c.Meter, f.state(f.keyOf[g.first], c.Meter), f.now, c.Cost, g.owner, &out[0])
		return out[0].OK
	}
	if g.plain && enforced(charges) {
		f.at = f.at[:0]
		for i := range charges {
			f.at = append(f.at, f.state(f.keyOf[int(g.first)+i], charges[i].Meter))
		}
		return algo.SettlePlain(charges, g.owner, f.at, f.now, out)
	}
	return f.settleAll(charges, f.keyOf[g.first:g.first+g.n], g.owner, out)
}

func enforced(charges []weir.Charge) bool {
	for i := range charges {
		if charges[i].Mode != weir.Enforce {
			return false
		}
	}
	return true
}

func (f *flight) settleAll(charges []weir.Charge, keys []uint16, owner algo.Owner, out []weir.Outcome) bool {
	f.local = grow(f.local, len(charges))
	for i := range charges {
		f.local[i] = *f.state(keys[i], charges[i].Meter)
	}
	ok := algo.Settle(charges, owner, f.local, f.now, out)
	for i := range charges {
		f.states[keys[i]] = f.local[i]
		f.local[i].Runs = nil // the state above owns it
	}
	return ok
}

// answer fills e, or the flight's own memory when the entry was given up, with
// the decision on one entry of g.
func (f *flight) answer(g *group, e *weir.Entry) bool {
	var out []weir.Outcome
	if e != nil {
		e.Outcomes = grow(e.Outcomes, int(g.n))
		out = e.Outcomes
	} else {
		f.scratch = grow(f.scratch, int(g.n))
		out = f.scratch
	}
	admitted, replayed, now := false, false, f.now
	if g.flags&flagTwins != 0 {
		f.gather(g)
	}
	switch {
	case g.flags&flagUndo != 0:
		f.undo(g, out)
	case g.replay >= 0:
		admitted, replayed, now = f.remembered(g, out)
	default:
		admitted = f.settle(g, out)
	}
	if g.flags&flagTwins != 0 {
		f.spread(g)
	}
	if e != nil {
		e.Admitted, e.Replayed, e.Now = admitted, replayed, now
	}
	return admitted
}

// remembered answers from the group's record if there is one, and makes one
// otherwise.
func (f *flight) remembered(g *group, out []weir.Outcome) (admitted, replayed bool, now weir.Micros) {
	r := &f.records[g.replay]
	if !r.known {
		f.loadRecord(g, r)
	}
	if r.known {
		if g.flags&flagTried != 0 {
			r.attempt = 0 // two were answered by it: neither may undo it
		}
		copy(out, r.outcomes)
		return algo.Passes(f.charges[g.first:g.first+g.n], out), true, r.now
	}
	admitted = f.settle(g, out)
	if algo.Remembered(admitted, out) {
		r.known, r.now, r.attempt = true, f.now, g.attempt
		r.outcomes = append(r.outcomes[:0], out...)
		r.granted = r.granted[:0]
		for i := range out {
			r.granted = append(r.granted, out[i].Granted)
		}
	}
	return admitted, false, f.now
}

// loadRecord reads what an earlier call remembered: now u56, admitted u8, then
// per charge the meter, granted u24, length u16 and the state before; of a part of an
// entry then the attempt that made it.
func (f *flight) loadRecord(g *group, r *record) {
	b, ok := f.found.text(f.keys.len() + int(g.replay))
	if !ok {
		return
	}
	charges := append([]weir.Charge(nil), f.charges[g.first:g.first+g.n]...)
	f.parseRecord(b, charges, g.owner, r)
}

// parseRecord replays a record into r, under the meters it was made with.
func (f *flight) parseRecord(b []byte, charges []weir.Charge, owner algo.Owner, r *record) {
	if len(b) < 8 {
		return
	}
	r.now = weir.Micros(be(b[:7]))
	if f.now >= r.now+algo.ReplayWindow {
		return
	}
	b = b[8:]
	states := make([]algo.State, len(charges))
	r.granted = r.granted[:0]
	for i := range charges {
		if len(b) < meterBytes+5 {
			return
		}
		m := parseMeter(b)
		if !plausible(m) {
			return
		}
		b = b[meterBytes:]
		granted, n := be(b[:3]), int(be(b[3:5]))
		if len(b) < 5+n {
			return
		}
		charges[i].Meter = m
		r.granted = append(r.granted, granted)
		if n > 0 {
			f.parse(b[5:5+n], m, &states[i])
		}
		b = b[5+n:]
	}
	r.attempt = 0
	if len(b) == attemptBytes {
		r.attempt = binary.BigEndian.Uint64(b)
	}
	r.outcomes = grow(r.outcomes, len(charges))
	algo.Settle(charges, owner, states, r.now, r.outcomes)
	r.known = true
}

// undo gives back what a record says was granted.
func (f *flight) undo(g *group, out []weir.Outcome) {
	r := &f.records[g.replay]
	if !r.known {
		f.loadRecord(g, r)
	}
	if !r.known || g.flags&flagTried != 0 && r.attempt != g.attempt {
		clear(out)
		return
	}
	charges := append([]weir.Charge(nil), f.charges[g.first:g.first+g.n]...)
	for i := range charges {
		charges[i].Mode, charges[i].Cost, charges[i].Group = weir.Refund, r.granted[i], 0
	}
	f.settleAll(charges, f.keyOf[g.first:g.first+g.n], g.owner, out)
	// The record is gone for what follows in this flight. What Redis held must
	// not be read again.
	r.known = false
	f.found.forget(f.keys.len() + int(g.replay))
}

func be(b []byte) int64 {
	v := int64(0)
	for _, c := range b {
		v = v<<8 | int64(c)
	}
	return v
}
