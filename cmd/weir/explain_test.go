package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/policyfile"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/policy"
	"github.com/weirlimit/weir/redisstore"
)

// TestExplainFindsWhatServeCharged: the counters that explain reads are those
// that an engine charges, also under a prefix.
func TestExplainFindsWhatServeCharged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policies.yaml")
	text := []byte("policies: [{id: per-tenant, by: tenant, limits: [5/h, 100/d], on_failure: open}]")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	redis := redistest.Start(t)
	for _, prefix := range []string{"", "elsewhere:"} {
		charge(t, redisstore.Options{Addrs: []string{redis.Addr()}, Prefix: prefix}, path, text, 3)
		env := map[string]string{"CACHE_KEY_PREFIX": prefix}
		var out, errs bytes.Buffer
		code := run(t.Context(),
			[]string{"explain", "--config", path, "--dimension", "tenant=acme", "--redis", redis.Addr(), "--timeout", "10s"},
			system{out: &out, err: &errs, lookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
		if code != exitOK || !strings.Contains(out.String(), "  per-tenant  5/h    3     2          ") ||
			!strings.Contains(out.String(), "  per-tenant  100/d  3     97         ") {
			t.Errorf("prefix %q: exit code %d, %s\n%s", prefix, code, errs.String(), out.String())
		}
	}
}

// charge has an engine charge tenant=acme that many units.
func charge(t *testing.T, o redisstore.Options, name string, text []byte, units int64) {
	t.Helper()
	store, err := redisstore.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	f, _ := policyfile.Parse(name, text, false)
	set, problems := policy.Compile([]*policy.File{f}, policy.Options{})
	if set == nil {
		t.Fatal(problems)
	}
	e, err := engine.New(engine.Options{Store: store, Deadline: weir.Minute.Duration()})
	if err != nil {
		t.Fatal(err)
	}
	e.Swap(set)
	r := weir.Request{
		Domain: policy.DefaultDomain, Cost: units,
		Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "acme"}}}},
	}
	var d weir.Decision
	if err := e.Check(t.Context(), &r, &d); err != nil || !d.Allowed() || d.Reason != weir.ReasonNone {
		t.Fatalf("%+v, %v", d, err)
	}
}
