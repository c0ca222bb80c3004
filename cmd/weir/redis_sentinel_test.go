package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/certtest"
	"github.com/weirlimit/weir/internal/redistest"
)

// TestSentinelPassword asks a sentinel that wants a password of its own.
func TestSentinelPassword(t *testing.T) {
	st := redistest.StartSentinel(t, 1, 0)
	st.Sentinels()[0].MustDo("ACL", "SETUSER", "default", ">hush")
	file := filepath.Join(t.TempDir(), "password")
	certtest.Write(t, file, []byte("hush\n"))
	for _, tc := range []struct {
		name string
		env  map[string]string
		code int
	}{
		{"none", nil, exitError},
		{"wrong", map[string]string{envSentinelPassword: "wrongword"}, exitError},
		{"that of Redis", map[string]string{envRedisPassword: "hush"}, exitError},
		{"right", map[string]string{envSentinelPassword: "hush"}, exitOK},
		{"with the user", map[string]string{envSentinelPassword: "hush", envSentinelUser: "default"}, exitOK},
		{"from a file", map[string]string{envSentinelPasswordFile: file}, exitOK},
		{"twice", map[string]string{envSentinelPassword: "hush", envSentinelPasswordFile: file}, exitUsage},
		{"as the other program has it", map[string]string{"REDIS_SENTINEL_AUTH": "default:hush"}, exitOK},
	} {
		var out, errs bytes.Buffer
		lookup := peerPassword(func(name string) (string, bool) { v, ok := tc.env[name]; return v, ok })
		args := []string{"try", "--redis", st.Addrs()[0], "--redis-master", st.MasterName(), "--count", "1", "--timeout", "10s"}
		code := run(t.Context(), args, system{out: &out, err: &errs, lookupEnv: lookup})
		if code != tc.code {
			t.Errorf("%s: exit code %d, want %d\n%s", tc.name, code, tc.code, errs.String())
		}
		if strings.Contains(errs.String(), "hush") || strings.Contains(errs.String(), "wrongword") {
			t.Errorf("%s: the error tells a password: %s", tc.name, errs.String())
		}
	}
}
