package identityfile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/internal/identityfile"
)

const whole = `
trusted_peers: [10.0.0.0/8, "::1"]
client_ip:
  header: Forwarded
  hops: 2
  ipv4_bits: 24
  ipv6_bits: 56
tenant_header: X-Weir-Tenant
jwt:
  issuer: https://idp.example
  audience: [api, web]
  jwks_url: https://idp.example/jwks.json
  jwks_refresh: 10m
  jwks_retry: 5s
  jwks_timeout: 2s
  algorithms: [RS256, ES256]
  leeway: 30s
  header: X-Token
  tenant_claim: org
  user_claim: uid
  plan_claim: plan
  claims: {loc: region}
  required: true
api_keys:
  file: keys.yaml
  header: X-Key
  required: true
auth:
  method_headers: x-m
  path_headers: [x-p, X-Original-URI]
  host_header: none
  request_id_header: x-request-id
`

func TestParse(t *testing.T) {
	c, err := identityfile.Parse("identity.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	o := c.Identity
	if !o.Trusted.Has(identity.PeerAddr("10.1.1.1:1")) || o.Trusted.Has(identity.PeerAddr("127.0.0.1:1")) ||
		o.ClientIP.Header != identity.Forwarded || o.ClientIP.Hops != 2 || o.ClientIP.IPv4Bits != 24 || o.ClientIP.IPv6Bits != 56 ||
		o.TenantHeader != "X-Weir-Tenant" || o.TokenHeader != "X-Token" || !o.TokenRequired || o.KeyHeader != "X-Key" || !o.KeyRequired || c.KeyFile != "keys.yaml" {
		t.Errorf("%+v", o)
	}
	k := c.Tokens
	if k.Options.Issuer != "https://idp.example" || len(k.Options.Audiences) != 2 || k.Options.Leeway != 30*time.Second || len(k.Options.Algorithms) != 2 ||
		k.Options.Claims.Tenant != "org" || k.Options.Claims.User != "uid" || k.Options.Claims.Plan != "plan" || k.Options.Claims.Extra["loc"] != "region" ||
		k.Remote.Refresh != 10*time.Minute || k.Remote.Retry != 5*time.Second || k.Remote.Timeout != 2*time.Second {
		t.Errorf("%+v", k)
	}
	h := c.Headers
	if strings.Join(h.Method, " ") != "X-M" || strings.Join(h.Path, " ") != "X-P X-Original-Uri" || h.Host != "" || h.RequestID != "X-Request-Id" {
		t.Errorf("%+v", h)
	}
	least, err := identityfile.Parse("identity.yaml", []byte("auth: {}"))
	if err != nil || least.Tokens != nil || least.KeyFile != "" || least.Identity.Trusted != nil || len(least.Headers.Path) != 2 || least.Headers.Host != "X-Forwarded-Host" {
		t.Errorf("%+v, %v", least, err)
	}
}

// TestParseProblems: each says where, and what to do.
func TestParseProblems(t *testing.T) {
	const jwt = "jwt:\n  issuer: i\n  audience: a\n  "
	for text, want := range map[string]string{
		"":                                   "f:1:1: the file is empty",
		"- a":                                "f:1:1: the file is not a mapping",
		"a: [":                               "f:1:1: ",
		"a: 1\n---\nb: 1":                    "more than one document",
		"trusted_peer: []":                   `f:1:1: the file has no key "trusted_peer" (did you mean trusted_peers? one of trusted_peers,`,
		"auth: {}\nauth: {}":                 "f:2:1: the file has auth twice",
		"trusted_peers: [10.0.0.1/8]":        "f:1:17: networks: 10.0.0.1/8 has bits beyond its prefix (did you mean 10.0.0.0/8?)",
		"trusted_peers: []":                  "f:1:16: trusted_peers: the list is empty",
		"trusted_peers: [&a 10.0.0.0/8, *a]": "aliases are not read",
		"trusted_peers:":                     "f:1:15: trusted_peers: the value is empty",
		"client_ip: 1":                       "f:1:12: client_ip is not a mapping",
		"client_ip: {hops: 0}":               "f:1:19: hops: want a number from 1 to 32",
		"client_ip: {hops: two}":             "f:1:19: hops: want a number",
		"client_ip: {ipv6_bits: 129}":        "ipv6_bits: want a number from 16 to 128",
		"client_ip: {ipv4_bits: 7}":          "want a number from 8 to 32",
		"client_ip: {header: x-real-ip}":     `unknown header "x-real-ip" (x-forwarded-for, forwarded or none)`,
		"client_ip: {hops: 1, proxies: 10.0.0.0/8}":   "hops and proxies are both given",
		"tenant_header: X Tenant":                     "no name of a header",
		"tenant_header: X-Api-Key":                    "means something else",
		"jwt: {}":                                     "f:1:6: jwt has no issuer (for example issuer: https://idp.example)",
		"jwt: {issuer: i, audience: a}":               "one of jwks_url, jwks_file and secret_file",
		jwt + "jwks_file: a\n  secret_file: b":        "a secret and public keys never mix",
		jwt + "jwks_file: a\n  algorithms: [none]":    `no such algorithm: "none"`,
		jwt + "jwks_file: a\n  algorithms: [HS256]":   "HS256 is for a secret, and never for public keys",
		jwt + "secret_file: a\n  algorithms: [RS256]": "RS256 is not for a secret",
		jwt + "jwks_url: http://idp.example/":         "use https",
		jwt + "jwks_url: https://u:hush@h/":           "has a password",
		jwt + "jwks_file: a\n  jwks_retry: 1s":        "are for jwks_url",
		jwt + "jwks_file: a\n  leeway: 1h":            "is not 0 to 5m0s",
		jwt + "jwks_file: a\n  leeway: 30":            "f:5:11: leeway: want a time span (for example 30s or 15m)",
		jwt + "jwks_file: a\n  required: yes":         "f:5:13: required: want true or false",
		jwt + "jwks_file: a\n  claims: [a]":           "claims is not a mapping",
		jwt + "jwks_file: a\n  claims: {a: ip}":       `the dimension "ip" is found in another way`,
		jwt + "jwks_file: a\n  audience: b":           "jwt has audience twice",
		"jwt: {issuer: i, jwks_file: a}":              "f:1:6: jwt has no audience (for example audience: api)",
		"api_keys: {}":                                "f:1:11: api_keys has no file",
		"api_keys: {file: [a]}":                       "f:1:18: file: want a text",
		"auth: {path_headers: [a, A]}":                `"A" stands twice`,
		"auth: {host_header: 'a b'}":                  "no name of a header",
		strings.Repeat(" ", 257<<10):                  "more than 262144 bytes",
	} {
		_, err := identityfile.Parse("f", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || weir.CodeOf(err) != weir.CodeInvalid {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("a password is repeated: %v", err)
		}
	}
	_, err := identityfile.Parse("f", []byte("a: 1\nb: 2\nc: 3\n"))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("not all problems at once: %v", err)
	}
}

const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" // of test

func TestParseKeys(t *testing.T) {
	keys, err := identityfile.ParseKeys("keys.yaml", []byte(`
keys:
  - {id: a, sha256: `+digest+`, tenant: acme, user: u, plan: p, disabled: false, expires_at: 2027-01-31T00:00:00Z}
`))
	if err != nil || keys.Len() != 1 {
		t.Fatal(err)
	}
	if empty, err := identityfile.ParseKeys("keys.yaml", []byte("keys: []")); err != nil || empty.Len() != 0 {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"":          "f:1:1: the file is empty",
		"keys:":     "keys is not a list",
		"{}":        "the file has no keys",
		"keys: [1]": "f:1:8: a key is not a mapping",
		"keys:\n- {id: a, sha256: " + digest + "}":                                                          "f:2:3: a key has no tenant",
		"keys:\n- {id: a, sha256: weir_canary, tenant: t}":                                                  "f:2:19: sha256: want the 64 hexadecimal digits",
		"keys:\n- {id: a, sha256: " + digest + ", tenant: t, key: weir_canary}":                             `a key has no key "key"`,
		"keys:\n- {id: a, sha256: " + digest + ", tenant: t, expires_at: 2027-01-31}":                       "expires_at: want an instant",
		"keys:\n- {id: a, sha256: " + digest + ", tenant: t}\n- {id: b, sha256: " + digest + ", tenant: t}": "same digest",
	} {
		_, err := identityfile.ParseKeys("f", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("a key is repeated: %v", err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add("client_ip: {hops: 1}\njwt: {issuer: i, audience: a, secret_file: f}")
	f.Add("? [a]\n: b")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := identityfile.Parse("f", []byte(text))
		if (c == nil) == (err == nil) {
			t.Errorf("%v, %v", c, err)
		}
		if err == nil {
			o := c.Identity
			o.TokenRequired, o.KeyRequired = false, false // what verifies them is in other files
			if _, err := identity.New(o); err != nil {
				t.Errorf("it is accepted and cannot be: %v", err)
			}
		}
	})
}

func FuzzParseKeys(f *testing.F) {
	f.Add("keys:\n- {id: a, sha256: " + digest + ", tenant: t, expires_at: 2027-01-31T00:00:00Z}")
	f.Fuzz(func(t *testing.T, text string) {
		if k, err := identityfile.ParseKeys("f", []byte(text)); (k == nil) == (err == nil) {
			t.Errorf("%v, %v", k, err)
		}
	})
}
