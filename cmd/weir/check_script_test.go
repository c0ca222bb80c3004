package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// checkPolicies are what the scripts of testdata/check ask about.
var checkPolicies = map[string]string{
	"native.yaml": `
policies:
  - {id: per-tenant, by: tenant, match: {tenant: "*"}, limits: 2/h, on_failure: open}
  - {id: uploads, by: tenant, match: {tenant: "*", upload: "*"}, concurrency: {max: 1, timeout: 1m}, on_failure: open}
`,
	"envoy.yaml": `
domain: api
descriptors:
  - {key: tenant, rate_limit: {unit: hour, requests_per_unit: 2}}
  - {key: free, descriptors: [{key: really, rate_limit: {unlimited: true}}]}
`,
}

// TestCheckScripts asks real servers.
func TestCheckScripts(t *testing.T) { onEachEngine(t, testCheckScripts) }

func testCheckScripts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range checkPolicies {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addr := startServe(t, "--config", dir).addr(doorGRPC)
	testscript.Run(t, params("testdata/check", map[string]string{"ADDR": addr}))
}
