package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/weirlimit/weir/internal/obs"
	"github.com/weirlimit/weir/internal/tlsfile"
)

// certificates follows the files of listeners and warns before their
// certificate ends.
type certificates struct {
	*tlsfile.Server
	doors   []string
	log     *slog.Logger
	metrics *obs.Metrics

	mu struct {
		sync.Mutex
		warned string // what was last warned of
		at     time.Time
	}
}

// How often the end is looked at, and how often the same is warned of.
const (
	expiryEvery = time.Minute
	expiryAgain = 24 * time.Hour
)

// Watch follows the files, and the clock.
func (c *certificates) Watch(ctx context.Context, told func(error)) {
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(expiryEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				c.look(now)
			}
		}
	})
	c.Server.Watch(ctx, func(err error) {
		told(err)
		if err == nil {
			c.look(time.Now())
		}
	})
	wg.Wait()
}

// look says when the certificate in force ends, and warns of it once a day.
func (c *certificates) look(now time.Time) {
	end := c.Expires()
	for _, door := range c.doors {
		c.metrics.CertificateEnds(door, end)
	}
	warning := c.Warning(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	if warning != "" && (warning != c.mu.warned || now.Sub(c.mu.at) >= expiryAgain) {
		c.log.Warn(warning, "for", c.doors, "until", end.UTC().Format(time.RFC3339), "hint", "replace its files; they are watched")
		c.mu.at = now
	}
	c.mu.warned = warning
}
