package storetest

import (
	"context"
	"time"

	"github.com/weirlimit/weir"
)

// patience is how long a store may take for one call before its case fails. It
// is the deadline of every call that is not about deadlines, so that no store's
// default one turns a slow machine into a failure.
const patience = 30 * time.Second

// patient calls a store and gives it time. It is for any goroutine.
type patient struct{ weir.Store }

func (s patient) decide(b *weir.Batch) {
	b.Deadline = time.Now().Add(patience)
	s.Decide(context.Background(), b)
}

func (s patient) read(key string, m *weir.Meter) (weir.Outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.Read(ctx, key, m)
}

func (s patient) reset(key string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.Reset(ctx, key)
}
