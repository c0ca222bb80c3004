package main

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/weirlimit/weir/redisstore"
)

func TestParseAddr(t *testing.T) {
	for text, want := range map[string]struct {
		addr string
		tls  bool
	}{
		"127.0.0.1:6379":         {"127.0.0.1:6379", false},
		"redis.example":          {"redis.example:6379", false},
		"[::1]:7000":             {"[::1]:7000", false},
		"[::1]":                  {"[::1]:6379", false},
		"::1":                    {"[::1]:6379", false},
		"redis://a:1":            {"a:1", false},
		"redis://a/":             {"a:6379", false},
		"rediss://[::1]:6380/0":  {"[::1]:6380", true},
		"rediss://redis.example": {"redis.example:6379", true},
	} {
		addr, tls, err := parseAddr(text)
		if err != nil || addr != want.addr || tls != want.tls {
			t.Errorf("parseAddr(%q) = %q, %v, %v; want %+v", text, addr, tls, err, want)
		}
	}
	for _, text := range []string{
		"", ":", ":6379", "a:0", "a:65536", "a b", "a/b",
		"redis://", "unix:///tmp/x", "redis://a?db=1", "redis://a:x", "redis://%zz",
	} {
		if addr, _, err := parseAddr(text); err == nil {
			t.Errorf("parseAddr(%q) = %q, want an error", text, addr)
		}
	}
}

func TestModes(t *testing.T) {
	for _, tc := range []struct {
		flags redisFlags
		want  redisstore.Options
	}{
		{redisFlags{addrs: "a"}, redisstore.Options{Addrs: []string{"a:6379"}}},
		{redisFlags{addrs: "a, b:1"}, redisstore.Options{Addrs: []string{"a:6379", "b:1"}, Mode: redisstore.Cluster}},
		{redisFlags{addrs: "a", mode: "cluster"}, redisstore.Options{Addrs: []string{"a:6379"}, Mode: redisstore.Cluster}},
		{
			redisFlags{addrs: "a,b", master: "primary"},
			redisstore.Options{Addrs: []string{"a:6379", "b:6379"}, Mode: redisstore.Sentinel, MasterName: "primary"},
		},
	} {
		got, err := tc.flags.options(noEnv)
		if err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%+v: %+v, %v; want %+v", tc.flags, got, err, tc.want)
		}
	}
}

func TestCredentials(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(env map[string]string) (user, password string) {
		t.Helper()
		c, err := redisSecrets.credentials(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			return "none", "none"
		}
		user, password, err = c(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return user, password
	}
	write("from file\n")
	for _, tc := range []struct {
		env            map[string]string
		user, password string
	}{
		{nil, "none", "none"},
		{map[string]string{envRedisPassword: "p"}, "", "p"},
		{map[string]string{envRedisPassword: "p", envRedisUser: "u"}, "u", "p"},
		{map[string]string{envRedisPasswordFile: file, envRedisUser: "u"}, "u", "from file"},
	} {
		if user, password := ask(tc.env); user != tc.user || password != tc.password {
			t.Errorf("%v: user %q, password %q", tc.env, user, password)
		}
	}
}
