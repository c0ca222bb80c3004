package main

import "strings"

// peerRedis are the variables of envoyproxy/ratelimit that are a flag of Redis here.
var peerRedis = []struct{ variable, flag string }{
	{"REDIS_URL", "redis"},
	{"CACHE_KEY_PREFIX", "redis-prefix"},
	{"REDIS_TLS_CACERT", "redis-tls-ca"},
	{"REDIS_TLS_CLIENT_CERT", "redis-tls-cert"},
	{"REDIS_TLS_CLIENT_KEY", "redis-tls-key"},
}

// applyPeer reads where envoyproxy/ratelimit's variables have the counters. The
// password is not a flag: see peerPassword.
func (f *redisFlags) applyPeer(e *peerEnv) error {
	for _, p := range peerRedis {
		if err := e.set(p.flag, e.get(p.variable), p.variable); err != nil {
			return err
		}
	}
	e.get("REDIS_AUTH") // it is used: say so
	e.get("REDIS_SENTINEL_AUTH")
	secure := false
	if err := e.switches([]peerSwitch{{"REDIS_TLS", &secure}}); err != nil {
		return err
	}
	if secure && !strings.Contains(f.addrs, "://") {
		parts := strings.Split(f.addrs, ",")
		for i := range parts {
			if strings.Contains(parts[i], ":") { // not the name of a primary
				parts[i] = "rediss://" + strings.TrimSpace(parts[i])
			}
		}
		f.addrs = strings.Join(parts, ",")
	}
	kind := strings.ToLower(e.get("REDIS_TYPE"))
	source := sourceOf(e.cmd.Flags().Lookup("redis"))
	ours := f.addrs != "" && source != "variable REDIS_URL"
	if kind == "sentinel" && !ours && !e.cmd.Flags().Changed("redis-mode") {
		// There the first of the addresses is the primary's name.
		name, rest, ok := strings.Cut(f.addrs, ",")
		if !ok {
			return usage("write NAME,HOST:PORT,HOST:PORT", "REDIS_URL names no sentinel")
		}
		f.addrs = rest
		if err := e.set("redis-master", name, "REDIS_URL"); err != nil {
			return err
		}
	}
	return e.set("redis-mode", kind, "REDIS_TYPE")
}
