package client

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestWheel(t *testing.T) {
	for _, tc := range []struct {
		name    string
		due     []tick
		looks   []tick
		expired [][]tick // by look
	}{
		{"nothing", nil, []tick{0, 5}, [][]tick{nil, nil}},
		{"at its tick, not before", []tick{3}, []tick{2, 3, 4}, [][]tick{nil, {3}, nil}},
		{"looked at late", []tick{3, 4, 9}, []tick{6}, [][]tick{{3, 4}}},
		{"a turn away", []tick{3 + wheelSize}, []tick{3, 2 + wheelSize, 3 + wheelSize}, [][]tick{nil, nil, {3 + wheelSize}}},
		{"looked at turns late", []tick{1, 300, 700}, []tick{650, 5000}, [][]tick{{1, 300}, {700}}},
		{"twice at one tick", []tick{7, 7}, []tick{7, 7}, [][]tick{{7, 7}, nil}},
	} {
		var w wheel
		for _, due := range tc.due {
			w.add(&call{due: due})
		}
		for i, now := range tc.looks {
			var got []tick
			w.expire(now, func(c *call) { got = append(got, c.due); w.remove(c) })
			slices.Sort(got)
			if !slices.Equal(got, tc.expired[i]) {
				t.Errorf("%s: at %d %v, want %v", tc.name, now, got, tc.expired[i])
			}
		}
	}
}

// TestWheelAgainstAList does what a plain list does, with calls added overdue,
// due now and far away, and removed before they are due.
func TestWheelAgainstAList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var w wheel
	list := map[*call]tick{}
	now := tick(0)
	for range 20_000 {
		switch r.IntN(4) {
		case 0, 1:
			c := &call{due: now + tick(r.IntN(600)) - 5}
			list[c] = max(c.due, 0)
			w.add(c)
		case 2:
			for c := range list {
				w.remove(c)
				delete(list, c)
				break
			}
		case 3:
			now += tick(r.IntN(r.IntN(700) + 1))
			w.expire(now, func(c *call) {
				if list[c] > now {
					t.Fatalf("due at %d, expired at %d", list[c], now)
				}
				w.remove(c)
				delete(list, c)
			})
			for c, due := range list {
				if due <= now {
					t.Fatalf("due at %d (%d), not expired at %d", due, c.due, now)
				}
			}
		}
		if w.n != len(list) {
			t.Fatalf("%d on the wheel, %d in the list", w.n, len(list))
		}
	}
}
