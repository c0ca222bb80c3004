package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// The sets the rules speak of: paths relative to the module. A path stands for
// the packages below it too. Those that do not exist yet have their place kept.
var (
	// Pure packages decide; they neither read, write nor wait.
	pure = set{
		".",
		"algo",
		"policy",
		"internal/breaker",
		"internal/key",
		"internal/line",
		"internal/prefetch",
		"internal/pseudonym",
		"internal/respond",
		"internal/yamldoc",
		"internal/hot",
		"internal/lease",
		"internal/degrade/share",
		"internal/doctor",
	}

	// pureLibraries compute and nothing else: a pure package may use them.
	pureLibraries = set{"go.yaml.in/yaml/v3"}

	// Adapters join a port to one technology.
	adapters = set{
		"memstore", "redisstore",
		"httplimit", "grpclimit", "client",
		"internal/rls", "internal/native", "internal/httpapi", "internal/forwardauth",
		"internal/admin", "internal/dash", "internal/policystore",
	}

	// Edges translate between the wire and the vocabulary.
	edges = set{
		"api", "grpclimit", "client",
		"internal/rls", "internal/native", "internal/httpapi", "internal/forwardauth", "internal/admin",
		"internal/grpcerr", "internal/wire", "internal/fastlane",
		"internal/grpcerr", "internal/wire", "internal/unary", "internal/unarytest",
		"cmd",
	}
)

// Rules are all the rules there are.
var Rules = []Rule{
	{
		Name: "root-stdlib",
		Why: "the vocabulary is imported by every adapter and every user; a dependency here " +
			"would be everybody's, and an import of our own a cycle in waiting",
		Broken: func(p Package) []string {
			if p.Path != "." {
				return nil
			}
			return p.importing(func(imp string) bool { return !isStdlib(imp) })
		},
	},
	{
		Name: "pure",
		Why: "what decides takes its input as arguments: only then can tables, fuzzing and " +
			"simulation try it, and a Redis script be checked against it",
		Broken: func(p Package) []string {
			if !pure.has(p.Path) {
				return nil
			}
			return p.importing(func(imp string) bool {
				if rel, ok := ours(imp); ok {
					return !pure.has(rel)
				}
				if pureLibraries.has(imp) {
					return false
				}
				return !isStdlib(imp) || doesIO.has(imp) && !slices.Contains(harmless, imp)
			})
		},
	},
	{
		Name: "no-clock",
		Why: "a decision has one clock, the store's: code that decides is told the time, " +
			"or its tests need sleeps and its Lua twin disagrees",
		Broken: func(p Package) []string {
			if !pure.has(p.Path) || p.Path == "." { // the root wraps ports, which may wait
				return nil
			}
			return p.using(clocks...)
		},
	},
	{
		Name: "engine-ports",
		Why: "the engine runs over any store and behind any protocol; cmd and the user's " +
			"program choose which",
		Broken: func(p Package) []string {
			if !(set{"engine"}).has(p.Path) {
				return nil
			}
			return p.importing(func(imp string) bool {
				rel, ok := ours(imp)
				return ok && adapters.has(rel)
			})
		},
	},
	{
		Name: "adapters-apart",
		Why: "an adapter that knows another cannot be used, tested or removed without it; " +
			"what two share is a port or belongs in a package below both",
		Broken: func(p Package) []string {
			mine := adapters.find(p.Path)
			if mine == "" {
				return nil
			}
			return p.importing(func(imp string) bool {
				rel, ok := ours(imp)
				return ok && adapters.has(rel) && adapters.find(rel) != mine
			})
		},
	},
	{
		Name: "identity-plain",
		Why: "middleware in other people's programs asks whose request it is; who has no tokens " +
			"compiles no verifier, and the verifier knows no files",
		Broken: func(p Package) []string {
			switch p.Path {
			case "identity":
				return p.importing(func(imp string) bool { return !isStdlib(imp) && imp != Module })
			case "identity/token":
				return p.importing(func(imp string) bool {
					rel, ok := ours(imp)
					return ok && rel != "." && rel != "identity"
				})
			}
			return nil
		},
	},
	{
		Name: "dependency-home",
		Why: "a dependency is code every user of that package compiles and trusts; give it a " +
			"home and a reason in homes.go, or do without it",
		Broken: func(p Package) []string {
			return p.importing(func(imp string) bool {
				_, mine := ours(imp)
				return !mine && !isStdlib(imp) && !slices.ContainsFunc(homes, func(h home) bool {
					return below(imp, h.imports)
				})
			})
		},
	},
	{
		Name: "dependency-strays",
		Why:  "each dependency is known to as few packages as can be",
		Broken: func(p Package) []string {
			var broken []string
			for _, h := range homes {
				if h.packages.has(p.Path) {
					continue
				}
				for _, b := range p.importing(func(imp string) bool { return below(imp, h.imports) }) {
					broken = append(broken, fmt.Sprintf("%s, at home in %s only: %s", b, h.packages, h.why))
				}
			}
			return broken
		},
	},
	{
		Name: "wire-types",
		Why: "generated messages are a wire format: code that computes with them must change " +
			"whenever the protocol does",
		Broken: func(p Package) []string {
			if edges.has(p.Path) {
				return nil
			}
			return p.importing(func(imp string) bool {
				rel, ok := ours(imp)
				return ok && (set{"api"}).has(rel)
			})
		},
	},
	{
		Name: "settings",
		Why: "only cmd reads flags and the environment: a library that reads them has inputs its " +
			"caller cannot see, and two instances in one process cannot differ",
		Broken: func(p Package) []string {
			// These look for the programs of a machine, on behalf of tests.
			if (set{"cmd", "internal/redistest", "internal/gatewaytest", "internal/doctest"}).has(p.Path) {
				return nil
			}
			return append(p.importing(func(imp string) bool { return imp == "flag" }), p.using(settings...)...)
		},
	},
	{
		Name: "testing",
		Why: "the testing package registers flags and weighs on every binary that links it; it " +
			"belongs to tests and to what only they import",
		Broken: func(p Package) []string {
			if isTestSupport(p.Path) {
				return nil
			}
			return p.importing(func(imp string) bool {
				rel, ok := ours(imp)
				return below(imp, "testing") || ok && isTestSupport(rel)
			})
		},
	},
	{
		Name: "unsafe",
		Why: "memory safety is given up where a benchmark pays for it: memstore keeps a million " +
			"keys out of the collector's sight, policy names counters in its own memory, pbwire reads " +
			"messages where they lie, nowait makes system calls that return at once; and in storetest, to " +
			"catch stores that keep such a name",
		Broken: func(p Package) []string {
			if (set{"memstore", "policy", "internal/pbwire", "internal/nowait", "storetest", "api"}).has(p.Path) { // api: generated code
				return nil
			}
			return p.importing(func(imp string) bool { return imp == "unsafe" })
		},
	},
	{
		Name: "no-cgo",
		Why:  "Weir is one static binary and a library that cross-compiles",
		Broken: func(p Package) []string {
			return p.importing(func(imp string) bool { return imp == "C" })
		},
	},
	{
		Name: "no-dot-imports",
		Why:  "a reader, and these rules, must see where a name comes from",
		Broken: func(p Package) []string {
			var broken []string
			for _, use := range p.Uses {
				if imp, ok := strings.CutSuffix(use, ".*"); ok {
					broken = append(broken, fmt.Sprintf("dot-imports %q", imp))
				}
			}
			return broken
		},
	},
	{
		Name: "doc",
		Why: "a package says in doc.go what it is for, whether it is safe for concurrent use and " +
			"how it fails: nobody should have to read the code to learn that",
		Broken: func(p Package) []string {
			switch {
			case p.DocLines < 0:
				return []string{"has no doc.go"}
			case p.DocLines < minDocLines:
				return []string{fmt.Sprintf("has a package comment of %d lines in doc.go, fewer than %d", p.DocLines, minDocLines)}
			}
			return nil
		},
	},
}

// minDocLines is what a package comment needs to say more than the name does.
const minDocLines = 3

var (
	// Standard packages that reach outside the process or differ from run to
	// run, and those below them. maphash and the random sources are here for
	// the latter: a pure function gives the same answer everywhere.
	doesIO = set{
		"os", "net", "syscall", "io/fs", "io/ioutil", "log", "database/sql",
		"math/rand", "crypto/rand", "hash/maphash", "expvar", "plugin",
	}

	// Below the above, and yet values only.
	harmless = []string{"net/netip"}

	clocks = []string{
		"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc",
		"time.Tick", "time.NewTimer", "time.NewTicker",
	}

	settings = []string{
		"os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv", "os.Args",
		"syscall.Getenv", "syscall.Environ",
	}
)
