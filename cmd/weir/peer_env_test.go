package main

import (
	"strings"
	"testing"
)

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
