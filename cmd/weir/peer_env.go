package main

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// peerSettings is what envoyproxy/ratelimit's variables say and no flag does.
type peerSettings struct {
	headers                      bool
	headerLimit, headerRemaining string
	headerReset                  string
	metadata                     bool
	used, ignored                []string
	outweighed                   map[string]string // of used, by what
	grpcTLS                      bool
	grpcCert, grpcKey            string // files
	grpcClientCA, grpcClientSAN  string
}

// peerIgnored are variables of envoyproxy/ratelimit that have no meaning here,
// with the reason, for the log and docs/migrate-from-envoy-ratelimit.md.
var peerIgnored = map[string]string{
	"BACKEND_TYPE":                            "counters are in Redis or in memory",
	"CONFIG_GRPC_XDS_NODE_ID":                 "policies come from files",
	"CONFIG_GRPC_XDS_SERVER_URL":              "policies come from files",
	"CONFIG_TYPE":                             "policies come from files",
	"DEBUG_HOST":                              "give the whole address with --admin",
	"DISABLE_STATS":                           "metrics cost next to nothing",
	"EXPIRATION_JITTER_MAX_SECONDS":           "keys expire spread as they were written",
	"FORCE_START_WITHOUT_INITIAL_CONFIG":      "it starts without policies, and is not ready until there are some",
	"GRPC_HOST":                               "give the whole address with --grpc",
	"GRPC_MAX_CONNECTION_AGE":                 "connections end when they idle or the server stops",
	"GRPC_MAX_CONNECTION_AGE_GRACE":           "connections end when they idle or the server stops",
	"HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED": "it is always so",
	"LOCAL_CACHE_SIZE_IN_BYTES":               "--deny-cache counts counters, not bytes; there is one without being asked for",
	"MEMCACHE_HOST_PORT":                      "counters are in Redis or in memory",
	"MEMCACHE_SRV":                            "counters are in Redis or in memory",
	"NEAR_LIMIT_RATIO":                        "there is no near-limit statistic",
	"REDIS_HEALTH_CHECK_ACTIVE_CONNECTION":    "an instance whose store is away answers by the fail modes and stays ready",
	"REDIS_PERSECOND":                         "one Redis holds all counters",
	"REDIS_PERSECOND_AUTH":                    "one Redis holds all counters",
	"REDIS_PERSECOND_TLS":                     "one Redis holds all counters",
	"REDIS_PERSECOND_TYPE":                    "one Redis holds all counters",
	"REDIS_PERSECOND_URL":                     "one Redis holds all counters",
	"REDIS_PIPELINE_LIMIT":                    "calls are batched without a timer",
	"REDIS_PIPELINE_WINDOW":                   "calls are batched without a timer",
	"REDIS_POOL_SIZE":                         "calls share few connections",
	"REDIS_SOCKET_TYPE":                       "only tcp is spoken",
	"REDIS_TIMEOUT":                           "give --deadline",
	"REDIS_TLS_SKIP_HOSTNAME_VERIFICATION":    "certificates are always verified; give their authority",
	"RUNTIME_WATCH_ROOT":                      "what is read is watched",
	"STATSD_HOST":                             "metrics are Prometheus's",
	"STATSD_PORT":                             "metrics are Prometheus's",
	"STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT": "denied requests count nothing, or with --compat envoy everything",
	"TRACING_ENABLED":                         "there is no tracing yet",
	"USE_PROMETHEUS":                          "metrics are always on the admin listener",
	"USE_STATSD":                              "metrics are Prometheus's",
}

// peerLogs are the variables of envoyproxy/ratelimit that are a flag of the log here.
var peerLogs = []struct{ variable, flag string }{
	{"LOG_LEVEL", "log-level"},
	{"LOG_FORMAT", "log-format"},
}

// peerPorts are those that are the port of an address here.
var peerPorts = []struct{ variable, flag string }{
	{"PORT", "http"},
	{"GRPC_PORT", "grpc"},
	{"DEBUG_PORT", "admin"},
}

// peerEnv applies variables to the flags of one command.
type peerEnv struct {
	cmd    *cobra.Command
	lookup func(string) (string, bool)

	used       []string
	outweighed map[string]string
}

func (e *peerEnv) get(name string) string {
	v, _ := e.lookup(name)
	if v != "" {
		e.used = append(e.used, name)
	}
	return v
}

// peerSwitch is a variable that is on or off.
type peerSwitch struct {
	variable string
	on       *bool // stays as it is if the variable is not set
}

// switches reads variables by the words that envoyproxy/ratelimit knows. Any
// other is an error there, too: taken for off, it would leave a listener without
// the TLS that was asked for.
func (e *peerEnv) switches(list []peerSwitch) error {
	for _, s := range list {
		v := e.get(s.variable)
		if v == "" {
			continue
		}
		on, err := strconv.ParseBool(v)
		if err != nil {
			return usage("use true, t or 1, or false, f or 0", "environment variable %s: %q is neither on nor off", s.variable, v)
		}
		*s.on = on
	}
	return nil
}

// set sets a flag that neither the command line nor a WEIR_ variable has set.
func (e *peerEnv) set(flag, value, variable string) error {
	f := e.cmd.Flags().Lookup(flag)
	if value == "" {
		return nil
	}
	if f.Changed {
		if e.outweighed == nil {
			e.outweighed = map[string]string{}
		}
		e.outweighed[variable] = sourceOf(f)
		return nil
	}
	if err := e.cmd.Flags().Set(flag, value); err != nil {
		return usage("unset it, or give --"+flag, "environment variable %s: %q: %w", variable, value, err)
	}
	noteSource(f, "variable "+variable)
	return nil
}

// applyPeerEnv lets envoyproxy/ratelimit's variables set what neither a flag
// nor a WEIR_ variable has set.
func (f *serveFlags) applyPeerEnv(cmd *cobra.Command, lookup func(string) (string, bool)) error {
	e := &peerEnv{cmd: cmd, lookup: lookup}
	for _, p := range peerPorts {
		port := e.get(p.variable)
		if port == "" {
			continue
		}
		host, _, _ := net.SplitHostPort(cmd.Flags().Lookup(p.flag).Value.String())
		if err := e.set(p.flag, net.JoinHostPort(host, port), p.variable); err != nil {
			return err
		}
	}
	for _, p := range peerLogs {
		value := strings.Replace(strings.ToLower(e.get(p.variable)), "warning", "warn", 1)
		if err := e.set(p.flag, value, p.variable); err != nil {
			return err
		}
	}
	if err := e.config(); err != nil {
		return err
	}
	if err := f.loading.applyPeer(e); err != nil {
		return err
	}
	if err := f.redis.applyPeer(e); err != nil {
		return err
	}
	if err := f.peer.flags(e); err != nil {
		return err
	}
	for name := range peerIgnored {
		if v, ok := lookup(name); ok && v != "" {
			f.peer.ignored = append(f.peer.ignored, name)
		}
	}
	f.peer.used, f.peer.outweighed = e.used, e.outweighed
	slices.Sort(f.peer.ignored)
	slices.Sort(f.peer.used)
	return nil
}

// flags reads what is only on or off, or a name.
func (p *peerSettings) flags(e *peerEnv) error {
	if err := e.switches([]peerSwitch{
		{"LIMIT_RESPONSE_HEADERS_ENABLED", &p.headers},
		{"RESPONSE_DYNAMIC_METADATA", &p.metadata},
		{"GRPC_SERVER_USE_TLS", &p.grpcTLS},
	}); err != nil {
		return err
	}
	p.headerLimit = e.get("LIMIT_LIMIT_HEADER")
	p.headerRemaining = e.get("LIMIT_REMAINING_HEADER")
	p.headerReset = e.get("LIMIT_RESET_HEADER")
	p.grpcCert = e.get("GRPC_SERVER_TLS_CERT")
	p.grpcKey = e.get("GRPC_SERVER_TLS_KEY")
	p.grpcClientCA = e.get("GRPC_CLIENT_TLS_CACERT")
	p.grpcClientSAN = e.get("GRPC_CLIENT_TLS_SAN")
	return nil
}
