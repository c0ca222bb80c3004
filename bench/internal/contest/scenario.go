package contest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/weirlimit/weir/bench/internal/rlsload"
)

// domain is the one that everything asks for.
const domain = "bench"

// Names of the scenarios that bars are about.
const (
	OneDescriptor    = "1 descriptor, 10k keys, allowed"
	ThreeDescriptors = "3 descriptors, 10k keys each, allowed"
	HotKey           = "one hot key, exact, allowed"
	DeniedFlood      = "denied flood, 1k keys"
	Embedded         = "embedded: counters in memory, 10k keys"
	Leased           = "leased: 100 hot keys, units taken ahead from Redis"
	OpenLoop         = "open loop, 8,000 requests/s, 10k keys"
)

// The load of every scenario but the open loop.
const (
	callers     = 64
	connections = 4
	openRate    = 8000
)

// Scenario is what systems take their turns at.
type Scenario struct {
	Name    string
	Note    string
	Config  string
	Record  func(rng *rand.Rand, requests int) rlsload.Recording
	Systems []System
	Open    bool          // at openRate, else callers who wait
	WarmUp  time.Duration // at least
	Redis   bool          // Redis is to be asked for every decision of Weir
	Fill    uint64        // so many tenants ask once before the warm-up
}

// scenarios lists them all.
func scenarios(engines []string) []Scenario {
	everybody := append([]System{peerStock(), peerTuned()}, weirs(engines, "", false)...)
	ample := config(10_000_000, "tenant", "route", "agent")
	return []Scenario{
		{
			Name: OneDescriptor, Config: ample, Systems: everybody, Redis: true,
			Note:   "A limit that is never reached: the cost of counting in Redis.",
			Record: uniform(10_000, "tenant"),
		}, {
			Name: ThreeDescriptors, Config: ample, Systems: everybody, Redis: true,
			Note:   "Three limits and three counters a request, each of its own 10k keys.",
			Record: uniform(10_000, "tenant", "route", "agent"),
		}, {
			Name: HotKey, Config: ample, Systems: everybody, Redis: true,
			Note:   "All callers ask for one counter; every decision is Redis's, none is made ahead.",
			Record: uniform(1, "tenant"),
		}, {
			Name: DeniedFlood, Config: config(1, "tenant"),
			Note:    "Every key is used up. The peer has its local cache on, Weir its deny cache, as by default.",
			Systems: append([]System{peerCached()}, weirs(engines, "", false)...),
			Record:  uniform(1000, "tenant"), Fill: 1000,
		}, {
			Name: Embedded, Config: ample, Systems: weirs(engines, ", memory", true),
			Note:   "One instance without Redis, asked over RLS by this program.",
			Record: uniform(10_000, "tenant"),
		}, {
			Name: Leased, Config: ample, Systems: weirs(engines, ", leased", false, "--lease", "auto"),
			Note:   "Counters in Redis, `--lease auto`, asked over RLS by this program; the peer has nothing like it.",
			Record: uniform(100, "tenant"), WarmUp: 4 * time.Second,
		}, {
			Name: OpenLoop, Config: ample, Systems: everybody, Redis: true, Open: true,
			Note:   "Requests come at their times whether or not those before them were answered; latency counts from then.",
			Record: uniform(10_000, "tenant"),
		},
	}
}

// config has a limit an hour for each value of each key.
func config(limit int, keys ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "domain: %s\ndescriptors:\n", domain)
	for _, k := range keys {
		fmt.Fprintf(&b, "  - key: %s\n    rate_limit: {unit: hour, requests_per_unit: %d}\n", k, limit)
	}
	return b.String()
}

// recordLen is more requests than a server remembers of its past.
const recordLen = 100_000

// uniform records requests with a descriptor for each key, each with one of so
// many values.
func uniform(values int, keys ...string) func(*rand.Rand, int) rlsload.Recording {
	return func(rng *rand.Rand, requests int) rlsload.Recording {
		out := make(rlsload.Recording, requests)
		for i := range out {
			out[i].Domain = domain
			for _, k := range keys {
				value := rlsload.Number(rng.Uint64N(uint64(values)))
				out[i].Descriptors = append(out[i].Descriptors, rlsload.Descriptor{{Key: k, Value: value}})
			}
		}
		return out
	}
}
