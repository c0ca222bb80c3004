package identityfile

import (
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/identity/token"
	"github.com/weirlimit/weir/internal/forwardauth"
)

// maxFile bounds the file: it holds some dozen lines.
const maxFile = 256 << 10

// Config is what the file says.
type Config struct {
	Identity identity.Options // without what other files have
	Headers  forwardauth.Headers
	Tokens   *Tokens // nil for none
	KeyFile  string  // of API keys; empty for none
	Warnings []Warning
}

// Warning is something that a file may say and that is probably not meant.
type Warning struct{ Text, Hint string }

// Tokens say how tokens are verified, and with which keys: of one of URL, File
// and SecretFile.
type Tokens struct {
	Options    token.Options // without its keys
	Remote     token.RemoteOptions
	CAFile     string // of the URL's authority; empty for the system's
	File       string // a JWKS document
	SecretFile string
}

// Default is what applies without a file: loopback is trusted, and one hop of
// X-Forwarded-For.
func Default() *Config { return &Config{Headers: forwardauth.DefaultHeaders()} }

// Parse reads a file. The error has a line for each problem.
func Parse(name string, data []byte) (*Config, error) {
	r := &reader{file: name}
	c := Default()
	var wide []*yaml.Node
	root := r.document(data, maxFile)
	if root == nil {
		return nil, r.err()
	}
	r.mapping(root, "the file", []field{
		{key: "trusted_peers", read: func(n *yaml.Node) { c.Identity.Trusted, wide = r.networks(n), wideNetworks(n) }},
		{key: "client_ip", read: func(n *yaml.Node) { r.clientIP(n, &c.Identity.ClientIP) }},
		{key: "tenant_header", read: r.text(&c.Identity.TenantHeader)},
		{key: "jwt", read: func(n *yaml.Node) { r.tokens(n, c) }},
		{key: "api_keys", read: func(n *yaml.Node) { r.apiKeys(n, c) }},
		{key: "auth", read: func(n *yaml.Node) { r.auth(n, &c.Headers) }},
	})
	if len(r.problems) == 0 {
		r.check(root, c)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	for _, n := range wide {
		c.Warnings = append(c.Warnings, r.wideWarning(n, c.Identity.TenantHeader))
	}
	return c, nil
}

// check builds what the file describes, with nothing in the place of other
// files, to see that it can be.
func (r *reader) check(root *yaml.Node, c *Config) {
	o := c.Identity
	if c.Tokens != nil {
		o.Tokens = new(token.Verifier)
	}
	if c.KeyFile != "" {
		o.Keys = new(identity.Keys)
	}
	_, err := identity.New(o)
	r.refuse(root, err)
}

func (r *reader) networks(n *yaml.Node) *identity.Networks {
	var all []string
	r.list(func(n *yaml.Node, s string) {
		if _, err := identity.ParseNetworks([]string{s}); err != nil {
			r.refuse(n, err)
			return
		}
		all = append(all, s)
	})(n)
	networks, err := identity.ParseNetworks(all)
	r.refuse(n, err)
	return &networks
}

func (r *reader) clientIP(n *yaml.Node, into *identity.ClientIP) {
	header := "x-forwarded-for"
	r.mapping(n, "client_ip", []field{
		{key: "header", read: r.text(&header)},
		{key: "hops", read: r.number(&into.Hops, 1, 32)},
		{key: "proxies", read: func(n *yaml.Node) { into.Proxies = *r.networks(n) }},
		{key: "ipv4_bits", read: r.number(&into.IPv4Bits, 8, 32)},
		{key: "ipv6_bits", read: r.number(&into.IPv6Bits, 16, 128)},
	})
	switch strings.ToLower(header) {
	case "x-forwarded-for":
		into.Header = identity.XForwardedFor
	case "forwarded":
		into.Header = identity.Forwarded
	case "none":
		into.Header = identity.NoHeader
	default:
		r.wrong(n, "x-forwarded-for, forwarded or none", "client_ip has the unknown header %q", clip(header))
	}
}

func (r *reader) apiKeys(n *yaml.Node, c *Config) {
	r.mapping(n, "api_keys", []field{
		{key: "file", must: true, example: "keys.yaml", read: r.text(&c.KeyFile)},
		{key: "header", read: r.text(&c.Identity.KeyHeader)},
		{key: "required", read: r.truth(&c.Identity.KeyRequired)},
	})
}

func (r *reader) auth(n *yaml.Node, h *forwardauth.Headers) {
	var method, path []string
	r.mapping(n, "auth", []field{
		{key: "method_headers", read: r.headers(&method)},
		{key: "path_headers", read: r.headers(&path)},
		{key: "host_header", read: r.header(&h.Host)},
		{key: "request_id_header", read: r.header(&h.RequestID)},
	})
	if method != nil {
		h.Method = method
	}
	if path != nil {
		h.Path = path
	}
	if strings.EqualFold(h.Host, "none") {
		h.Host = ""
	}
}

// header reads a header's name, into the form that net/http keeps.
func (r *reader) header(into *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var s string
		r.text(&s)(n)
		if *into = http.CanonicalHeaderKey(s); strings.ContainsAny(s, " \t:,;\"") || len(s) > 64 {
			r.wrong(n, "for example X-Forwarded-Uri", "%q is no name of a header", clip(s))
		}
	}
}

func (r *reader) headers(into *[]string) func(*yaml.Node) {
	return r.list(func(n *yaml.Node, _ string) {
		var s string
		r.header(&s)(n)
		if slices.Contains(*into, s) || len(*into) == 8 {
			r.wrong(n, "", "%q stands twice, or is one too many", clip(s))
			return
		}
		*into = append(*into, s)
	})
}
