package gatewaytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// issuer signs tokens and knows an API key, and is the one that a site's Weir
// believes.
type issuer struct {
	t            *testing.T
	key          *ecdsa.PrivateKey
	identityFile string
}

// The names that the identity file has.
const (
	issuerName = "https://issuer.test"
	audience   = "api"
	apiKey     = "k-4711-a-key-that-is-long-enough"
	keyTenant  = "keyed"
)

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{t: t, key: key}
	dir := t.TempDir()
	point, err := key.PublicKey.Bytes() // 4, then both coordinates
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "jwks.json"), fmt.Sprintf(
		`{"keys": [{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "k1", "x": %q, "y": %q}]}`,
		b64(point[1:33]), b64(point[33:]),
	))
	digest := sha256.Sum256([]byte(apiKey))
	write(t, filepath.Join(dir, "keys.yaml"), fmt.Sprintf("keys:\n  - {id: first, sha256: %s, tenant: %s}\n", hex.EncodeToString(digest[:]), keyTenant))
	i.identityFile = write(t, filepath.Join(dir, "identity.yaml"), `
trusted_peers: [127.0.0.1/32]
client_ip: {hops: 1}
tenant_header: X-Weir-Tenant
jwt:
  issuer: `+issuerName+`
  audience: `+audience+`
  algorithms: [ES256]
  jwks_file: `+filepath.Join(dir, "jwks.json")+`
  tenant_claim: tenant
api_keys:
  file: `+filepath.Join(dir, "keys.yaml")+`
`)
	return i
}

// claims are those of a good token for a tenant, but for what is changed.
func claims(tenant string, changes ...any) map[string]any {
	c := map[string]any{
		"iss": issuerName, "aud": audience, "sub": "somebody", "tenant": tenant,
		"iat": time.Now().Add(-time.Minute).Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	for i := 0; i+1 < len(changes); i += 2 {
		c[changes[i].(string)] = changes[i+1]
	}
	return c
}

// token signs claims; alg and how the signature is made can be another's.
func (i *issuer) token(c map[string]any) string {
	return i.tokenBy("ES256", c, func(text string) []byte {
		digest := sha256.Sum256([]byte(text))
		r, s, err := ecdsa.Sign(rand.Reader, i.key, digest[:])
		if err != nil {
			i.t.Fatal(err)
		}
		sig := make([]byte, 64)
		r.FillBytes(sig[:32])
		s.FillBytes(sig[32:])
		return sig
	})
}

func (i *issuer) tokenBy(alg string, c map[string]any, sign func(string) []byte) string {
	i.t.Helper()
	payload, err := json.Marshal(c)
	if err != nil {
		i.t.Fatal(err)
	}
	text := b64([]byte(`{"typ":"JWT","kid":"k1","alg":"`+alg+`"}`)) + "." + b64(payload)
	return text + "." + b64(sign(text))
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
