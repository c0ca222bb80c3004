package main

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirlimit/weir/internal/policyfile"
)

// peerSettings is what envoyproxy/ratelimit's variables say and no flag does.
type peerSettings struct {
	headers                      bool
	headerLimit, headerRemaining string
	headerReset                  string
	metadata                     bool
	mergeDomains                 bool
	dotFiles                     bool
	prefix                       string
	used, ignored                []string
	globalShadow, globalQuota    bool
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

// peerFlags are the variables of envoyproxy/ratelimit that are a flag here.
var peerFlags = []struct{ variable, flag string }{
	{"REDIS_URL", "redis"},
	{"REDIS_TLS_CACERT", "redis-tls-ca"},
	{"REDIS_TLS_CLIENT_CERT", "redis-tls-cert"},
	{"REDIS_TLS_CLIENT_KEY", "redis-tls-key"},
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
	used   []string
}

func (e *peerEnv) get(name string) string {
	v, _ := e.lookup(name)
	if v != "" {
		e.used = append(e.used, name)
	}
	return v
}

// on reads a variable that is on or off, by the words that envoyproxy/ratelimit
// knows. Any other is an error there, too: taken for off, it would leave a
// listener without the TLS that was asked for. One that is not set changes nothing.
func (e *peerEnv) on(name string, into *bool) error {
	v := e.get(name)
	if v == "" {
		return nil
	}
	on, err := strconv.ParseBool(v)
	if err != nil {
		return usage("use true, t or 1, or false, f or 0", "environment variable %s: %q is neither on nor off", name, v)
	}
	*into = on
	return nil
}

// set sets a flag that neither the command line nor a WEIR_ variable has set.
func (e *peerEnv) set(flag, value, variable string) error {
	f := e.cmd.Flags().Lookup(flag)
	if value == "" || f.Changed {
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
	if root := e.get("RUNTIME_ROOT"); root != "" {
		dir := policyfile.RuntimeDir(root, e.get("RUNTIME_SUBDIRECTORY"), e.get("RUNTIME_APPDIRECTORY"))
		if err := e.set("config", dir, "RUNTIME_ROOT"); err != nil {
			return err
		}
	}
	for _, p := range peerFlags {
		value := e.get(p.variable)
		if p.flag == "log-level" || p.flag == "log-format" {
			value = strings.Replace(strings.ToLower(value), "warning", "warn", 1)
		}
		if err := e.set(p.flag, value, p.variable); err != nil {
			return err
		}
	}
	if err := f.peerRedis(e); err != nil {
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
	f.peer.used = e.used
	slices.Sort(f.peer.ignored)
	slices.Sort(f.peer.used)
	return nil
}

// peerRedis reads how Redis is arranged. The password is not a flag: see
// peerPassword.
func (f *serveFlags) peerRedis(e *peerEnv) error {
	e.get("REDIS_AUTH") // it is used: say so
	e.get("REDIS_SENTINEL_AUTH")
	secure := false
	if err := e.on("REDIS_TLS", &secure); err != nil {
		return err
	}
	if secure && !strings.Contains(f.redis.addrs, "://") {
		parts := strings.Split(f.redis.addrs, ",")
		for i := range parts {
			if strings.Contains(parts[i], ":") { // not the name of a primary
				parts[i] = "rediss://" + strings.TrimSpace(parts[i])
			}
		}
		f.redis.addrs = strings.Join(parts, ",")
	}
	kind := strings.ToLower(e.get("REDIS_TYPE"))
	if kind == "" || e.cmd.Flags().Changed("redis-mode") {
		return nil
	}
	if kind == "sentinel" {
		// There the first of the addresses is the primary's name.
		name, rest, ok := strings.Cut(f.redis.addrs, ",")
		if !ok {
			return usage("write NAME,HOST:PORT,HOST:PORT", "REDIS_URL names no sentinel")
		}
		f.redis.addrs = rest
		if err := e.set("redis-master", name, "REDIS_URL"); err != nil {
			return err
		}
	}
	return e.set("redis-mode", kind, "REDIS_TYPE")
}

// flags reads what is only on or off, or a name.
func (p *peerSettings) flags(e *peerEnv) error {
	dotFilesIgnored := true
	for _, s := range []struct {
		variable string
		on       *bool
	}{
		{"LIMIT_RESPONSE_HEADERS_ENABLED", &p.headers},
		{"RESPONSE_DYNAMIC_METADATA", &p.metadata},
		{"MERGE_DOMAIN_CONFIG", &p.mergeDomains},
		{"RUNTIME_IGNOREDOTFILES", &dotFilesIgnored},
		{"GRPC_SERVER_USE_TLS", &p.grpcTLS},
		{"SHADOW_MODE", &p.globalShadow},
		{"QUOTA_MODE", &p.globalQuota},
	} {
		if err := e.on(s.variable, s.on); err != nil {
			return err
		}
	}
	p.dotFiles = !dotFilesIgnored
	p.headerLimit = e.get("LIMIT_LIMIT_HEADER")
	p.headerRemaining = e.get("LIMIT_REMAINING_HEADER")
	p.headerReset = e.get("LIMIT_RESET_HEADER")
	p.prefix = e.get("CACHE_KEY_PREFIX")
	p.grpcCert = e.get("GRPC_SERVER_TLS_CERT")
	p.grpcKey = e.get("GRPC_SERVER_TLS_KEY")
	p.grpcClientCA = e.get("GRPC_CLIENT_TLS_CACERT")
	p.grpcClientSAN = e.get("GRPC_CLIENT_TLS_SAN")
	return nil
}
