package main

import (
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestRedisIdle: what the command line says about a Redis that is not named is
// refused, what variables say is noted, and nothing is where there is one.
func TestRedisIdle(t *testing.T) {
	for _, c := range []struct {
		args    []string
		env     map[string]string
		refused bool
		idle    []idleSetting
	}{
		{nil, nil, false, nil},
		{[]string{"--redis-mode", "cluster"}, nil, true, nil},
		{[]string{"--redis-master", ""}, nil, false, nil},
		{[]string{"--redis-mode", "cluster", "--redis", "a"}, nil, false, nil},
		{nil, map[string]string{"WEIR_REDIS_PREFIX": "weir:"}, false, []idleSetting{{"--redis-prefix", "variable WEIR_REDIS_PREFIX"}}},
		{nil, map[string]string{"REDIS_TYPE": "SINGLE"}, false, []idleSetting{{"--redis-mode", "variable REDIS_TYPE"}}},
		{nil, map[string]string{"REDIS_TYPE": "SINGLE", "REDIS_URL": "a:1"}, false, nil},
	} {
		var f serveFlags
		cmd := &cobra.Command{Use: "serve"}
		f.register(cmd.Flags())
		lookup := func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }
		if err := errors.Join(cmd.ParseFlags(c.args), applyEnv(cmd, lookup), f.applyPeerEnv(cmd, lookup)); err != nil {
			t.Fatal(err)
		}
		err := f.check(cmd.Flags())
		if _, refused := errors.AsType[*usageError](err); refused != c.refused || !reflect.DeepEqual(f.redis.idle, c.idle) {
			t.Errorf("%q, %v: %v, idle %v; want %v", c.args, c.env, err, f.redis.idle, c.idle)
		}
	}
}

func TestRedisIdleIsLogged(t *testing.T) {
	var log strings.Builder
	f := redisFlags{idle: []idleSetting{{"--redis-mode", "variable WEIR_REDIS_MODE"}}}
	f.warnIdle(slog.New(slog.NewTextHandler(&log, nil)))
	want := `level=WARN msg="setting has no effect without --redis: counters are in memory" name=--redis-mode from="variable WEIR_REDIS_MODE"`
	if !strings.Contains(log.String(), want) {
		t.Errorf("%s, want %s", log.String(), want)
	}
}
