package measure

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/limiter"
	"github.com/weirlimit/weir/redisstore"
)

// KeySize is what Weir keeps in Redis for one key under one limit, as Redis
// counts it (MEMORY USAGE).
type KeySize struct {
	Algorithm string
	Limit     string
	Key       string // as it is stored
	One       int64  // bytes after one check
	Full      int64  // bytes after as many checks as fit at once
}

// sizedLimits are a limit of each algorithm. The second of gcra has an interval
// that is not a whole number of microseconds, whose state is longer.
var sizedLimits = []string{
	"100/s burst 200",
	"700/s burst 200",
	"100/s burst 200 token_bucket",
	"100/s burst 200 leaky_bucket",
	"100/m fixed_window",
	"100/m sliding_window",
	"100/m sliding_log",
	"20 concurrency 30s",
}

// KeySizes measures a key of each algorithm in srv, which it empties.
func KeySizes(ctx context.Context, srv *redistest.Server) (_ []KeySize, err error) {
	store, err := redisstore.New(ctx, redisstore.Options{Addrs: []string{srv.Addr()}, Deadline: time.Second})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	var sizes []KeySize
	for _, text := range sizedLimits {
		k, err := keySize(ctx, srv, store, text)
		if err != nil {
			return nil, fmt.Errorf("measure a key of %s: %w", text, err)
		}
		sizes = append(sizes, k)
	}
	return sizes, nil
}

func keySize(ctx context.Context, srv *redistest.Server, store weir.Store, text string) (KeySize, error) {
	limit, err := weir.ParseLimit(text)
	if err != nil {
		return KeySize{}, err
	}
	lim, err := limiter.New(store, "api", limit)
	if err != nil {
		return KeySize{}, err
	}
	if _, err := srv.Do("FLUSHALL"); err != nil {
		return KeySize{}, err
	}
	k := KeySize{Algorithm: limit.Algorithm.String(), Limit: text}
	for n := range limit.Capacity() {
		var d weir.Decision
		ask := limiter.Ask{Key: newKey(0)}
		if limit.Algorithm == weir.Concurrency {
			ask.ID = strconv.FormatInt(n, 10) // its holders; elsewhere an id would be a key of its own
		}
		if err := lim.Check(ctx, ask, &d); err != nil {
			return KeySize{}, err
		}
		if !d.Allowed() {
			return KeySize{}, errDenied
		}
		if n == 0 {
			if k.Key, k.One, err = onlyKey(srv); err != nil {
				return KeySize{}, err
			}
		}
	}
	_, k.Full, err = onlyKey(srv)
	return k, err
}

// onlyKey returns the one key that srv holds, and its size.
func onlyKey(srv *redistest.Server) (name string, bytes int64, err error) {
	v, err := srv.Do("KEYS", "*")
	if err != nil {
		return "", 0, err
	}
	keys, _ := v.([]any)
	if len(keys) != 1 {
		return "", 0, fmt.Errorf("redis holds %d keys, want 1", len(keys))
	}
	name, _ = keys[0].(string)
	v, err = srv.Do("MEMORY", "USAGE", name)
	if err != nil {
		return "", 0, err
	}
	bytes, ok := v.(int64)
	if !ok {
		return "", 0, fmt.Errorf("MEMORY USAGE answered %v", v)
	}
	return name, bytes, nil
}
