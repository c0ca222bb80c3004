package hot_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/hot"
)

// Against exact counts: nothing above N/c is missing, no estimate is too low, and
// none is too high by more than its error, nor that by more than N/c.
func TestAgainstExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counters := rapid.IntRange(1, 40).Draw(t, "counters")
		keys := rapid.IntRange(1, 200).Draw(t, "keys")
		skew := rapid.Float64Range(1.01, 3).Draw(t, "skew")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		zipf := rand.NewZipf(rnd, skew, 1, uint64(keys-1))
		s := hot.New[uint64](counters)
		exact, total := map[uint64]float64{}, 0.0
		now := weir.Second
		for range rapid.IntRange(1, 2000).Draw(t, "steps") {
			if rnd.IntN(100) == 0 {
				now += weir.Second // on the grid, where all is halved
				for k := range exact {
					exact[k] /= 2
				}
				total /= 2
			}
			k, n := zipf.Uint64(), float64(1+rnd.IntN(4))
			exact[k] += n
			total += n
			c := s.Add(k, n, now)
			if c.Key != k {
				t.Fatalf("added %d, got the counter of %d", k, c.Key)
			}
		}
		bound := total/float64(counters) + 1e-6
		seen := s.Append(nil, now)
		if len(seen) > counters {
			t.Fatalf("%d counters of %d", len(seen), counters)
		}
		held, last := map[uint64]bool{}, math.Inf(1)
		for _, c := range seen {
			held[c.Key] = true
			if c.Count > last {
				t.Fatal("not the largest first")
			}
			last = c.Count
			if c.Count < exact[c.Key]-1e-6 || c.Count-c.Error > exact[c.Key]+1e-6 || c.Error > bound {
				t.Fatalf("key %d: %v with an error of %v, exact %v, bound %v", c.Key, c.Count, c.Error, exact[c.Key], bound)
			}
		}
		for k, n := range exact {
			if n > bound && !held[k] {
				t.Fatalf("key %d with %v of %v is missing from %d counters", k, n, total, counters)
			}
		}
		if math.Abs(s.Total()-total) > total*1e-9+1e-6 {
			t.Fatalf("total %v, want %v", s.Total(), total)
		}
	})
}

// A steady rate is told right at any instant, and one that ends is forgotten.
func TestRates(t *testing.T) {
	s := hot.New[int](8)
	now := weir.Second
	for range 1000 { // 10 s of 100/s
		s.Add(1, 1, now)
		now += 10 * weir.Millisecond
		if now < 6*weir.Second {
			continue
		}
		most, least := s.Rates(s.Find(1, now), now)
		if math.Abs(most-100) > 5 || least != most {
			t.Fatalf("at %v the rate is %v, at least %v", now, most, least)
		}
	}
	now += 5 * weir.Second
	if most, _ := s.Rates(s.Find(1, now), now); most > 4 {
		t.Errorf("5 s later it is %v", most)
	}
	now += 100 * weir.Second
	if s.Find(1, now) != nil {
		t.Error("never forgotten")
	}
}

// A flood of keys that come once makes none of them look hot for sure.
func TestFloodIsNotHot(t *testing.T) {
	s := hot.New[int](64)
	now := weir.Second
	for i := range 100_000 {
		c := s.Add(i, 1, now)
		if _, least := s.Rates(c, now); least > 1 {
			t.Fatalf("key %d comes at least %v a second", i, least)
		}
		if i%10 == 0 {
			s.Add(-1, 1, now)
		}
		now += 10
	}
	c := s.Find(-1, now)
	if c == nil {
		t.Fatal("a tenth of all is missing")
	}
	// A second is half of what makes a rate.
	if most, least := s.Rates(c, now); most < 5000 || least > 5000 {
		t.Errorf("10,000/s for a second is told as %v to %v", least, most)
	}
}

func TestNamesStayWithKeys(t *testing.T) {
	s := hot.New[int](2)
	s.Add(1, 5, weir.Second).Name = "one"
	s.Add(2, 1, weir.Second).Name = "two"
	if c := s.Add(3, 1, weir.Second); c.Name != "" || c.Error != 1 {
		t.Errorf("a counter that changed hands: %+v", *c)
	}
	if c := s.Add(1, 1, weir.Second); c.Name != "one" {
		t.Errorf("the name is %q", c.Name)
	}
}

func TestNoAllocations(t *testing.T) {
	s := hot.New[[2]uint64](64)
	i := uint64(0)
	if n := testing.AllocsPerRun(5000, func() { i++; s.Add([2]uint64{i % 100, 0}, 1, weir.Second) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, keys := range []uint64{1, 50, 100_000} {
		b.Run(fmt.Sprint(keys), func(b *testing.B) {
			s := hot.New[[2]uint64](64)
			rnd := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				s.Add([2]uint64{rnd.Uint64N(keys), 0}, 1, weir.Second)
			}
		})
	}
}

func ExampleSketch() {
	s := hot.New[string](2)
	for _, k := range []string{"a", "b", "a", "c", "a"} {
		s.Add(k, 1, weir.Second)
	}
	for _, c := range s.Append(nil, weir.Second) {
		fmt.Println(c.Key, c.Count, c.Error)
	}
	// Output:
	// a 3 0
	// c 2 1
}
