package contest

import (
	"strconv"
	"strings"
)

// System is a server in one of its forms.
type System struct {
	Name string
	Ours bool
	// Env is the peer's, as NAME=value; Args are Weir's.
	Env  []string
	Args []string
	// Memory is Weir with its counters in its own memory.
	Memory bool
	// TLS is TLS 1.3 with ALPN on the listeners.
	TLS bool
	// Against is the system that its cost is held against; "" for none.
	Against string
}

// Names of the systems that others are held against.
const (
	PeerStock  = "envoyproxy/ratelimit, stock"
	PeerTuned  = "envoyproxy/ratelimit, tuned"
	PeerCached = "envoyproxy/ratelimit, tuned, local cache"
	PeerTLS    = "envoyproxy/ratelimit, tuned, TLS"
)

// localCacheBytes is room for every key of the flood of denied requests.
const localCacheBytes = 64 << 20

func peerStock() System { return System{Name: PeerStock, Against: PeerTuned} }

func peerTuned() System {
	return System{Name: PeerTuned, Against: PeerTuned, Env: []string{"GOGC=800", "REDIS_POOL_SIZE=32"}}
}

func peerCached() System {
	s := peerTuned()
	s.Name, s.Against = PeerCached, PeerCached
	s.Env = append(s.Env, "LOCAL_CACHE_SIZE_IN_BYTES="+strconv.Itoa(localCacheBytes))
	return s
}

// secured returns a system with TLS, held against the peer with TLS.
func secured(s System) System {
	s.Name, s.TLS = s.Name+", TLS", true
	if s.Against != "" {
		s.Against = PeerTLS
	}
	return s
}

// against returns systems that are held against another.
func against(name string, systems []System) []System {
	for i := range systems {
		systems[i].Against = name
	}
	return systems
}

// weirs returns Weir once for each engine, the one that is judged last. An
// engine of "" is a program without the choice.
func weirs(engines []string, what string, memory bool, args ...string) []System {
	var out []System
	for _, e := range engines {
		s := System{Name: "Weir" + what, Ours: true, Args: args, Memory: memory}
		if e != "" {
			s.Name += ", " + e + " engine"
			s.Args = append([]string{"--grpc-engine", e}, args...)
		}
		out = append(out, s)
	}
	return out
}

// engines finds the gRPC engines of a Weir by its help text.
func engines(help string) []string {
	if strings.Contains(help, "--grpc-engine") {
		return []string{"stock", "fast"}
	}
	return []string{""}
}
