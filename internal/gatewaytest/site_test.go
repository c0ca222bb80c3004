package gatewaytest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// kind is one of the gateways, with the files of examples/.
type kind struct {
	name  string
	start func(t *testing.T, a Addrs, edit func(string) string) *Gateway
	// closed makes fail closed of a file that fails open, by the edit that the
	// file's own comments describe; away is the status of a refusal then.
	closed func(string) string
	away   int
	// lenient gateways pass targets on that are no path; they are counted as any.
	lenient bool
}

var (
	nginx = kind{
		"nginx",
		func(t *testing.T, a Addrs, edit func(string) string) *Gateway {
			return StartNginx(t, a.Gateway, edit(a.Rewrite(Example(t, "nginx.conf"))))
		},
		func(conf string) string { return strings.ReplaceAll(conf, "return 204;", "return 403;") }, 503, false,
	}
	caddy = kind{
		"caddy",
		func(t *testing.T, a Addrs, edit func(string) string) *Gateway {
			return StartCaddy(t, a.Gateway, edit(a.Rewrite(Example(t, "Caddyfile"))))
		},
		func(conf string) string {
			return regexp.MustCompile(`(?s)# \(fail open\).*?# \(end\)`).ReplaceAllString(conf, "")
		}, 502, false,
	}
	haproxy = kind{
		"haproxy",
		func(t *testing.T, a Addrs, edit func(string) string) *Gateway {
			return StartHAProxy(t, a.Gateway, edit(a.Rewrite(Example(t, "haproxy/haproxy.cfg"))), edit(Example(t, "haproxy/weir.lua")))
		},
		func(conf string) string { return strings.ReplaceAll(conf, `fail = "open"`, `fail = "closed"`) }, 503, false,
	}
)

// sitePolicies limit tenants, addresses and a route. An hour is longer than a
// test: nothing comes back while it runs.
const sitePolicies = `
policies:
  - {id: per-tenant, by: [tenant], limits: [3/h], on_failure: open}
  - {id: per-ip, by: [ip], limits: [20/h], on_failure: open}
  - {id: logins, match: {route: POST /login}, by: [ip], limits: [1/h], on_failure: open}
  - {id: never, match: {route: POST /never}, by: [ip], limits: [1/h], cost: 2, on_failure: open}
`

// brokenPolicies leave Weir with nothing to decide by.
const brokenPolicies = "policies: broken"

// What sitePolicies grant.
const (
	perTenant = 3
	perIP     = 20
	perLogin  = 1
)

// site is a gateway between a Weir and a backend.
type site struct {
	kind    kind
	weir    *Weir
	backend *Backend
	gateway *Gateway
	issuer  *issuer
}

// newSite starts all three. The edits are applied to the gateway's files, on top
// of the addresses.
func newSite(t *testing.T, k kind, edits ...func(string) string) *site {
	t.Helper()
	return newSiteWith(t, k, sitePolicies, nil, edits...)
}

func newSiteWith(t *testing.T, k kind, policies string, args []string, edits ...func(string) string) *site {
	t.Helper()
	s := newWeirSite(t, k, policies, args)
	s.startGateway(t, s.weir.HTTP, edits...)
	return s
}

// newWeirSite has no gateway yet.
func newWeirSite(t *testing.T, k kind, policies string, args []string) *site {
	t.Helper()
	s := &site{kind: k, backend: StartBackend(t), issuer: newIssuer(t)}
	start := StartWeir
	if policies == brokenPolicies {
		start = StartUnreadyWeir
	}
	s.weir = start(t, weirBinary, append(s.weirArgs(t, policies), args...)...)
	return s
}

// weirArgs are those that every Weir of a site has.
func (s *site) weirArgs(t *testing.T, policies string) []string {
	t.Helper()
	config := write(t, filepath.Join(t.TempDir(), "policies.yaml"), policies)
	// The deadline is for a busy machine: what was decided without the store
	// counts nothing.
	return []string{"--config", config, "--identity", s.issuer.identityFile, "--deadline", "20s"}
}

// startGateway starts the gateway, which asks at an address.
func (s *site) startGateway(t *testing.T, weir string, edits ...func(string) string) {
	t.Helper()
	s.gateway = s.kind.start(t, Addrs{Gateway: FreeAddr(t), Weir: weir, Backend: s.backend.Addr()}, func(text string) string {
		for _, edit := range edits {
			text = edit(text)
		}
		return text
	})
}

// patient gives Weir so long to answer that a busy machine cannot make it look
// away. What the real bounds do is tested apart.
func patient(conf string) string {
	return strings.NewReplacer("100ms", "20s", "250ms", "20s", "timeout = 1000", "timeout = 90000").Replace(conf)
}
