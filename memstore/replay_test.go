package memstore

import (
	"hash/maphash"
	"math/rand/v2"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// logModel is a log and the answers it should hold, oldest first.
type logModel struct {
	log  replayLog
	seed maphash.Seed
	now  weir.Micros
	want []remembered
	lost int
}

type remembered struct {
	owner algo.Owner
	now   weir.Micros
	out   []weir.Outcome
}

func newLogModel(most int) *logModel {
	return &logModel{log: replayLog{max: most}, seed: maphash.MakeSeed(), now: testStart}
}

func ownerOf(i int) algo.Owner { return algo.Owner{byte(i), byte(i >> 8), byte(i >> 16), 1} }

func (m *logModel) tag(o *algo.Owner) uint32 { return uint32(maphash.Bytes(m.seed, o[:])) }

func (m *logModel) find(i int) answer {
	o := ownerOf(i)
	return m.log.find(m.tag(&o), &o, m.now)
}

// add remembers an answer to owner i that no other is equal to.
func (m *logModel) add(i, charges int) {
	o := ownerOf(i)
	out := make([]weir.Outcome, charges)
	for j := range out {
		out[j] = weir.Outcome{OK: true, Granted: int64(i), Remaining: int64(j), ResetAfter: weir.Micros(len(m.want))}
	}
	m.lost += m.log.add(m.seed, m.tag(&o), &o, m.now, out)
	m.want = append(m.want, remembered{o, m.now, out})
	m.want = m.want[max(0, len(m.want)-m.log.max):]
}

// check looks every answer up that should be there.
func (m *logModel) check(t *testing.T) {
	t.Helper()
	for _, w := range m.want {
		if m.now-w.now >= algo.ReplayWindow {
			continue
		}
		a := m.log.find(m.tag(&w.owner), &w.owner, m.now)
		if a == nil {
			t.Fatalf("the answer to %x is forgotten", w.owner[:4])
		}
		b := a.outcomes()
		for i := range w.out {
			var o weir.Outcome
			b = readOutcome(b, &o, a.now())
			if o != w.out[i] || a.now() != w.now {
				t.Fatalf("the answer to %x is %+v of %d, want %+v of %d", w.owner[:4], o, a.now(), w.out[i], w.now)
			}
		}
	}
}

func TestReplayLogForgetsTheOldestFirst(t *testing.T) {
	m := newLogModel(300)
	rng := rand.New(rand.NewPCG(6, 6))
	for i := range 5000 {
		if m.find(i) != nil {
			t.Fatalf("%d is known before it was added", i)
		}
		m.add(i, 1+rng.IntN(weir.MaxCharges))
		if i%100 == 0 {
			m.check(t)
		}
		if old := i - 300; old >= 0 && m.find(old) != nil {
			t.Fatalf("%d is known after 300 others", old)
		}
	}
	m.check(t)
	if m.lost != 5000-300 || m.log.index.n != 300 {
		t.Errorf("%d were forgotten before their time and %d are held, want 4700 and 300", m.lost, m.log.index.n)
	}
}

func TestReplayLogForgetsAfterTheWindow(t *testing.T) {
	m := newLogModel(1000)
	for i := range 100 {
		m.add(i, 2)
	}
	m.now += algo.ReplayWindow - 1
	m.check(t)
	m.now++
	if m.find(50) != nil {
		t.Error("an answer is known after its time")
	}
	m.add(50, 3) // the same owner again, of which an old answer is still in the log
	m.check(t)
	for i := 100; i < 300; i++ {
		m.add(i, 1)
	}
	m.check(t)
	if m.lost != 0 {
		t.Errorf("%d were forgotten before their time, want none", m.lost)
	}
	if held := m.log.index.n; held > 201 {
		t.Errorf("%d answers are held, of which 201 are to be remembered", held)
	}
}

// Owners whose tags are equal are told apart by all their bytes.
func TestReplayLogTellsOwnersApart(t *testing.T) {
	m := newLogModel(10)
	a, b := ownerOf(1), ownerOf(2)
	m.log.add(m.seed, 7, &a, m.now, []weir.Outcome{{Granted: 1}})
	if m.log.find(7, &b, m.now) != nil {
		t.Error("one owner got the answer to another")
	}
	m.log.add(m.seed, 7, &b, m.now, []weir.Outcome{{Granted: 2}})
	for i, o := range []*algo.Owner{&a, &b} {
		ans := m.log.find(7, o, m.now)
		if ans == nil || ans.owner() != *o {
			t.Errorf("owner %d does not get its own answer", i+1)
		}
	}
}

func TestReplayLogReusesItsMemory(t *testing.T) {
	m := newLogModel(500)
	out := make([]weir.Outcome, 3)
	i := 0
	add := func() {
		o := ownerOf(i)
		i++
		m.log.add(m.seed, m.tag(&o), &o, m.now, out)
	}
	for range 2000 {
		add()
	}
	if n := testing.AllocsPerRun(2000, add); n != 0 {
		t.Errorf("%v allocations to remember an answer in a full log, want none", n)
	}
}
