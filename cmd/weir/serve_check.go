package main

import (
	"time"

	"github.com/spf13/pflag"
)

// check refuses what cannot be meant, before anything is opened.
func (f *serveFlags) check(flags *pflag.FlagSet) error {
	if err := checkConfig(f.config); err != nil {
		return err
	}
	if err := checkDeadline(f.deadline); err != nil {
		return err
	}
	if f.drain < 0 {
		return usage("use 0 not to wait", "--drain: %s is below 0", f.drain)
	}
	return f.redis.checkIdle(flags)
}

// checkConfig refuses a path that is empty, as of a shell's variable that is not
// set: taken as it is, it would be the current directory.
func checkConfig(paths []string) error {
	for _, path := range paths {
		if path == "" {
			return usage("for example --config policies/", "--config: is empty")
		}
	}
	return nil
}

func checkDeadline(d time.Duration) error {
	if d <= 0 {
		return usage("for example 10ms", "--deadline: %s is not above 0", d)
	}
	return nil
}
