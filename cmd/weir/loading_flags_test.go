package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/policyfile"
)

// TestReadersAgree: lint and explain read files as serve does, whoever says how.
func TestReadersAgree(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml":    "domain: api\ndescriptors: [{key: tenant, rate_limit: {unit: hour, requests_per_unit: 1}}]\n",
		"b.yaml":    "domain: api\ndescriptors: [{key: user, rate_limit: {unit: hour, requests_per_unit: 1}}]\n",
		".dot.yaml": "domain: dot\ndescriptors: [{key: tenant, rate_limit: {unit: fortnight, requests_per_unit: 1}}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		env  map[string]string
		good bool
	}{
		{nil, false},
		{map[string]string{"MERGE_DOMAIN_CONFIG": "true"}, true},
		{map[string]string{"MERGE_DOMAIN_CONFIG": "false"}, false},
		{map[string]string{"WEIR_MERGE_DOMAINS": "true"}, true},
		{map[string]string{"WEIR_MERGE_DOMAINS": "false", "MERGE_DOMAIN_CONFIG": "true"}, false}, // our own wins
		{map[string]string{"MERGE_DOMAIN_CONFIG": "t", "RUNTIME_IGNOREDOTFILES": "f"}, false},    // a bad file more
	} {
		if good := servesAll(t, dir, c.env); good != c.good {
			t.Errorf("%v: serve: %v, want %v", c.env, good, c.good)
		}
		for _, args := range [][]string{
			{"lint", dir}, {"explain", "--config", dir, "--domain", "api", "--descriptor", "tenant=acme"},
		} {
			if code, out := runWith(t, c.env, args...); (code == exitOK) != c.good {
				t.Errorf("%v: %s: exit code %d, %s", c.env, args[0], code, out)
			}
		}
	}
}

// servesAll tells whether serve finds nothing wrong in a directory.
func servesAll(t *testing.T, dir string, env map[string]string) bool {
	t.Helper()
	f, err := peerServe(t, env)
	if err != nil {
		t.Fatal(err)
	}
	loader, err := policyfile.New(f.loading.options([]string{dir}))
	if err != nil {
		t.Fatal(err)
	}
	_, report, err := loader.Load(t.Context())
	return err == nil && report.OK()
}

// runWith runs a command line with variables, and returns all that it printed.
func runWith(t *testing.T, env map[string]string, args ...string) (code int, out string) {
	t.Helper()
	var text bytes.Buffer
	code = run(t.Context(), args, system{
		out: &text, err: &text, lookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	})
	return code, text.String()
}

// TestExplainAsEnvoysVariablesSay: where the policies are, and what SHADOW_MODE
// makes of their rules.
func TestExplainAsEnvoysVariablesSay(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "config"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "domain: api\ndescriptors: [{key: tenant, rate_limit: {unit: hour, requests_per_unit: 1}}]\n"
	if err := os.WriteFile(filepath.Join(root, "config", "a.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{"": "enforce", "t": "shadow", "f": "enforce"} {
		code, out := runWith(t, map[string]string{"RUNTIME_ROOT": root, "SHADOW_MODE": value},
			"explain", "--domain", "api", "--descriptor", "tenant=acme")
		if code != exitOK || !strings.Contains(out, "1/h, cost 1, "+want+",") {
			t.Errorf("SHADOW_MODE=%s: exit code %d, %s", value, code, out)
		}
	}
}
