package contest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/weirlimit/weir"
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
	Secured          = "TLS 1.3 beside cleartext, 1 descriptor, 10k keys, allowed"
)

// most is a limit that is never reached: the most that Weir counts to.
const most = 10_000_000

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
	Record  func(rng *rand.Rand, requests int) []weir.Request
	Systems []System
	Open    bool           // at openRate, else callers who wait
	WarmUp  time.Duration  // at least
	Redis   bool           // Redis is to be asked for every decision of Weir
	Fill    []weir.Request // are sent once before the warm-up
}

// scenarios lists them all.
func scenarios(engines []string) []Scenario {
	everybody := append([]System{peerStock(), peerTuned()}, against(PeerTuned, weirs(engines, "", false))...)
	last := engines[len(engines)-1:]
	inRedis, inMemory := against(PeerTuned, weirs(last, "", false))[0], against(PeerTuned, weirs(last, ", memory", true))[0]
	ample := config(most, "hour", "tenant", "route", "agent")
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
			Name: DeniedFlood, Config: config(1, "hour", "tenant"),
			Note:    "Every key is used up. The peer has its local cache on, Weir its deny cache, as by default.",
			Systems: append([]System{peerCached()}, against(PeerCached, weirs(engines, "", false))...),
			Record:  uniform(1000, "tenant"), Fill: each(1000, "tenant"),
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
		}, {
			Name: Secured, Config: ample,
			Note: "TLS 1.3 with ALPN, an ECDSA certificate on P-256, four connections that stay: what encryption costs a decision. " +
				"Those with TLS are held against the peer with TLS. The peer has no counters in memory: Weir with its own is held against the same.",
			Systems: []System{peerTuned(), secured(peerTuned()), inRedis, secured(inRedis), inMemory, secured(inMemory)},
			Record:  uniform(10_000, "tenant"), Redis: true,
		},
	}
}

// config has a limit for each value of each key. A day ends seldom enough for
// what is measured for minutes.
func config(limit int, unit string, keys ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "domain: %s\ndescriptors:\n", domain)
	for _, k := range keys {
		fmt.Fprintf(&b, "  - key: %s\n    rate_limit: {unit: %s, requests_per_unit: %d}\n", k, unit, limit)
	}
	return b.String()
}
