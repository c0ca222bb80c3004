package rls

import (
	"errors"
	"fmt"
	"sync"

	"github.com/weirlimit/weir"
)

// maxOverrides bounds the limits that requests bring along and that are kept
// prepared. Past it they are prepared each time: slower, and no leak.
const maxOverrides = 1024

// overrides keeps the meters of limits that came with requests.
type overrides struct {
	mu struct {
		sync.RWMutex
		meters map[weir.Limit]*weir.Meter
	}
}

func (o *overrides) meter(in askedLimit, compat bool) (*weir.Meter, *weir.Error) {
	window := spanOf(in.unit)
	if window == 0 {
		return nil, invalid("limit.unit", "invalid rate limit unit '"+in.unit.String()+"'")
	}
	units := weir.Micros(max(1, in.units))
	if units > weir.MaxWindow/window {
		return nil, invalid("limit.unit_multiplier", fmt.Sprintf("a window of %d units is longer than a year", units))
	}
	window *= units
	l := weir.Limit{Algorithm: weir.SlidingWindow, Count: int64(in.perUnit), Window: window}
	if compat {
		l.Algorithm = weir.FixedWindow
	}
	o.mu.RLock()
	m := o.mu.meters[l]
	o.mu.RUnlock()
	if m != nil {
		return m, nil
	}
	m, err := &weir.Meter{Limit: l}, error(nil) // of 0: nothing fits, and nothing is counted
	if l.Count > 0 {
		m, err = weir.NewMeter(l)
	}
	if err != nil {
		e, _ := errors.AsType[*weir.Error](err)
		return nil, &weir.Error{Code: weir.CodeInvalid, Field: "limit." + e.Field, Message: e.Message, Hint: e.Hint}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.meters == nil {
		o.mu.meters = make(map[weir.Limit]*weir.Meter)
	}
	if len(o.mu.meters) < maxOverrides {
		o.mu.meters[l] = m
	}
	return m, nil
}
