package main

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/weirlimit/weir/internal/redistest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"weir": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, params("testdata/script", nil))
}

func TestRedisScripts(t *testing.T) {
	plain := redistest.Start(t, redistest.WithACL("weir on >hush ~* +@all", "default on >hush ~* +@all"))
	secure := redistest.Start(t, redistest.WithTLS())
	cluster := redistest.StartCluster(t, 2, 0)
	testscript.Run(t, params("testdata/redis", map[string]string{
		"REDIS_ADDR":     plain.Addr(),
		"REDIS_CLUSTER":  strings.Join(cluster.Addrs(), ","),
		"REDIS_TLS_ADDR": secure.Addr(),
		"TLS_CA":         secure.Certs().CAFile,
		"TLS_CERT":       secure.Certs().ClientCertFile,
		"TLS_KEY":        secure.Certs().ClientKeyFile,
	}))
}

func params(dir string, env map[string]string) testscript.Params {
	return testscript.Params{
		Dir: dir, Cmds: commands, RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			// A program under the race detector lingers for 1 s at its end, in
			// case other threads have yet to report.
			e.Setenv("GORACE", "atexit_sleep_ms=10")
			for name, value := range env {
				e.Setenv(name, value)
			}
			return nil
		},
	}
}

// commands adds to testscript's own:
//
//	usage ARG...         run weir, which must exit with 2, print an error and no result
//	exits CODE ARG...    run weir, which must exit with that code
var commands = map[string]func(*testscript.TestScript, bool, []string){
	"usage": func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("usage cannot be negated")
		}
		err := ts.Exec("weir", args...)
		exit, ok := err.(*exec.ExitError)
		if !ok || exit.ExitCode() != exitUsage {
			ts.Fatalf("weir ended with %v, want exit code %d", err, exitUsage)
		}
		if out := ts.ReadFile("stdout"); out != "" {
			ts.Fatalf("weir printed a result: %q", out)
		}
	},
	"exits": func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 {
			ts.Fatalf("want: exits CODE ARG...")
		}
		got := "0"
		if err := ts.Exec("weir", args[1:]...); err != nil {
			exit, ok := err.(*exec.ExitError)
			if !ok {
				ts.Fatalf("weir: %v", err)
			}
			got = strconv.Itoa(exit.ExitCode())
		}
		if got != args[0] {
			ts.Fatalf("weir ended with exit code %s, want %s", got, args[0])
		}
	},
}
