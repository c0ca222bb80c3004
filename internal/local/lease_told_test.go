package local

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/internal/stage"
)

// Whoever keeps warm from the store's answers hears of a counter that is paid
// from leases, and never that more is left than is.
func TestWishesAreTold(t *testing.T) {
	c, store := newStore(t)
	meter := limit(weir.FixedWindow, 100_000, weir.Hour)
	told, left := 0, int64(0)
	n := newLeaseNode(t, store, LeaseOptions{Told: func(a *stage.Ask) {
		if len(a.Hints) != 1 || a.Hints[0].ID != keytable.Of("{a}") || a.Now == 0 {
			t.Errorf("told of %+v", a)
		}
		told++
		left = a.Entry.Outcomes[0].Remaining
	}})
	n.heatUp(c, unitsOf("{a}", meter, 1))
	told = 0
	for range 5000 {
		c.now += weir.Millisecond
		n.check(c.now, 1, unitsOf("{a}", meter, 1))
	}
	now, err := store.Read(t.Context(), "{a}", meter)
	if err != nil {
		t.Fatal(err)
	}
	if told < 10 || left != now.Remaining {
		t.Errorf("told %d times, last that %d are left of %d", told, left, now.Remaining)
	}
}
