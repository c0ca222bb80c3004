package memstore_test

import (
	"fmt"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

// Without a cap in the way, what expired goes as new keys come.
func TestInsertsReclaimWhatExpired(t *testing.T) {
	clock := newTestClock()
	s := memstore.New(clock.option(), memstore.WithMaxKeys(100_000))
	m := meter(t, "10/s")
	for i := range 20_000 {
		take(t, s, fmt.Sprint("old", i), m, 1)
	}
	clock.move(10 * weir.Minute)
	for i := range 5_000 {
		take(t, s, fmt.Sprint("new", i), m, 1)
	}
	st := s.Stats()
	if st.Keys != 5_000 || st.Expired != 20_000 || st.Evicted != 0 {
		t.Errorf("%+v after all of 20,000 keys expired and 5,000 came, want those", st)
	}
}

// Keys that come and go need no more memory than those that live at a time.
func TestTablesDoNotGrowForTheExpired(t *testing.T) {
	clock := newTestClock()
	s := memstore.New(clock.option())
	m := meter(t, "10/s gcra")
	most := 0
	for i := range 50_000 {
		take(t, s, fmt.Sprint("k", i), m, 1) // lives for 100 ms
		clock.move(100)
		most = max(most, s.Len())
	}
	// 1,000 live at any time, 3,600 until the next tick. The rest is what fits
	// tables that were made for a crowded moment.
	if most > 12_000 {
		t.Errorf("%d keys were held at a time", most)
	}
}

// A state must be there to the last microsecond.
func TestNothingIsDroppedEarly(t *testing.T) {
	for _, text := range []string{"7/3s burst 10", "10/m fixed_window", "10/m", "10/m sliding_log"} {
		t.Run(text, func(t *testing.T) {
			clock := newTestClock()
			s := memstore.New(clock.option(), memstore.WithMaxKeys(2_000))
			m := meter(t, text)
			for round := range 50 {
				key := fmt.Sprint("watched", round)
				clock.move(weir.Micros(round) * 12_345)
				o := take(t, s, key, m, m.Capacity)
				clock.move(o.ResetAfter - 1)
				for i := range 100 { // at the cap, so that there is need for room
					take(t, s, fmt.Sprint("other", round, ",", i), m, m.Capacity)
				}
				if n := used(t, s, key, m); n == 0 {
					t.Fatalf("round %d: gone 1 us early", round)
				}
				clock.move(1)
				if n := used(t, s, key, m); n != 0 {
					t.Fatalf("round %d: %d in use after reset", round, n)
				}
			}
			if s.Stats().Evicted > 0 {
				t.Errorf("%+v, want no evictions", s.Stats())
			}
		})
	}
}
