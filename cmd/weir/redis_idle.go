package main

import (
	"log/slog"

	"github.com/spf13/pflag"
)

// idleSetting is one about Redis where no Redis is named.
type idleSetting struct{ flag, source string }

// checkIdle refuses flags that say how to speak to Redis when none says where:
// counters in memory are not what their author expects. What other sources than
// the command line say may be meant for another program, and is noted in idle.
func (f *redisFlags) checkIdle(flags *pflag.FlagSet) error {
	if f.addrs != "" {
		return nil
	}
	f.idle = nil
	for _, name := range redisNames {
		fl := flags.Lookup(name)
		if !fl.Changed || fl.Value.String() == "" {
			continue
		}
		if fl.Annotations[sourceAnnotation] == nil {
			return usage("give --redis, or leave it out", "--%s: there is no --redis", name)
		}
		f.idle = append(f.idle, idleSetting{"--" + name, sourceOf(fl)})
	}
	return nil
}

func (f *redisFlags) warnIdle(log *slog.Logger) {
	for _, s := range f.idle {
		log.Warn("setting has no effect without --redis: counters are in memory", "name", s.flag, "from", s.source)
	}
}
