package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// peerServe is what serve makes of variables, envoyproxy/ratelimit's among them.
func peerServe(t *testing.T, env map[string]string) (*serveFlags, error) {
	t.Helper()
	var f serveFlags
	cmd := &cobra.Command{Use: "serve"}
	f.register(cmd.Flags())
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	if err := applyEnv(cmd, lookup); err != nil {
		t.Fatal(err)
	}
	return &f, f.applyPeerEnv(cmd, lookup)
}

// TestPeerOnOff: a variable is on or off by the words of envoyproxy/ratelimit,
// which are those of strconv.ParseBool, and by no other.
func TestPeerOnOff(t *testing.T) {
	on := map[string]func(*serveFlags) bool{
		"REDIS_TLS":                      func(f *serveFlags) bool { return f.redis.addrs == "rediss://a:1" },
		"LIMIT_RESPONSE_HEADERS_ENABLED": func(f *serveFlags) bool { return f.peer.headers },
		"RESPONSE_DYNAMIC_METADATA":      func(f *serveFlags) bool { return f.peer.metadata },
		"MERGE_DOMAIN_CONFIG":            func(f *serveFlags) bool { return f.loading.merge },
		"RUNTIME_IGNOREDOTFILES":         func(f *serveFlags) bool { return !f.loading.dotFiles },
		"GRPC_SERVER_USE_TLS":            func(f *serveFlags) bool { return f.peer.grpcTLS },
		"SHADOW_MODE":                    func(f *serveFlags) bool { return f.loading.shadow },
		"QUOTA_MODE":                     func(f *serveFlags) bool { return f.loading.quota },
	}
	for variable, isOn := range on {
		for value, want := range map[string]bool{
			"1": true, "t": true, "T": true, "true": true, "TRUE": true, "True": true,
			"0": false, "f": false, "F": false, "false": false, "FALSE": false, "False": false,
		} {
			f, err := peerServe(t, map[string]string{"REDIS_URL": "a:1", variable: value})
			if err != nil || isOn(f) != want {
				t.Errorf("%s=%s: on is %v, %v; want %v", variable, value, isOn(f), err, want)
			}
		}
		for _, value := range []string{"yes", "on", "off", "maybe", "tRuE", " true", "2"} {
			_, err := peerServe(t, map[string]string{"REDIS_URL": "a:1", variable: value})
			if _, ok := errors.AsType[*usageError](err); !ok || !strings.Contains(err.Error(), "environment variable "+variable+": ") {
				t.Errorf("%s=%s: %v, want an error of usage that names it", variable, value, err)
			}
		}
	}
}

// TestPeerSentinels: the first item of REDIS_URL is a name, that of --redis is not.
func TestPeerSentinels(t *testing.T) {
	for _, c := range []struct {
		env           map[string]string
		addrs, master string
	}{
		{map[string]string{"REDIS_URL": "primary,a:1,b:1"}, "a:1,b:1", "primary"},
		{map[string]string{"WEIR_REDIS": "a:1,b:1", "WEIR_REDIS_MASTER": "ours"}, "a:1,b:1", "ours"},
		{map[string]string{"WEIR_REDIS": "a:1,b:1", "WEIR_REDIS_MASTER": "ours", "REDIS_URL": "primary,c:1"}, "a:1,b:1", "ours"},
	} {
		c.env["REDIS_TYPE"] = "SENTINEL"
		f, err := peerServe(t, c.env)
		if err != nil || f.redis.addrs != c.addrs || f.redis.master != c.master || f.redis.mode != "sentinel" {
			t.Errorf("%v: %+v, %v", c.env, f.redis, err)
		}
	}
}

func TestPeerPassword(t *testing.T) {
	for _, c := range []struct {
		name           string
		env            map[string]string
		user, password string
	}{
		{"none", nil, "", ""},
		{"a password", map[string]string{"REDIS_AUTH": "pw"}, "", "pw"},
		{"both", map[string]string{"REDIS_AUTH": "weir:p:w"}, "weir", "p:w"},
		{"our own wins", map[string]string{"REDIS_AUTH": "weir:pw", envRedisPassword: "own"}, "", "own"},
		{"our own user wins", map[string]string{"REDIS_AUTH": "pw", envRedisUser: "own"}, "own", ""},
		{"our own file wins", map[string]string{"REDIS_AUTH": "pw", envRedisPasswordFile: "file"}, "", ""},
	} {
		lookup := peerPassword(func(name string) (string, bool) {
			v, ok := c.env[name]
			return v, ok
		})
		user, _ := lookup(envRedisUser)
		password, _ := lookup(envRedisPassword)
		if user != c.user || password != c.password {
			t.Errorf("%s: %q %q, want %q %q", c.name, user, password, c.user, c.password)
		}
		// The sentinels' are their own, and follow the same rules.
		lookup = peerPassword(func(name string) (string, bool) {
			v, ok := c.env[strings.Replace(strings.Replace(name, "_SENTINEL", "", 1), "SENTINEL_", "", 1)]
			return v, ok && strings.Contains(name, "SENTINEL")
		})
		user, _ = lookup(envSentinelUser)
		password, _ = lookup(envSentinelPassword)
		if user != c.user || password != c.password {
			t.Errorf("%s, sentinels: %q %q, want %q %q", c.name, user, password, c.user, c.password)
		}
	}
}
