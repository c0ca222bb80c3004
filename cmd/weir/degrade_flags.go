package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/weirlimit/weir/internal/degrade"
)

// degradeFlags say how the server bears up without its store, and under more
// load than it can take.
type degradeFlags struct {
	backstopKeys   int
	localFactor    int
	maxInFlight    int
	maxConnections int
}

func (f *degradeFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.backstopKeys, "backstop-keys", degrade.DefaultKeys,
		"how many `keys` are remembered for when Redis is away; 72 bytes each")
	flags.IntVar(&f.localFactor, "local-factor", degrade.DefaultStrict,
		"how many `times` smaller the share of a policy is that fails by local, when Redis is away")
	flags.IntVar(&f.maxInFlight, "max-in-flight", degrade.DefaultMaxInFlight,
		"how many `checks` may wait for Redis at once; the others are answered by their policies' on_failure")
	flags.IntVar(&f.maxConnections, "max-connections", 16384, "how many `connections` a listener has at once; others wait")
	for _, name := range []string{"backstop-keys", "local-factor", "max-in-flight", "max-connections"} {
		fromEnv(flags, name, "WEIR_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
}

// check says what cannot be.
func (f *degradeFlags) check() error {
	for _, n := range []struct {
		flag        string
		value, most int
	}{
		{"backstop-keys", f.backstopKeys, 100_000_000},
		{"local-factor", f.localFactor, 1000},
		{"max-in-flight", f.maxInFlight, 500_000},
		{"max-connections", f.maxConnections, 1_000_000},
	} {
		if n.value < 1 || n.value > n.most {
			return usage("", "--%s: %d is outside 1 to %d", n.flag, n.value, n.most)
		}
	}
	return nil
}
