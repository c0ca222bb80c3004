package redisstore

import (
	"context"
	"time"

	"github.com/weirlimit/weir"
)

// Read implements weir.Store. It is a peek, decided like any other entry.
func (s *Store) Read(ctx context.Context, k string, m *weir.Meter) (weir.Outcome, error) {
	b := weir.Batch{Entries: []weir.Entry{{Charges: []weir.Charge{{Key: k, Meter: m, Mode: weir.Peek}}}}}
	if _, ok := ctx.Deadline(); !ok {
		b.Deadline = time.Now().Add(s.opts.ConnTimeout)
	}
	s.Decide(ctx, &b)
	if err := b.Entries[0].Err; err != nil {
		return weir.Outcome{}, err
	}
	return b.Entries[0].Outcomes[0], nil
}

// Reset implements weir.Store.
func (s *Store) Reset(ctx context.Context, k string) error {
	if k == "" || len(k) > weir.MaxKeyBytes {
		return &weir.Error{Code: weir.CodeInvalid, Field: "key", Message: "is empty or too long"}
	}
	if s.closed.Load() {
		return closedError()
	}
	// A dial does not heed ctx, and a hung one holds the shard's lock: the
	// deadline is kept here.
	answer := make(chan error, 1)
	go func() { answer <- s.reset(ctx, k) }()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return contextError(ctx.Err())
	}
}

func (s *Store) reset(ctx context.Context, k string) error {
	var last *weir.Error
	for range maxRedirects {
		err := s.del(ctx, k)
		if err == nil {
			return nil
		}
		var again bool
		if last, again = classify(err); !again {
			return last
		}
		s.noticed(last)
		select {
		case <-ctx.Done():
			return contextError(ctx.Err())
		case <-time.After(refreshGap):
		}
	}
	return last
}

func (s *Store) del(ctx context.Context, k string) error {
	t := s.topo.Load()
	var sh *shard
	if t.slots == nil {
		sh = t.shards[0]
	} else if sh = t.slots[s.slotOf(k)]; sh == nil {
		return &notSentError{&weir.Error{Code: weir.CodeClusterDown, Message: "no node serves the key's slot"}}
	}
	n, err := sh.acquire(ctx)
	if err != nil {
		return err
	}
	defer n.release()
	_, err = n.do(ctx, "DEL", s.opts.Prefix+k)
	to, asking, redirected := redirect(err, sh.addr)
	if !redirected || !asking {
		return err
	}
	for _, other := range t.shards {
		if other.addr != to {
			continue
		}
		n, err := other.acquire(ctx)
		if err != nil {
			return err
		}
		defer n.release()
		return n.asking(ctx, "DEL", s.opts.Prefix+k)
	}
	return err
}
