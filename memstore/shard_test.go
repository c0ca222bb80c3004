package memstore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

const testStart = 1_700_000_000 * weir.Second

// shardModel drives the one shard of a store and keeps beside it what it should
// hold.
type shardModel struct {
	store *Store
	shard *shard
	now   weir.Micros
	want  map[string]held
}

type held struct {
	state  algo.State
	meter  *weir.Meter
	expiry weir.Micros
}

func newShardModel(maxKeys int) *shardModel {
	m := &shardModel{now: testStart, want: map[string]held{}}
	m.store = New(WithMaxKeys(maxKeys), WithShards(1), WithClock(func() weir.Micros { return m.now }))
	m.shard = &m.store.shards[0]
	return m
}

// testMeters has one of each machine.
var testMeters = []*weir.Meter{
	weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 7, Window: 10 * weir.Second, Burst: 50}),
	weir.MustMeter(weir.Limit{Algorithm: weir.FixedWindow, Count: 100, Window: weir.Minute}),
	weir.MustMeter(weir.Limit{Algorithm: weir.SlidingWindow, Count: 100, Window: weir.Minute}),
	weir.MustMeter(weir.Limit{Algorithm: weir.Concurrency, Count: 900, Window: 30 * weir.Second}),
}

// testKey has every length from 1 to about 400: in cells, spilled, digested.
func testKey(i int) string { return fmt.Sprintf("%d,%s", i, strings.Repeat("k", i%397)) }

// put stores what n charges of 1 make of an empty state, and makes room if the
// model holds the cap.
func (m *shardModel) put(text string, meter *weir.Meter, n int) {
	var st algo.State
	for i := range n {
		algo.Decide(meter, &st, m.now+weir.Micros(i)*weir.Second, 1, algo.Owner{byte(i), byte(i >> 8)})
	}
	var buf digest
	k := makeKey(m.store.seed, text, &buf)
	w := write{key: &k, meter: meter, state: &st, expiry: st.Expiry(meter)}
	if c, i := m.shard.find(&k); c != nil {
		m.shard.update(&w, c, i)
	} else if m.store.reserve() {
		m.shard.insert(&w)
	} else {
		return
	}
	m.want[text] = held{st, meter, w.expiry}
}

func (m *shardModel) drop(text string) {
	var buf digest
	k := makeKey(m.store.seed, text, &buf)
	if c, i := m.shard.find(&k); c != nil {
		m.shard.drop(k.table(), i)
	}
	delete(m.want, text)
}

// sweep frees all that expired, in the shard and in the model.
func (m *shardModel) sweep(segments int) {
	tick := m.store.tick(m.now)
	m.shard.sweep(tick, segments, nil)
	for text, h := range m.want {
		if m.store.due(h.expiry) <= tick && !m.holds(text) {
			delete(m.want, text)
		}
	}
}

func (m *shardModel) holds(text string) bool {
	var buf digest
	k := makeKey(m.store.seed, text, &buf)
	c, _ := m.shard.find(&k)
	return c != nil
}

// check compares all that is stored with the model.
func (m *shardModel) check(t *testing.T) {
	t.Helper()
	if err := m.shard.invalid(); err != "" {
		t.Fatal(err)
	}
	if got := m.store.Len(); got != len(m.want) {
		t.Fatalf("%d keys are held, want %d", got, len(m.want))
	}
	for text, h := range m.want {
		var buf digest
		k := makeKey(m.store.seed, text, &buf)
		c, _ := m.shard.find(&k)
		if c == nil {
			t.Fatalf("key of %d bytes is lost", len(text))
		}
		var st algo.State
		m.shard.load(c, h.meter, &st)
		if st.Used != h.state.Used || st.At != h.state.At || st.Frac != h.state.Frac ||
			st.Mark != h.state.Mark || !slices.Equal(st.Runs, h.state.Runs) {
			t.Fatalf("key of %d bytes holds %+v, want %+v", len(text), st, h.state)
		}
	}
}

// invalid says which of a shard's invariants does not hold.
func (s *shard) invalid() string {
	blocks := map[uint32]bool{}
	soonest := never
	for n := range s.tables {
		t := &s.tables[n]
		used := 0
		for i := range int(t.slots) {
			c := t.at(i)
			if c.isEmpty() {
				if !bytes.Equal(c[:t.cellSize], make([]byte, t.cellSize)) {
					return fmt.Sprintf("table %d: empty cell %d is not blank", n, i)
				}
				continue
			}
			used++
			if c.due() < t.dues[i/segment] {
				return fmt.Sprintf("table %d: cell %d is due before its segment", n, i)
			}
			soonest = min(soonest, t.dues[i/segment])
			if at := s.reached(n, c); at != i {
				return fmt.Sprintf("table %d: the key of cell %d is found in cell %d", n, i, at)
			}
			for _, ref := range s.refs(n, c) {
				if ref == 0 || blocks[ref] {
					return fmt.Sprintf("table %d: cell %d has block %d, empty or of another", n, i, ref)
				}
				blocks[ref] = true
			}
		}
		if used != int(t.n) || used*loadDen > int(t.slots)*loadNum {
			return fmt.Sprintf("table %d: %d of %d cells in use, n is %d", n, used, t.slots, t.n)
		}
	}
	if uint32(soonest) < s.soonest.Load() || s.soonest.Load() < s.shared.soonest.Load() {
		return fmt.Sprintf("due instants: segments %d, shard %d, store %d", soonest, s.soonest.Load(), s.shared.soonest.Load())
	}
	live := 0
	for _, l := range s.slab.lists {
		live += int(l.held)
	}
	if live != len(blocks) {
		return fmt.Sprintf("%d blocks are held, %d referred to", live, len(blocks))
	}
	return ""
}

func (s *shard) refs(table int, c cell) (refs []uint32) {
	if table == spilled {
		refs = append(refs, c.spilled())
	}
	if c.hasRuns() {
		ref, _ := c.runs()
		refs = append(refs, ref)
	}
	return refs
}

// reached is the cell in which a search for the key of c ends.
func (s *shard) reached(table int, c cell) int {
	k := key{text: string(s.keyAt(table, c)), hash: hasher{s, table}.hash(c), size: c.size()}
	_, i := s.find(&k)
	return i
}

func TestShardAgainstModel(t *testing.T) {
	m := newShardModel(400)
	rng := rand.New(rand.NewPCG(3, 3))
	for step := range 20_000 {
		text := testKey(rng.IntN(600))
		switch rng.IntN(10) {
		case 0, 1, 2, 3, 4, 5:
			m.put(text, testMeters[rng.IntN(len(testMeters))], 1+rng.IntN(40))
		case 6, 7:
			m.drop(text)
		case 8:
			m.now += weir.Micros(rng.IntN(int(weir.Second)))
		default:
			m.sweep(rng.IntN(4))
		}
		if step%200 == 0 {
			m.check(t)
		}
	}
	m.check(t)
	m.now += weir.Hour
	m.sweep(everySegment)
	m.check(t)
	if n := m.store.Len(); n != 0 {
		t.Errorf("%d keys are left an hour after all expired", n)
	}
}

// The same with a size at which tables end within a segment, and chains of
// cells run over the end.
func TestSmallShardAgainstModel(t *testing.T) {
	for seed := range uint64(50) {
		m := newShardModel(30)
		rng := rand.New(rand.NewPCG(seed, 4))
		for range 300 {
			text := fmt.Sprint(rng.IntN(60))
			switch rng.IntN(6) {
			case 0, 1, 2:
				m.put(text, testMeters[0], 1+rng.IntN(3))
			case 3:
				m.drop(text)
			case 4:
				m.now += weir.Micros(rng.IntN(int(weir.Second)))
			default:
				m.sweep(1)
			}
			m.check(t)
		}
	}
}

func FuzzShard(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0x40, 3, 0x80, 4, 0xc0, 0xff})
	f.Fuzz(func(t *testing.T, ops []byte) {
		m := newShardModel(20)
		for i, op := range ops {
			arg := int(op & 0x3f)
			switch op >> 6 {
			case 0:
				m.put(testKey(arg*7), testMeters[i%len(testMeters)], 1+arg%30)
			case 1:
				m.drop(testKey(arg * 7))
			case 2:
				m.now += weir.Micros(arg) * weir.Second
			default:
				m.sweep(arg)
			}
		}
		m.check(t)
	})
}
