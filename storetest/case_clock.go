package storetest

import (
	"fmt"

	"github.com/weirlimit/weir"
)

// oneOfEach is a limit of every algorithm, awkward where there is a choice.
var oneOfEach = []string{
	"7/s burst 11", "30011/s burst 40", "9999991/365d burst 5", "5/s burst 20 token_bucket", "10/s burst 7 leaky_bucket",
	"5/s fixed_window", "9/h fixed_window", "5/s", "100/m", "7/s sliding_log", "4 concurrency 30s",
}

// filler charges one key; each charge has an id of its own, which is who holds
// it if the limit is one of concurrency.
type filler struct {
	*probe
	key string
	m   *weir.Meter
	ids int
}

func (p *probe) filler(name, text string) *filler {
	return &filler{probe: p, key: p.key(name + " " + text), m: meter(text)}
}

func (f *filler) charge(cost int64) (bool, weir.Outcome) {
	f.Helper()
	f.ids++
	e := f.take(fmt.Sprint(f.ids), weir.Charge{Key: f.key, Meter: f.m, Cost: cost})
	return e.Admitted, e.Outcomes[0]
}

// want charges and checks the verdict.
func (f *filler) want(what string, cost int64, admitted bool) weir.Outcome {
	f.Helper()
	got, o := f.charge(cost)
	if got != admitted {
		f.Fatalf("%s: %s, cost %d: admitted %v, want %v: %s", f.m.Limit, what, cost, got, admitted, outcomeText(&o))
	}
	return o
}

// checkRetryExact is denied, and comes back a microsecond before the instant it
// was told, and at it.
func checkRetryExact(p *probe) {
	for _, text := range oneOfEach {
		f := p.filler("retry", text)
		now := Base + 12345
		for round := range 12 {
			cost := 1 + int64(round)%f.m.Capacity
			p.SetClock(now)
			ok, o := f.charge(cost)
			for ; ok; ok, o = f.charge(cost) {
				if o.RetryAfter != 0 {
					p.Fatalf("%s: an admitted charge says to retry after %s", text, spanText(o.RetryAfter))
				}
			}
			if o.RetryAfter <= 0 || o.RetryAfter > o.ResetAfter || o.Remaining >= cost {
				p.Fatalf("%s: denied %d with %s", text, cost, outcomeText(&o))
			}
			now += o.RetryAfter
			p.SetClock(now - 1)
			if o := f.want("1 us before its retry-after", cost, false); o.RetryAfter != 1 {
				p.Fatalf("%s: 1 us before its retry-after, it is %s", text, spanText(o.RetryAfter))
			}
			p.SetClock(now)
			f.want("at its retry-after", cost, true)
		}
	}
}

// checkClockBack fills a limit and turns the clock back, by a little and by a
// lot: nothing is freed, and nothing is freed sooner than it was.
func checkClockBack(p *probe) {
	for _, text := range oneOfEach {
		f := p.filler("back", text)
		now := Base + 12345
		p.SetClock(now)
		for ok := true; ok; {
			ok, _ = f.charge(1)
		}
		full := f.want("full", 1, false)
		for _, back := range []weir.Micros{1, weir.Millisecond, weir.Second, weir.Hour, 400 * weir.Day} {
			p.SetClock(now - back)
			o := f.want("after the clock went back", 1, false)
			if o.Remaining != 0 || o.Before != full.Before || o.RetryAfter != full.RetryAfter+back {
				p.Fatalf("%s: the clock went back by %s: %s; at first: %s", text, spanText(back), outcomeText(&o), outcomeText(&full))
			}
		}
		p.SetClock(now + full.RetryAfter - 1)
		f.want("1 us before the first retry-after", 1, false)
		p.SetClock(now + full.RetryAfter)
		f.want("at the first retry-after", 1, true)
		for ok := true; ok; {
			ok, _ = f.charge(1)
		}
		// What was taken in the future stays taken in the past.
		p.SetClock(now)
		f.want("back from where it was filled", 1, false)
	}
}
