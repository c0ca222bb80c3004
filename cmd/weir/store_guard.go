package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/weirlimit/weir/internal/doctor"
	"github.com/weirlimit/weir/redisstore"
)

// guardTimeout bounds a look at Redis. It delays the watch of the store, which
// looks every second, and nothing else.
const guardTimeout = 2 * time.Second

// storeGuard warns of a Redis in which counters do not last, or that is too old
// to count: at the start, and when Redis is back after it was away, since it may
// be another. It holds up nothing: an operator may prefer limits that leak to
// none.
type storeGuard struct {
	options *redisstore.Options // nil: the counters are in memory
	looked  bool                // since the store last came back
}

// guarded are the checks of weir doctor that are worth a line in the log of
// every server. The others cost round trips, or are a matter of degree.
var guarded = map[string]bool{doctor.CheckVersion: true, doctor.CheckEviction: true}

// look warns once per time that the store comes back. What it may not ask, or
// cannot, it does not warn of: see weir doctor.
func (g *storeGuard) look(ctx context.Context, away bool, log *slog.Logger) {
	if g.options == nil || away {
		g.looked = false
		return
	}
	if g.looked {
		return
	}
	g.looked = true
	ctx, cancel := context.WithTimeout(ctx, guardTimeout)
	defer cancel()
	facts, err := redisstore.Inspect(ctx, *g.options, redisstore.Inspection{Brief: true})
	if err != nil {
		return
	}
	d := diagnosis{findings: doctor.Judge(facts)}
	for _, r := range d.merged() {
		if guarded[r.Check] && r.Status == doctor.Fail {
			log.Warn("redis does not keep what limits need: "+r.Seen, "nodes", r.where(), "hint", r.Do+"; weir doctor tells more")
		}
	}
}
