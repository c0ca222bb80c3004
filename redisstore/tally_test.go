package redisstore

import (
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

// TestTally: what each end of an entry says about its shard.
func TestTally(t *testing.T) {
	const within = 10 * time.Millisecond
	moved := &weir.Error{Code: weir.CodeMoved}
	for name, tc := range map[string]struct {
		it   *item // began at 0
		does func(*tally, *item)
		want tally
	}{
		"answered in time": {&item{deadline: within}, func(t *tally, it *item) { t.passed(it, within/2, within) }, tally{succeeded: 1}},
		"answered late":    {&item{deadline: within}, func(t *tally, it *item) { t.passed(it, within, within) }, tally{failed: 1, weight: 1}},
		"answered late to who was in a hurry": {
			&item{deadline: within / 5, hasty: true}, func(t *tally, it *item) { t.passed(it, within, within) }, tally{},
		},
		"answered late, but in time for its caller": {
			&item{deadline: time.Second}, func(t *tally, it *item) { t.passed(it, 2*within, within) }, tally{succeeded: 1},
		},
		"the same, of a probe": {
			&item{deadline: time.Second, probe: 3}, func(t *tally, it *item) { t.passed(it, 2*within, within) },
			tally{probe: 3, probeFailed: true},
		},
		"the same, of a probe in a hurry": {
			&item{deadline: within / 5, hasty: true, probe: 3}, func(t *tally, it *item) { t.passed(it, within, within) },
			tally{probe: 3, probeSilent: true},
		},
		"expired, a probe in a hurry": {
			&item{deadline: within / 5, hasty: true, probe: 3}, func(t *tally, it *item) { t.expired(it, within, nil) },
			tally{probe: 3, probeSilent: true},
		},
		"a probe in a hurry that was refused": {
			&item{hasty: true, probe: 3}, func(t *tally, it *item) { t.missed(it, weir.CodeRefused) }, tally{probe: 3, probeFailed: true},
		},
		"a probe in time": {
			&item{deadline: time.Second, probe: 3}, func(t *tally, it *item) { t.passed(it, within, within) }, tally{probe: 3},
		},
		"failed":                  {&item{}, func(t *tally, it *item) { t.missed(it, weir.CodeOOM) }, tally{failed: 1, weight: 1}},
		"failed, none of redis's": {&item{}, func(t *tally, it *item) { t.missed(it, weir.CodeClosed) }, tally{}},
		"a probe that failed": {
			&item{probe: 3}, func(t *tally, it *item) { t.missed(it, weir.CodeNoAuth) }, tally{probe: 3, probeFailed: true},
		},
		"a probe that failed, none of redis's": {
			&item{probe: 3}, func(t *tally, it *item) { t.missed(it, weir.CodeClosed) }, tally{probe: 3, probeSilent: true},
		},
		"expired":           {&item{deadline: within}, func(t *tally, it *item) { t.expired(it, within, nil) }, tally{failed: 1, weight: 1}},
		"given up before":   {&item{deadline: within}, func(t *tally, it *item) { t.expired(it, within/2, nil) }, tally{}},
		"given up, a probe": {&item{deadline: within, probe: 3}, func(t *tally, it *item) { t.expired(it, 0, nil) }, tally{probe: 3, probeSilent: true}},
		"expired, a probe":  {&item{deadline: within, probe: 3}, func(t *tally, it *item) { t.expired(it, within, nil) }, tally{probe: 3, probeFailed: true}},
		"expired, a probe for which nobody dialled": {
			&item{deadline: within, probe: 3, held: true}, func(t *tally, it *item) { t.expired(it, within, nil) },
			tally{probe: 3, probeSilent: true},
		},
		"expired, and nobody dialled": {
			&item{deadline: within, held: true}, func(t *tally, it *item) { t.expired(it, within, nil) }, tally{failed: 1, weight: 1},
		},
		"expired while its slot moves": {
			&item{deadline: within, cause: moved}, func(t *tally, it *item) { t.expired(it, within, nil) }, tally{why: moved},
		},
		"counted once": {
			&item{deadline: within}, func(t *tally, it *item) {
				t.expired(it, within, nil)
				t.passed(it, within, within)
				t.missed(it, weir.CodeTimeout)
			}, tally{failed: 1, weight: 1},
		},
		"a probe, counted once": {
			&item{deadline: within, probe: 3}, func(t *tally, it *item) {
				t.missed(it, weir.CodeTimeout)
				t.forgot(it)
			}, tally{probe: 3, probeFailed: true},
		},
	} {
		var got tally
		tc.does(&got, tc.it)
		if got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

// TestTallyOfAFlight: a flight's entries weigh so much together and no more, in
// however many tallies they are; those of a queue weigh each.
func TestTallyOfAFlight(t *testing.T) {
	f, other := new(flight), new(flight)
	items := make([]item, 40)
	miss := func(t *tally, n int) {
		for range n {
			t.missed(&items[0], weir.CodeTimeout)
			items = items[1:]
		}
	}
	var queued, first, second tally
	miss(&queued, 12)
	first.flew(f, 9)
	miss(&first, 6)
	second.flew(f, 9)
	miss(&second, 10)
	second.flew(other, 9)
	miss(&second, 12)
	for i, got := range []struct{ failed, weight, wantFailed, wantWeight int }{
		{queued.failed, queued.weight, 12, 12},
		{first.failed, first.weight, 6, 6},
		{second.failed, second.weight, 22, 3 + 9},
	} {
		if got.failed != got.wantFailed || got.weight != got.wantWeight {
			t.Errorf("tally %d: %+v", i, got)
		}
	}
}

// TestFailures: every code is one or is not.
func TestFailures(t *testing.T) {
	bad := map[weir.Code]bool{
		weir.CodeTimeout: true, weir.CodeRefused: true, weir.CodeReadOnly: true, weir.CodeNoAuth: true, weir.CodeNoPerm: true,
		weir.CodeClusterDown: true, weir.CodeOOM: true, weir.CodeLoading: true, weir.CodeProtocol: true,
	}
	for c := weir.CodeInternal; c <= weir.CodeBreaker; c++ {
		if failure(c) != bad[c] {
			t.Errorf("%s: %v", c, failure(c))
		}
	}
}
