package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/admin"
	"github.com/weirlimit/weir/internal/degrade"
	"github.com/weirlimit/weir/internal/obs"
)

// partSwitch is what health calls the switch.
const partSwitch = "switch"

// standby is what the server falls back to.
type standby struct {
	instances func() int        // how many servers share the store; nil for this one alone
	backstop  *degrade.Backstop // nil for counters in memory, which always answer
	gate      *degrade.Gate     // the same
	forced    *degrade.Switch
}

// open makes the stages that o lacks, and has them shown.
func (b *standby) open(f *serveFlags, o *engine.Options, m *obs.Metrics) {
	b.forced = degrade.NewSwitch(time.Now)
	o.Switch = b.forced
	show := obs.Standby{Forced: b.count}
	if f.redis.addrs != "" {
		b.backstop = degrade.NewBackstop(degrade.BackstopOptions{
			Keys: f.degrade.backstopKeys, Strict: f.degrade.localFactor, Instances: b.instances,
		})
		b.gate = degrade.NewGate(degrade.GateOptions{MaxInFlight: f.degrade.maxInFlight, Target: f.deadline / 2})
		o.Backstop, o.Gate = b.backstop, b.gate
		show.BackstopKeys, show.InFlight = b.backstop.Keys, b.gate.InFlight
	}
	m.SetStandby(show)
}

// count is how much is forced.
func (b *standby) count() (all, policies int) {
	for _, f := range b.forced.List() {
		if f.Scope == degrade.Everything {
			all++
		} else {
			policies++
		}
	}
	return all, policies
}

// switchPages are those of the admin listener.
func (s *server) switchPages() []admin.Page {
	return admin.SwitchPages(admin.SwitchOptions{
		Switch: s.standby.forced,
		Known:  s.hasRule,
		Told: func(order admin.SwitchOrder, changed []degrade.Forced) {
			for _, f := range changed {
				if order.On {
					s.log.Warn("FORCED OPEN: requests are let through past their limits", "scope", f.Scope.String(),
						"who", f.Who, "why", f.Why, "until", f.Until.UTC().Format(time.RFC3339))
				} else {
					s.logLimited(f, slog.String("who", order.Who), slog.String("why", order.Why))
				}
			}
			s.tellSwitch()
		},
	})
}

// logLimited says that something is limited again.
func (s *server) logLimited(f degrade.Forced, attrs ...any) {
	s.log.Warn("no longer forced open: limits apply again",
		append([]any{"scope", f.Scope.String(), "forced_by", f.Who, "forced_for", f.Why}, attrs...)...)
}

// hasRule tells whether there is such a rule.
func (s *server) hasRule(domain, id string) bool {
	set := s.engine.Set()
	if set == nil {
		return false
	}
	for _, r := range set.Rules() {
		if r.Domain == domain && r.ID == id {
			return true
		}
	}
	return false
}

// watchSwitch says when what was forced has ended by itself. That it ends does
// not depend on this.
func (s *server) watchSwitch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		ended := s.standby.forced.Ended()
		for _, f := range ended {
			s.logLimited(f, slog.String("why", "its time is over"))
		}
		if len(ended) > 0 {
			s.tellSwitch()
		}
	}
}

// tellSwitch makes health say what is forced.
func (s *server) tellSwitch() {
	var forced []string
	for _, f := range s.standby.forced.List() {
		forced = append(forced, fmt.Sprintf("%s until %s", f.Scope, f.Until.UTC().Format(time.RFC3339)))
	}
	if len(forced) == 0 {
		s.health.Restore(partSwitch)
		return
	}
	s.health.Degrade(partSwitch, "let through past its limits: "+strings.Join(forced, ", "))
}
