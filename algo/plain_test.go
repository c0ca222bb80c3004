package algo_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"pgregory.net/rapid"
)

// The short ways decide as the long one does, and leave the same states.
func TestShortWays(t *testing.T) {
	admitted, denied := 0, 0
	checkLong(t, func(t *rapid.T) {
		eachEntry(t, func(d *desk, e *weir.Entry, which []int) {
			owner := algo.OwnerOf(e.ID)
			plain := append([]weir.Charge(nil), e.Charges...)
			var long, short []algo.State
			var apart []*algo.State
			for i := range plain {
				plain[i].Mode, plain[i].Group, plain[i].Cost = weir.Enforce, 0, max(1, plain[i].Cost)
				s := d.twins[which[i]].state
				s.Dirty = false
				long, short = append(long, clone(s)), append(short, clone(s))
			}
			for i := range short {
				apart = append(apart, &short[i])
			}
			want, got := make([]weir.Outcome, len(plain)), make([]weir.Outcome, len(plain))
			if len(plain) == 1 {
				algo.DecideInto(plain[0].Meter, apart[0], d.now, plain[0].Cost, owner, &got[0])
			} else {
				algo.SettlePlain(plain, owner, apart, d.now, got)
			}
			if algo.Settle(plain, owner, long, d.now, want) {
				admitted++
			} else {
				denied++
			}
			for i := range plain {
				if got[i] != want[i] {
					t.Fatalf("charge %d of %+v:\nshort %+v\nlong  %+v", i, plain, got[i], want[i])
				}
				if a, b := stored(plain[i].Meter, short[i]), stored(plain[i].Meter, long[i]); a != b || short[i].Dirty != long[i].Dirty {
					t.Fatalf("charge %d of %+v leaves\nshort %+v\nlong  %+v", i, plain, short[i], long[i])
				}
			}
			d.settle(t, e, which)
		})
	})
	if admitted == 0 || denied == 0 {
		t.Errorf("%d admitted, %d denied", admitted, denied)
	}
}

// stored is a state as it would be kept.
func stored(m *weir.Meter, s algo.State) string {
	if s.Used == 0 {
		return ""
	}
	return string(algo.AppendState(nil, m, &s))
}

// So they do where two limits have one mark, and a fraction is the other's.
func TestShortWayOfForeignFraction(t *testing.T) {
	m := parse(t, "700001/s burst 100")
	for _, later := range []weir.Micros{0, 1, 2, 3, 100, 1000} {
		long := []algo.State{{Used: 9, At: epoch, Frac: m.Den + 5, Mark: m.Mark}}
		short, want := long[0], make([]weir.Outcome, 1)
		got := algo.Decide(m, &short, epoch+later, 1, algo.Owner{})
		algo.Settle([]weir.Charge{{Key: "k", Meter: m, Cost: 1}}, algo.Owner{}, long, epoch+later, want)
		if got != want[0] || stored(m, short) != stored(m, long[0]) {
			t.Errorf("%d us later:\nshort %+v\nlong  %+v", later, got, want[0])
		}
	}
}
