package keytable

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

func put(t *Table[int], key string, v int) {
	s := t.Lock(Of(key))
	defer s.Unlock()
	r, _ := s.Put(Of(key))
	*r = v
}

func get(t *Table[int], key string) (int, bool) {
	s := t.Lock(Of(key))
	defer s.Unlock()
	r := s.Find(Of(key))
	if r == nil {
		return 0, false
	}
	return *r, true
}

// A table that is never full is a map, also while its indexes grow.
func TestLikeMap(t *testing.T) {
	t.Run("small", func(t *testing.T) { likeMap(t, 5000, 2000) })
	t.Run("grows", func(t *testing.T) { likeMap(t, 1<<18, 100_000) })
}

func likeMap(t *testing.T, capacity, keys int) {
	rnd := rand.New(rand.NewPCG(1, 2))
	tab, want := New[int](capacity), map[string]int{}
	for i := range 200_000 {
		key := fmt.Sprint("k", rnd.IntN(keys))
		switch rnd.IntN(3) {
		case 0:
			put(tab, key, i)
			want[key] = i
		case 1:
			s := tab.Lock(Of(key))
			s.Drop(Of(key))
			s.Unlock()
			delete(want, key)
		default:
			v, ok := get(tab, key)
			if w, has := want[key]; ok != has || v != w {
				t.Fatalf("step %d: %s is %d %v, want %d %v", i, key, v, ok, w, has)
			}
		}
	}
	if tab.Len() != len(want) {
		t.Errorf("%d records, want %d", tab.Len(), len(want))
	}
	seen := 0
	tab.Each(func(ID, *int) bool { seen++; return true })
	if seen != len(want) {
		t.Errorf("Each saw %d, want %d", seen, len(want))
	}
}

func TestBounded(t *testing.T) {
	for _, capacity := range []int{0, 1, 2, 7, 100, 1000, 4096} {
		tab := New[int](capacity)
		for i := range 20_000 {
			put(tab, fmt.Sprint(i), i)
		}
		if n := tab.Len(); n > max(capacity, 1) || n < capacity*9/10 {
			t.Errorf("a table of %d holds %d", capacity, n)
		}
		if v, ok := get(tab, "19999"); !ok || v != 19999 {
			t.Errorf("a table of %d lost the newest", capacity)
		}
	}
}

// What is used stays while a flood of others goes by, however it is used.
func TestUsedStays(t *testing.T) {
	hot := Of("hot")
	for name, use := range map[string]func(*Shard[int]) bool{
		"Find":        func(s *Shard[int]) bool { return s.Find(hot) != nil },
		"Put":         func(s *Shard[int]) bool { _, fresh := s.Put(hot); return !fresh },
		"PutExpected": func(s *Shard[int]) bool { _, fresh := s.PutExpected(hot, s.Expect(hot)); return !fresh },
	} {
		tab := New[int](1024)
		put(tab, "hot", 42)
		for i := range 50_000 {
			put(tab, fmt.Sprint(i), i)
			if i%8 > 0 { // a shard of 64 cells loses at most 8 between two uses
				continue
			}
			s := tab.Lock(hot)
			if !use(s) {
				t.Fatalf("%s: lost after %d others", name, i)
			}
			s.Unlock()
		}
	}
}

func TestFresh(t *testing.T) {
	tab := New[int](1)
	s := tab.Lock(Of("a"))
	r, fresh := s.Put(Of("a"))
	*r = 7
	_, again := s.Put(Of("a"))
	other, evicting := s.Put(Of("b"))
	s.Unlock()
	if !fresh || again || !evicting || *other != 0 {
		t.Errorf("fresh %v, again %v, evicting %v, value %d", fresh, again, evicting, *other)
	}
}

func TestConcurrent(t *testing.T) {
	tab := New[int](512)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 20_000 {
				id := Of(fmt.Sprint(i % (700 + g)))
				s := tab.Lock(id)
				r, _ := s.Put(id)
				*r++
				s.Unlock()
			}
		})
	}
	wg.Wait()
	if n := tab.Len(); n > 512 {
		t.Errorf("%d records", n)
	}
}

func TestNoAllocations(t *testing.T) {
	tab := New[int](64)
	keys := make([]string, 200)
	for i := range keys {
		keys[i] = fmt.Sprint("key", i)
	}
	i := 0
	if n := testing.AllocsPerRun(1000, func() { i++; put(tab, keys[i%len(keys)], i) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkFind(b *testing.B) {
	tab := New[[8]int64](1 << 16)
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("{tenant-%08d}|api|per-tenant|60", i)
		s := tab.Lock(Of(keys[i]))
		s.Put(Of(keys[i]))
		s.Unlock()
	}
	i := 0
	for b.Loop() {
		id := Of(keys[i%len(keys)])
		s := tab.Lock(id)
		s.Find(id)[0]++
		s.Unlock()
		i++
	}
}

func TestNumbered(t *testing.T) {
	seen := map[ID]bool{}
	for n := range uint32(1000) {
		id := Numbered(n)
		if seen[id] || id.Spread(16) != int(n%16) {
			t.Fatalf("%d: seen %v, spread %d", n, seen[id], id.Spread(16))
		}
		seen[id] = true
	}
}

// Where the index has no room for a part of the ID, as in tables of many millions,
// and where all parts are the same, records are found all the same.
func TestIndexKnowsLittle(t *testing.T) {
	for _, bits := range []int{7, 20, 31} { // of 100 cells; the last leaves one bit
		var s Shard[int]
		s.init(make([]cell[int], 0, 100))
		s.bits = bits
		rnd := rand.New(rand.NewPCG(uint64(bits), 1))
		want := map[ID]int{}
		for i := range 20_000 {
			id := ID{hi: rnd.Uint64N(60), lo: 5 + rnd.Uint64N(3)<<33}
			switch rnd.IntN(3) {
			case 0:
				r, _ := s.Put(id)
				*r, want[id] = i, i
			case 1:
				s.Drop(id)
				delete(want, id)
			default:
				if len(want) > 90 {
					t.Fatal("the test fills the table")
				}
				v, has := want[id]
				if r := s.Find(id); (r != nil) != has || has && *r != v {
					t.Fatalf("%d bits, step %d: %v is lost, or another's", bits, i, id)
				}
			}
			for len(want) > 80 {
				for id := range want {
					s.Drop(id)
					delete(want, id)
					break
				}
			}
		}
	}
}

// To expect a record changes nothing, whether there is one or not, and what was
// expected need not be so any more.
func TestExpect(t *testing.T) {
	tab := New[int](100)
	put(tab, "a", 1)
	s := tab.Lock(Of("a")) // the only one
	for range 2 {
		s.Expect(Of("a"))
		s.Expect(Of("b"))
	}
	a, b := s.Expect(Of("a")), s.Expect(Of("b"))
	if r, fresh := s.PutExpected(Of("a"), a); fresh || *r != 1 {
		t.Errorf("a is %d, fresh %v", *r, fresh)
	}
	if r, fresh := s.PutExpected(Of("b"), b); !fresh || *r != 0 {
		t.Errorf("b is %d, fresh %v", *r, fresh)
	}
	s.Drop(Of("a"))
	if r, fresh := s.PutExpected(Of("a"), a); !fresh || *r != 0 {
		t.Errorf("a, which was dropped since, is %d, fresh %v", *r, fresh)
	}
	if n := testing.AllocsPerRun(100, func() { s.PutExpected(Of("a"), s.Expect(Of("a"))) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	s.Unlock()
	if tab.Len() != 2 {
		t.Errorf("%d records", tab.Len())
	}
}

// Whose record is given up between Expect and PutExpected loses only that.
func TestExpectedIsGivenUp(t *testing.T) {
	tab := New[int](1)
	s := tab.Lock(Of("a"))
	defer s.Unlock()
	r, _ := s.Put(Of("a"))
	*r = 1
	hint := s.Expect(Of("a"))
	r, _ = s.Put(Of("b"))
	*r = 2
	if r, fresh := s.PutExpected(Of("a"), hint); !fresh || *r != 0 {
		t.Errorf("a is %d, fresh %v", *r, fresh)
	}
}

// BenchmarkMany is what a table costs with more keys than a cache holds, and with
// more than it has room for.
func BenchmarkMany(b *testing.B) {
	for _, keys := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(keys), func(b *testing.B) {
			tab := New[[5]int64](1 << 18)
			rnd := rand.New(rand.NewPCG(1, 2))
			next := func() ID { return Of(string(binary.BigEndian.AppendUint32(nil, rnd.Uint32N(uint32(keys))))) }
			for range 2 << 20 {
				id := next()
				s := tab.Lock(id)
				s.Put(id)
				s.Unlock()
			}
			for b.Loop() {
				id := next()
				s := tab.Lock(id)
				r, _ := s.Put(id)
				r[0]++
				s.Unlock()
			}
		})
	}
}
