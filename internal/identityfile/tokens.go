package identityfile

import (
	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir/identity/token"
)

// tokens reads the section jwt.
func (r *reader) tokens(n *yaml.Node, c *Config) {
	t := &Tokens{}
	o, before := &t.Options, len(r.problems)
	if !r.mapping(n, "jwt", []field{
		{key: "issuer", must: true, example: "https://idp.example", read: r.text(&o.Issuer)},
		{key: "audience", must: true, example: "api", read: r.texts(&o.Audiences)},
		{key: "jwks_url", read: r.text(&t.Remote.URL)},
		{key: "jwks_ca_file", read: r.text(&t.CAFile)},
		{key: "jwks_refresh", read: r.duration(&t.Remote.Refresh)},
		{key: "jwks_retry", read: r.duration(&t.Remote.Retry)},
		{key: "jwks_timeout", read: r.duration(&t.Remote.Timeout)},
		{key: "jwks_file", read: r.text(&t.File)},
		{key: "secret_file", read: r.text(&t.SecretFile)},
		{key: "algorithms", read: r.texts(&o.Algorithms)},
		{key: "leeway", read: r.duration(&o.Leeway)},
		{key: "header", read: r.text(&c.Identity.TokenHeader)},
		{key: "tenant_claim", read: r.text(&o.Claims.Tenant)},
		{key: "user_claim", read: r.text(&o.Claims.User)},
		{key: "plan_claim", read: r.text(&o.Claims.Plan)},
		{key: "claims", read: func(n *yaml.Node) { o.Claims.Extra = r.claims(n) }},
		{key: "required", read: r.truth(&c.Identity.TokenRequired)},
	}) || len(r.problems) > before {
		return
	}
	c.Tokens = t
	o.Secret = t.SecretFile != ""
	sources := 0
	for _, s := range []string{t.Remote.URL, t.File, t.SecretFile} {
		if s != "" {
			sources++
		}
	}
	if sources != 1 {
		r.wrong(n, "a secret and public keys never mix", "jwt wants one of jwks_url, jwks_file and secret_file")
		return
	}
	if m := &t.Remote; m.URL == "" && (m.Refresh|m.Retry|m.Timeout != 0 || t.CAFile != "") {
		r.wrong(n, "", "jwks_refresh, jwks_retry, jwks_timeout and jwks_ca_file are for jwks_url")
	}
	probe := *o
	probe.Keys = new(token.KeySet)
	_, err := token.New(probe)
	r.refuse(n, err)
	if t.Remote.URL != "" {
		_, err := token.NewRemote(t.Remote)
		r.refuse(n, err)
	}
}

// claims reads which other claims become which dimensions.
func (r *reader) claims(n *yaml.Node) map[string]string {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "for example {region: region}", "claims is not a mapping of claims to dimensions")
		return nil
	}
	out := map[string]string{}
	for i := 0; i+1 < len(n.Content) && !r.full(); i += 2 {
		var claim, dim string
		r.text(&claim)(n.Content[i])
		r.text(&dim)(n.Content[i+1])
		if _, twice := out[claim]; twice {
			r.wrong(n.Content[i], "keep one of them", "claims has %q twice", clip(claim))
		}
		out[claim] = dim
	}
	return out
}
