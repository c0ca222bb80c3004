package measure

import (
	"context"
	"errors"
	"sync"

	"github.com/weirlimit/weir/bench/internal/peer"
)

// fake is a limiter that records whom it was asked for.
type fake struct {
	mu     sync.Mutex
	asked  map[string]int
	calls  int
	denyAt int // the call that is denied, from 1; 0 for none
	// denyAfter, when not 0, has all calls after so many denied.
	denyAfter int
	failAt    int // every such call fails; 0 for none
	closed    bool
}

var errFake = errors.New("fake failure")

func (f *fake) Allow(_ context.Context, key string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.asked == nil {
		f.asked = map[string]int{}
	}
	f.asked[key]++
	if f.failAt > 0 && f.calls%f.failAt == 0 {
		return false, errFake
	}
	return f.calls != f.denyAt && (f.denyAfter == 0 || f.calls <= f.denyAfter), nil
}

func (f *fake) called() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func (f *fake) Close() error {
	f.closed = true
	return nil
}

func (f *fake) memory(name string) peer.Memory {
	return peer.Memory{Name: name, New: func(peer.Limit, int) (peer.Limiter, error) { return f, nil }}
}

func (f *fake) redis(name string) peer.Redis {
	return peer.Redis{Name: name, New: func(context.Context, string, peer.Limit) (peer.Limiter, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.calls = 0 // the first call of a round is the one that connects
		return f, nil
	}}
}
