package e2e

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// auth asks /v1/auth, with these headers, and returns the answer.
func (w *instance) auth(query string, header ...string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://"+w.http+"/v1/auth"+query, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := plain.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp
}

// identities has a policy per kind of identity, so that an answer's
// X-RateLimit-Policy tells which was found.
const identities = `
policies:
  - {id: tenant-acme, match: {tenant: acme}, by: [tenant], limits: [%d/h], on_failure: closed}
  - {id: tenant-peer, match: {tenant: peer}, by: [tenant], limits: [40/h], on_failure: closed}
  - {id: by-key, by: [api_key], limits: [30/h], on_failure: closed}
  - {id: by-ip, match: {path: /free}, by: [ip], limits: [3/h], on_failure: closed}
`

// idp is a provider of keys that can be stopped.
type idp struct {
	key  ed25519.PrivateKey
	srv  *http.Server
	url  string
	made []string // tokens
}

func newIDP(t *testing.T) *idp {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	doc := fmt.Sprintf(`{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "1", "x": %q}]}`, base64.RawURLEncoding.EncodeToString(public))
	p := &idp{key: key, url: "http://" + l.Addr().String(), srv: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, doc)
	})}}
	go func() { _ = p.srv.Serve(l) }()
	t.Cleanup(func() { _ = p.srv.Close() })
	return p
}

// token signs claims that are good but for the changes; alg is what the header
// says.
func (p *idp) token(t *testing.T, alg string, changes map[string]any) string {
	t.Helper()
	claims := map[string]any{"iss": "idp", "aud": "api", "sub": "alice", "org": "acme", "exp": time.Now().Add(time.Hour).Unix()}
	for k, v := range changes {
		claims[k] = v
	}
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"kid":"1","alg":"`+alg+`"}`)) + "." + base64.RawURLEncoding.EncodeToString(body)
	text += "."
	if alg != "none" {
		text += base64.RawURLEncoding.EncodeToString(ed25519.Sign(p.key, []byte(text[:len(text)-1])))
	}
	p.made = append(p.made, text)
	return text
}

// newKey makes an API key as an operator does, and returns it and its entry.
func newKey(t *testing.T, args ...string) (key, entry string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(binary, append([]string{"apikey", "new"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatal(err, errs.String())
	}
	key, entry, _ = strings.Cut(out.String(), "\n")
	return strings.TrimSpace(key), entry
}

// TestIdentityEndToEnd asks the real program as a gateway does: with tokens,
// keys and a tenant header, good ones and forged ones.
func TestIdentityEndToEnd(t *testing.T) {
	t.Parallel()
	dir, provider := t.TempDir(), newIDP(t)
	key, entry := newKey(t, "--id", "acme-prod", "--tenant", "acme")
	policies, file, keys := filepath.Join(dir, "policies.yaml"), filepath.Join(dir, "identity.yaml"), filepath.Join(dir, "keys.yaml")
	write(t, policies, fmt.Sprintf(identities, 50))
	write(t, keys, "keys:\n"+entry)
	const config = `
trusted_peers: [127.0.0.1]
client_ip: {hops: 1}
tenant_header: X-Weir-Tenant
jwt:
  issuer: idp
  audience: api
  jwks_url: %s/keys
  algorithms: [EdDSA]
  tenant_claim: org
api_keys: {file: keys.yaml}
`
	write(t, file, fmt.Sprintf(config, provider.url))
	w := serve(t, "--config", policies, "--identity", file, "--deadline", "5s")
	is := func(name, want string, header ...string) {
		t.Helper()
		resp := w.auth("?deny=403", append(header, "X-Forwarded-For", "203.0.113.7")...)
		if got := resp.Header.Get("X-RateLimit-Policy"); resp.StatusCode != http.StatusOK || got != want {
			t.Errorf("%s: %d, limited by %q, want %q", name, resp.StatusCode, got, want)
		}
	}
	is("nobody", "")
	is("a token", "tenant-acme", "Authorization", "Bearer "+provider.token(t, "EdDSA", nil))
	is("alg none", "", "Authorization", "Bearer "+provider.token(t, "none", nil))
	is("expired", "", "Authorization", "Bearer "+provider.token(t, "EdDSA", map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}))
	is("another audience", "", "Authorization", "Bearer "+provider.token(t, "EdDSA", map[string]any{"aud": "other"}))
	is("a key", "by-key", "X-Api-Key", key)
	is("the id of a key", "", "X-Api-Key", "acme-prod")
	is("the peer's word", "tenant-peer", "X-Weir-Tenant", "peer")
	is("a header nobody configured", "", "X-Tenant", "acme")

	// The provider goes away; a token that was never seen is verified.
	_ = provider.srv.Close()
	w.signal(syscall.SIGHUP)
	await(t, "the keys to be asked for in vain", w.err.has("fetch keys"))
	is("a token, without the provider", "tenant-acme", "Authorization", "Bearer "+provider.token(t, "EdDSA", map[string]any{"sub": "bob"}))

	// The key is switched off while the server runs; a file that is wrong is not
	// taken over.
	write(t, keys, "keys:\n"+entry+"    disabled: true\n")
	await(t, "the key to be refused", func() error {
		if got := w.auth("", "X-Api-Key", key).Header.Get("X-RateLimit-Policy"); got != "" {
			return fmt.Errorf("it is limited by %s", got)
		}
		return nil
	})
	write(t, file, "trusted_peers: [everybody]\n")
	await(t, "the mistake to be told", w.err.has("identity.yaml:1:17"))
	is("a token, after a bad file", "tenant-acme", "Authorization", "Bearer "+provider.token(t, "EdDSA", nil))

	// A limit by IP, and a forged address in front of the real one.
	free := []string{"X-Forwarded-Method", "GET", "X-Forwarded-Uri", "/free"}
	for i, xff := range []string{"198.51.100.1", "6.6.6.6, 198.51.100.1", "x, 198.51.100.1", "9.9.9.9, 198.51.100.1"} {
		resp := w.auth("?deny=403", append(free, "X-Forwarded-For", xff)...)
		if want := []int{200, 200, 200, 403}[i]; resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", xff, resp.StatusCode, want)
		}
		if resp.StatusCode == http.StatusForbidden && (resp.Header.Get("X-Weir-Status") != "429" || resp.Header.Get("Retry-After") == "") {
			t.Errorf("%v", resp.Header)
		}
	}
	log := w.err.String() + w.page("/metrics") + w.page("/config")
	secrets := []string{key, strings.TrimPrefix(key, "weir_")}
	for _, token := range provider.made {
		_, signature, _ := strings.Cut(token[strings.IndexByte(token, '.')+1:], ".")
		if signature != "" {
			secrets = append(secrets, signature)
		}
	}
	for _, secret := range secrets {
		if strings.Contains(log, secret) {
			t.Errorf("a secret is told: %s", secret)
		}
	}
	if len(secrets) < 6 {
		t.Errorf("%d secrets to look for", len(secrets))
	}
	for _, want := range []string{`what="jwt"`, `what="api_key"`, `reason="algorithm"`, `reason="expired"`, `reason="audience"`, `reason="disabled"`} {
		if !strings.Contains(log, want) {
			t.Errorf("%s is not counted", want)
		}
	}
	w.stop()
}

// TestRequiredAndUntrusted: who must have a token has one, and who may not ask
// is told what to do.
func TestRequiredAndUntrusted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, keys := filepath.Join(dir, "identity.yaml"), filepath.Join(dir, "keys.yaml")
	write(t, keys, "keys: []\n")
	write(t, file, "api_keys: {file: keys.yaml, required: true}\n")
	w := serve(t, "--identity", file)
	if resp := w.auth(""); resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	write(t, file, "trusted_peers: [192.0.2.1]\n")
	w.signal(syscall.SIGHUP)
	await(t, "the new file", func() error {
		resp := w.auth("")
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "untrusted_peer") {
			return fmt.Errorf("%d %s", resp.StatusCode, body)
		}
		return nil
	})
}
