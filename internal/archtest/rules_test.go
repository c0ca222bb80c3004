package archtest

import (
	"slices"
	"strings"
	"testing"
)

func importing(path, imported string) Package {
	return Package{Path: path, Imports: []string{"context", imported}, DocLines: minDocLines}
}

func using(path, name string) Package {
	return Package{Path: path, Uses: []string{"time.Duration", name}, DocLines: minDocLines}
}

// breaches break each rule once or more.
var breaches = []struct {
	rule string
	pkg  Package
}{
	{"root-stdlib", importing(".", "github.com/redis/rueidis")},
	{"root-stdlib", importing(".", Module+"/algo")},

	{"pure", importing(".", "net/http")},
	{"pure", importing("algo", "os")},
	{"pure", importing("algo", "net")},
	{"pure", importing("algo", "math/rand/v2")},
	{"pure", importing("algo/oracle", "os/exec")},
	{"pure", importing("algo", "gopkg.in/yaml.v3")},
	{"pure", importing("policy", "database/sql")},
	{"pure", importing("policy", "log/slog")},
	{"pure", importing("policy", "io/fs")},
	{"pure", importing("policy", Module+"/engine")},
	{"pure", importing("internal/key", "syscall")},
	{"pure", importing("internal/key", "hash/maphash")},
	{"pure", importing("internal/key", Module+"/memstore")},

	{"no-clock", using("algo", "time.Now")},
	{"no-clock", using("policy", "time.Since")},
	{"no-clock", using("internal/key", "time.NewTimer")},

	{"engine-ports", importing("engine", Module+"/memstore")},
	{"engine-ports", importing("engine", Module+"/redisstore")},
	{"engine-ports", importing("engine/pipeline", Module+"/internal/rls")},

	{"adapters-apart", importing("redisstore", Module+"/memstore")},
	{"adapters-apart", importing("memstore", Module+"/redisstore/script")},
	{"adapters-apart", importing("internal/httpapi", Module+"/internal/rls")},
	{"adapters-apart", importing("client", Module+"/grpclimit")},

	{"adapters-apart", importing("internal/forwardauth", Module+"/internal/httpapi")},

	{"identity-plain", importing("identity", Module+"/identity/token")},
	{"identity-plain", importing("identity", "github.com/golang-jwt/jwt/v5")},
	{"identity-plain", importing("identity/token", Module+"/internal/reload")},

	{"dependency-home", importing("engine", "github.com/nobody/knows")},
	{"dependency-home", importing("cmd/weir", "github.com/nobody/knows")},

	{"dependency-strays", importing("memstore", "github.com/redis/rueidis")},
	{"dependency-strays", importing("engine", "google.golang.org/grpc/codes")},
	{"dependency-strays", importing("memstore", "pgregory.net/rapid")},
	{"dependency-strays", importing("identity", "github.com/golang-jwt/jwt/v5")},

	{"wire-types", importing("engine", Module+"/api")},
	{"wire-types", importing("policy", Module+"/api/v1")},

	{"settings", using("redisstore", "os.Getenv")},
	{"settings", using("redisstore", "os.LookupEnv")},
	{"settings", using("engine", "os.Environ")},
	{"settings", using("internal/control", "os.Args")},
	{"settings", using("memstore", "syscall.Getenv")},
	{"settings", importing("storetest", "flag")},

	{"testing", importing("memstore", "testing")},
	{"testing", importing("algo", "testing/quick")},
	{"testing", importing("cmd/weir", Module+"/storetest")},
	{"testing", importing("redisstore", Module+"/internal/redistest")},

	{"unsafe", importing("algo", "unsafe")},
	{"unsafe", importing("redisstore", "unsafe")},

	{"no-cgo", importing("memstore", "C")},

	{"no-dot-imports", using("engine", "os.*")},

	{"doc", Package{Path: "engine", DocLines: -1}},
	{"doc", Package{Path: "cmd/weir", DocLines: minDocLines - 1}},
}

// TestRulesCatch shows that no rule passes because it looks at nothing.
func TestRulesCatch(t *testing.T) {
	caught := map[string]bool{}
	for _, b := range breaches {
		if got := broken(b.pkg); !slices.Contains(got, b.rule) {
			t.Errorf("%+v breaks %v, want %s", b.pkg, got, b.rule)
		}
		caught[b.rule] = true
	}
	for _, r := range Rules {
		if !caught[r.Name] {
			t.Errorf("rule %s has no case that breaks it", r.Name)
		}
	}
}

// TestRulesAllow shows that the rules leave room for the layout they guard.
func TestRulesAllow(t *testing.T) {
	for _, p := range []Package{
		importing(".", "time"),
		using(".", "time.Now"),
		importing("algo", Module),
		importing("policy", Module+"/algo"),
		importing("policy", "net/netip"),
		using("algo", "time.Duration"),
		importing("engine", Module+"/policy"),
		importing("memstore", Module+"/algo"),
		importing("memstore", "unsafe"),
		using("memstore", "time.Now"),
		importing("redisstore", Module+"/redisstore/script"),
		importing("redisstore", Module+"/internal/key"),
		importing("storetest", "testing"),
		importing("storetest", Module+"/algo"),
		importing("internal/clustertest", Module+"/internal/redistest"),
		importing("internal/redistest", "testing"),
		using("internal/redistest", "os.Getenv"),
		importing("internal/rls", Module+"/api/v1"),
		importing("cmd/weir", "flag"),
		importing("cmd/weir", Module+"/redisstore"),
		using("cmd/weir", "os.LookupEnv"),
	} {
		if got := broken(p); len(got) > 0 {
			t.Errorf("%+v breaks %v, want none", p, got)
		}
	}
}

// TestHomes tries every dependency at home and abroad.
func TestHomes(t *testing.T) {
	for _, h := range homes {
		if got := broken(importing("internal/stranger", h.imports+"/sub")); !slices.Contains(got, "dependency-strays") {
			t.Errorf("%s in a package it has no home in breaks %v", h.imports, got)
		}
		for _, path := range h.packages {
			if got := broken(importing(path, h.imports)); len(got) > 0 {
				t.Errorf("%s at home in %s breaks %v", h.imports, path, got)
			}
		}
	}
}

func TestViolationSaysWhy(t *testing.T) {
	for _, v := range Check(Rules, []Package{importing("memstore", "github.com/redis/rueidis")}) {
		for _, want := range []string{"memstore imports", "rueidis", v.Rule.Name, v.Rule.Why, homes[0].why} {
			if !strings.Contains(v.String(), want) {
				t.Errorf("%q does not say %q", v, want)
			}
		}
	}
	for _, r := range Rules {
		if r.Name == "" || len(r.Why) < 40 {
			t.Errorf("rule %q gives no reason worth the name: %q", r.Name, r.Why)
		}
	}
}

func TestSetMembers(t *testing.T) {
	s := set{".", "a/b"}
	for path, want := range map[string]string{
		".": ".", "a": "", "a/b": "a/b", "a/b/c": "a/b", "a/bc": "", "": "",
	} {
		if got := s.find(path); got != want {
			t.Errorf("find(%q) = %q, want %q", path, got, want)
		}
	}
}

// broken names the rules a package breaks.
func broken(p Package) []string {
	var names []string
	for _, v := range Check(Rules, []Package{p}) {
		names = append(names, v.Rule.Name)
	}
	return names
}
