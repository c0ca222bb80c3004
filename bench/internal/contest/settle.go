package contest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weirlimit/weir/bench/internal/measure"
	"github.com/weirlimit/weir/internal/redistest"
)

// A redis-server that was filled moves its keys to a larger table little by
// little, and looks into both meanwhile: for minutes, when nobody asks. Sizes
// are compared once that is over.

// settles are the options of a server that can be asked for its tables, which
// from version 7 on has to be allowed.
func settles(like *redistest.Server) []redistest.Option {
	if version, err := measure.RedisVersion(like); err == nil {
		major, _, _ := strings.Cut(version, ".")
		if n, err := strconv.Atoi(major); err == nil && n >= 7 {
			return []redistest.Option{redistest.WithConfig("enable-debug-command", "yes")}
		}
	}
	return nil
}

// settle waits until a server has moved all of its keys, which it does at every
// tick of its clock: they are made to come often.
func settle(ctx context.Context, redis *redistest.Server) (err error) {
	if _, err := redis.Do("CONFIG", "SET", "hz", "500"); err != nil {
		return fmt.Errorf("settle Redis: %w", err)
	}
	defer func() {
		_, e := redis.Do("CONFIG", "SET", "hz", "10") // as it is by default
		err = errors.Join(err, e)
	}()
	// To be asked costs it seconds, with millions of keys.
	pause := 50 * time.Millisecond
	for deadline := time.Now().Add(5 * time.Minute); ; pause = min(2*pause, 4*time.Second) {
		v, err := redis.Do("DEBUG", "HTSTATS", "0")
		if err != nil {
			return fmt.Errorf("settle Redis: %w", err)
		}
		text, _ := v.(string)
		switch {
		case !strings.Contains(text, "rehashing target"):
			return nil
		case time.Now().After(deadline):
			return errors.New("settle Redis: it does not end to move its keys")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
