package token_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/identity/token"
)

// TestUnusableKeysArePassedOver: each is beside one that is good, and alone is an
// error.
func TestUnusableKeysArePassedOver(t *testing.T) {
	good, ec := publicJWK("ed", ed().Public()), publicJWK("k", ec256().Public())
	small := publicJWK("k", must(rsa.GenerateKey(rand.Reader, 1024)).Public())
	rsaJWK := publicJWK("k", rsaKey().Public())
	for name, bad := range map[string]fields{
		"RSA of 1024 bits":       small,
		"for encryption":         rsaJWK.with(fields{"use": "enc"}),
		"for signing alone":      rsaJWK.with(fields{"key_ops": []string{"sign"}}),
		"for another algorithm":  rsaJWK.with(fields{"alg": "RSA-OAEP"}),
		"for a family not its":   rsaJWK.with(fields{"alg": "ES256"}),
		"for alg none":           rsaJWK.with(fields{"alg": "none"}),
		"a secret":               {"kty": "oct", "kid": "k", "k": b64([]byte("secret"))},
		"no type":                rsaJWK.with(fields{"kty": nil}),
		"no modulus":             rsaJWK.with(fields{"n": nil}),
		"an even exponent":       rsaJWK.with(fields{"e": b64([]byte{2})}),
		"an exponent of 1":       rsaJWK.with(fields{"e": b64([]byte{1})}),
		"RSA of 16384 bits":      rsaJWK.with(fields{"n": b64([]byte(strings.Repeat("\xff", 2048)))}),
		"padding":                rsaJWK.with(fields{"e": "AQAB="}),
		"another curve":          ec.with(fields{"crv": "secp256k1"}),
		"a curve not its":        ec.with(fields{"crv": "P-384"}),
		"a point off the curve":  ec.with(fields{"y": ec["x"]}),
		"half a point":           ec.with(fields{"y": nil}),
		"a short coordinate":     ec.with(fields{"x": b64([]byte{1})}),
		"X25519":                 good.with(fields{"crv": "X25519", "kid": "k"}),
		"a short Ed25519 key":    good.with(fields{"x": b64([]byte{1}), "kid": "k"}),
		"a long kid":             rsaJWK.with(fields{"kid": strings.Repeat("k", 257)}),
		"a kid that is a number": rsaJWK.with(fields{"kid": 7}),
	} {
		if s, err := token.ParseJWKS(jwks(bad, good)); err != nil || s.Len() != 1 {
			t.Errorf("%s, beside a good one: %v", name, err)
		}
		if _, err := token.ParseJWKS(jwks(bad)); err == nil {
			t.Errorf("%s, alone: no error", name)
		}
	}
	for name, doc := range map[string][]byte{
		"nothing": nil, "no JSON": []byte("<html>"), "a list": []byte("[]"), "no keys": []byte(`{"keys": []}`), "another object": []byte(`{}`),
		"too large": []byte(`{"keys": [` + strings.Repeat(" ", token.MaxJWKS) + `]}`), "too many": jwks(make([]fields, 129)...),
	} {
		if _, err := token.ParseJWKS(doc); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestKeyIsForOneAlgorithm: alg of a key is respected, and so is its curve.
func TestKeyIsForOneAlgorithm(t *testing.T) {
	p521 := must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader))
	o := options(set(t, jwks(
		publicJWK("ps", rsaKey().Public()).with(fields{"alg": "PS256", "key_ops": []string{"verify"}}),
		publicJWK("p521", p521.Public()),
	)))
	o.Algorithms = []string{"RS256", "PS256", "ES512", "ES256"}
	v := verifier(t, o)
	check(t, "PS256", v, sign(jwt.SigningMethodPS256, rsaKey(), "ps", claims), identity.None)
	check(t, "RS256 with a key for PS256", v, sign(jwt.SigningMethodRS256, rsaKey(), "ps", claims), identity.UnknownKey)
	check(t, "ES512", v, sign(jwt.SigningMethodES512, p521, "p521", claims), identity.None)
}

// TestAmbiguousKeys: two keys that fit and nothing to tell which.
func TestAmbiguousKeys(t *testing.T) {
	v := verifier(t, options(set(t, jwks(publicJWK("a", rsaKey().Public()), publicJWK("b", otherRSA().Public())))))
	check(t, "no kid", v, sign(jwt.SigningMethodRS256, rsaKey(), nil, claims), identity.UnknownKey)
	check(t, "with its kid", v, sign(jwt.SigningMethodRS256, rsaKey(), "a", claims), identity.None)
	v = verifier(t, options(set(t, jwks(publicJWK("a", rsaKey().Public()), publicJWK("a", ed().Public())))))
	check(t, "one kid for two families", v, sign(jwt.SigningMethodRS256, rsaKey(), "a", claims), identity.None)
}

func FuzzParseJWKS(f *testing.F) {
	f.Add(string(document()))
	f.Add(`{"keys": [{"kty": "RSA", "n": "AQAB", "e": "AQAB"}]}`)
	f.Fuzz(func(t *testing.T, doc string) {
		s, err := token.ParseJWKS([]byte(doc))
		if (s == nil) == (err == nil) || s != nil && s.Len() == 0 {
			t.Errorf("%v, %v", s, err)
		}
	})
}

func ExampleNew() {
	keys, err := token.ParseJWKS(document())
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := token.New(token.Options{
		Keys: keys, Issuer: "https://idp.example", Audiences: []string{"api"}, Claims: token.Claims{Tenant: "org"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	header, _ := json.Marshal(fields{"alg": "none"})
	body, _ := json.Marshal(claims)
	_, why := v.Verify(b64(header) + "." + b64(body) + ".")
	fmt.Println(why)
	// Output: algorithm
}
