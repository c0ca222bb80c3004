package token_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/identity/token"
)

var noon = time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)

// The keys of the tests' provider, made once.
var (
	rsaKey   = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	otherRSA = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	ec256    = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	ec384    = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)) })
	ed       = sync.OnceValue(func() ed25519.PrivateKey { _, k, err := ed25519.GenerateKey(rand.Reader); return must(k, err) })
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

type fields map[string]any

// with returns a copy that has other values; nil takes one away.
func (f fields) with(changes fields) fields {
	out := fields{}
	for k, v := range f {
		out[k] = v
	}
	for k, v := range changes {
		if out[k] = v; v == nil {
			delete(out, k)
		}
	}
	return out
}

// publicJWK is a key as a provider publishes it.
func publicJWK(kid string, key crypto.PublicKey) fields {
	f := fields{"kid": kid, "use": "sig"}
	switch k := key.(type) {
	case *rsa.PublicKey:
		f["kty"], f["n"], f["e"] = "RSA", b64(k.N.Bytes()), b64(big.NewInt(int64(k.E)).Bytes())
	case *ecdsa.PublicKey:
		raw := must(k.Bytes())
		size := (len(raw) - 1) / 2
		f["kty"], f["crv"], f["x"], f["y"] = "EC", k.Curve.Params().Name, b64(raw[1:1+size]), b64(raw[1+size:])
	case ed25519.PublicKey:
		f["kty"], f["crv"], f["x"] = "OKP", "Ed25519", b64(k)
	}
	return f
}

func jwks(keys ...fields) []byte { return must(json.Marshal(fields{"keys": keys})) }

// document has the provider's keys.
func document() []byte {
	return jwks(
		publicJWK("rsa", rsaKey().Public()), publicJWK("ec", ec256().Public()),
		publicJWK("ec384", ec384().Public()), publicJWK("ed", ed().Public()),
	)
}

func set(t testing.TB, doc []byte) *token.KeySet {
	t.Helper()
	s, err := token.ParseJWKS(doc)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func options(keys token.Source) token.Options {
	return token.Options{
		Keys: keys, Issuer: "https://idp.example", Audiences: []string{"api", "other-api"},
		Claims: token.Claims{Tenant: "org", Plan: "plan", Extra: map[string]string{"loc": "region"}},
		Now:    func() time.Time { return noon },
	}
}

func verifier(t testing.TB, o token.Options) *token.Verifier {
	t.Helper()
	v, err := token.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// claims of a good token.
var claims = fields{
	"iss": "https://idp.example", "aud": "api", "exp": noon.Add(time.Hour).Unix(), "sub": "alice", "org": "acme", "plan": "pro", "loc": 7,
}

// sign makes a token. A nil kid is left out.
func sign(method jwt.SigningMethod, key any, kid any, c fields, header ...fields) string {
	t := jwt.NewWithClaims(method, jwt.MapClaims(c))
	if kid != nil {
		t.Header["kid"] = kid
	}
	for _, h := range header {
		for k, v := range h {
			t.Header[k] = v
		}
	}
	return must(t.SignedString(key))
}

func good(t testing.TB, c fields) string {
	t.Helper()
	return sign(jwt.SigningMethodRS256, rsaKey(), "rsa", c)
}

func publicPEM() []byte {
	der := must(x509.MarshalPKIXPublicKey(rsaKey().Public()))
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func check(t *testing.T, name string, v *token.Verifier, text string, want identity.Reason) {
	t.Helper()
	s, why := v.Verify(text)
	if why != want || (s == nil) != (want != identity.None) {
		t.Errorf("%s: %v (%+v), want %v", name, why, s, want)
	}
}
