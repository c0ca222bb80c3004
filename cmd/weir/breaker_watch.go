package main

import "github.com/weirlimit/weir"

// breakerWatch tells an operator when a shard is left alone and when it is used
// again: once each. That it is tried in between is for the metrics.
type breakerWatch struct {
	changes chan breakerChange
	open    map[string]bool // of the one who looks; shards are few
}

type breakerChange struct {
	shard string
	open  bool
}

// maxChanges bounds those that wait to be told; the rest is not.
const maxChanges = 256

// note is called under the shard's lock, and does not wait.
func (w *breakerWatch) note(shard string, state weir.BreakerState) {
	if state == weir.BreakerHalfOpen {
		return
	}
	select {
	case w.changes <- breakerChange{shard, state == weir.BreakerOpen}:
	default:
	}
}

// news returns the shards whose breakers have opened or closed since the last
// look, in order; a probe that failed is none.
func (w *breakerWatch) news() (out []breakerChange) {
	for {
		select {
		case c := <-w.changes:
			if w.open[c.shard] == c.open {
				continue
			}
			if c.open {
				w.open[c.shard] = true
			} else {
				delete(w.open, c.shard)
			}
			out = append(out, c)
		default:
			return out
		}
	}
}

func newBreakerWatch() breakerWatch {
	return breakerWatch{changes: make(chan breakerChange, maxChanges), open: make(map[string]bool)}
}

func (s *server) tellBreakers() {
	for _, c := range s.watch.breakers.news() {
		if c.open {
			s.log.Warn("a shard of the store is left alone: too many calls failed", "shard", c.shard,
				"hint", "it is tried again by itself; see weir_store_errors_total and weir_breaker_state")
		} else {
			s.log.Info("a shard of the store is used again", "shard", c.shard)
		}
	}
}
