package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/policyfile"
	"github.com/weirlimit/weir/internal/rls"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
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

// TestCheckScripts asks a real engine over real gRPC.
func TestCheckScripts(t *testing.T) {
	var files []*policy.File
	for _, name := range []string{"native.yaml", "envoy.yaml"} {
		f, problems := policyfile.Parse(name, []byte(checkPolicies[name]), false)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		files = append(files, f)
	}
	set, problems := policy.Compile(files, policy.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	store := memstore.New()
	e, err := engine.New(engine.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	e.Swap(set)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	addr := startServer(t, envoyAPI(e, rls.Options{}), nativeAPI(e))
	testscript.Run(t, params("testdata/check", map[string]string{"ADDR": addr}))
}
