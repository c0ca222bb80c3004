package token_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/identity/token"
)

func TestGoodTokens(t *testing.T) {
	o := options(set(t, document()))
	o.Algorithms = []string{"RS256", "RS512", "PS256", "PS384", "ES256", "ES384", "EdDSA"}
	v := verifier(t, o)
	for name, text := range map[string]string{
		"RS256":                     good(t, claims),
		"RS512":                     sign(jwt.SigningMethodRS512, rsaKey(), "rsa", claims),
		"PS256":                     sign(jwt.SigningMethodPS256, rsaKey(), "rsa", claims),
		"PS384":                     sign(jwt.SigningMethodPS384, rsaKey(), "rsa", claims),
		"ES256":                     sign(jwt.SigningMethodES256, ec256(), "ec", claims),
		"ES384":                     sign(jwt.SigningMethodES384, ec384(), "ec384", claims),
		"EdDSA":                     sign(jwt.SigningMethodEdDSA, ed(), "ed", claims),
		"no kid, one key that fits": sign(jwt.SigningMethodEdDSA, ed(), nil, claims),
		"several audiences":         good(t, claims.with(fields{"aud": []string{"x", "other-api"}})),
		"begun":                     good(t, claims.with(fields{"nbf": noon.Unix()})),
		"keys of its own":           sign(jwt.SigningMethodRS256, rsaKey(), "rsa", claims, fields{"jku": "https://evil.example", "jwk": publicJWK("rsa", otherRSA().Public())}),
	} {
		s, why := v.Verify(text)
		if why != identity.None || s.Tenant != "acme" || s.User != "alice" || s.Plan != "pro" || fmt.Sprint(s.Extra) != "[{region 7}]" {
			t.Errorf("%s: %v, %+v", name, why, s)
		}
	}
}

func TestBadTokens(t *testing.T) {
	v := verifier(t, options(set(t, document())))
	text := good(t, claims)
	part := strings.Split(text, ".")
	forged := claims.with(fields{"org": "victim"})
	none := must(jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims(claims)).SignedString(jwt.UnsafeAllowNoneSignatureType))
	for name, tc := range map[string]struct {
		text string
		want identity.Reason
	}{
		"alg none":                             {none, identity.Algorithm},
		"alg none with a signature":            {none + part[2], identity.Algorithm},
		"alg None":                             {b64([]byte(`{"alg":"None","kid":"rsa"}`)) + "." + part[1] + ".", identity.Algorithm},
		"no alg":                               {b64([]byte(`{"kid":"rsa"}`)) + "." + part[1] + "." + part[2], identity.Algorithm},
		"HS256 signed with the RSA public key": {hs256(publicPEM(), "rsa", forged), identity.Algorithm},
		"HS256 signed with the modulus":        {hs256(rsaKey().N.Bytes(), "rsa", forged), identity.Algorithm},
		"an algorithm that is not allowed":     {sign(jwt.SigningMethodRS384, rsaKey(), "rsa", claims), identity.Algorithm},
		"RS256 by the kid of an EC key":        {sign(jwt.SigningMethodRS256, rsaKey(), "ec", claims), identity.UnknownKey},
		"ES256 by the kid of an RSA key":       {sign(jwt.SigningMethodES256, ec256(), "rsa", claims), identity.UnknownKey},
		"ES256 by the kid of a P-384 key":      {sign(jwt.SigningMethodES256, ec256(), "ec384", claims), identity.UnknownKey},
		"another's signature":                  {sign(jwt.SigningMethodRS256, otherRSA(), "rsa", claims), identity.Signature},
		"other claims under a signature":       {part[0] + "." + b64(must(json.Marshal(forged))) + "." + part[2], identity.Signature},
		"no signature":                         {part[0] + "." + part[1] + ".", identity.Signature},
		"unknown kid":                          {sign(jwt.SigningMethodRS256, rsaKey(), "new", claims), identity.UnknownKey},
		"a kid that is a number":               {sign(jwt.SigningMethodRS256, rsaKey(), 7, claims), identity.Malformed},
		"an empty kid":                         {sign(jwt.SigningMethodRS256, rsaKey(), "", claims), identity.UnknownKey},
		"critical extensions":                  {sign(jwt.SigningMethodRS256, rsaKey(), "rsa", claims, fields{"crit": []string{"b64"}, "b64": false}), identity.Malformed},
		"expired":                              {good(t, claims.with(fields{"exp": noon.Unix()})), identity.Expired},
		"no exp":                               {good(t, claims.with(fields{"exp": nil})), identity.Claim},
		"exp as text":                          {good(t, claims.with(fields{"exp": "2030"})), identity.Claim},
		"exp beyond numbers":                   {good(t, claims.with(fields{"exp": json.Number("1e999")})), identity.Expired},
		"not yet":                              {good(t, claims.with(fields{"nbf": noon.Add(time.Minute).Unix()})), identity.NotYetValid},
		"other audience":                       {good(t, claims.with(fields{"aud": "api2"})), identity.Audience},
		"no audience":                          {good(t, claims.with(fields{"aud": nil})), identity.Claim},
		"other issuer":                         {good(t, claims.with(fields{"iss": "https://idp.example/"})), identity.Issuer},
		"no issuer":                            {good(t, claims.with(fields{"iss": nil})), identity.Claim},
		"no tenant":                            {good(t, claims.with(fields{"org": nil})), identity.Claim},
		"an empty tenant":                      {good(t, claims.with(fields{"org": ""})), identity.Claim},
		"a list of tenants":                    {good(t, claims.with(fields{"org": []string{"acme"}})), identity.Claim},
		"a tenant of 257 bytes":                {good(t, claims.with(fields{"org": strings.Repeat("x", 257)})), identity.Claim},
		"a user that is true":                  {good(t, claims.with(fields{"sub": true})), identity.Claim},
		"a plan of 1.5":                        {good(t, claims.with(fields{"plan": 1.5})), identity.Claim},
		"an extra claim that is an object":     {good(t, claims.with(fields{"loc": fields{}})), identity.Claim},
		"9 KiB token":                          {good(t, claims.with(fields{"pad": strings.Repeat("x", 9<<10)})), identity.TooLong},
		"9 KiB of anything":                    {strings.Repeat("x", 9<<10), identity.TooLong},
		"nothing":                              {"", identity.Malformed},
		"two parts":                            {part[0] + "." + part[1], identity.Malformed},
		"four parts":                           {text + ".x", identity.Malformed},
		"five parts, encrypted":                {"a.b.c.d.e", identity.Malformed},
		"no base64":                            {"!." + part[1] + "." + part[2], identity.Malformed},
		"a header that is no object":           {b64([]byte(`[]`)) + "." + part[1] + "." + part[2], identity.Malformed},
		"an alg that is a number":              {b64([]byte(`{"alg":7}`)) + "." + part[1] + "." + part[2], identity.Algorithm},
	} {
		check(t, name, v, tc.text, tc.want)
		check(t, name+", again", v, tc.text, tc.want) // nothing bad is remembered as good
	}
	check(t, "just in time", v, good(t, claims.with(fields{"exp": noon.Unix() + 1})), identity.None)
	check(t, "just under 8 KiB", v, good(t, claims.with(fields{"pad": strings.Repeat("x", 5500)})), identity.None)
}

// hs256 signs with what everybody knows, as somebody would who hopes that the
// verifier takes a public key for a secret.
func hs256(key []byte, kid string, c fields) string {
	text := b64([]byte(`{"alg":"HS256","kid":"`+kid+`"}`)) + "." + b64(must(json.Marshal(c)))
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return text + "." + b64(h.Sum(nil))
}

func TestLeeway(t *testing.T) {
	o := options(set(t, document()))
	o.Leeway = 30 * time.Second
	v := verifier(t, o)
	for _, tc := range []struct {
		exp, nbf int64
		want     identity.Reason
	}{{-29, -100, identity.None}, {-31, -100, identity.Expired}, {100, 29, identity.None}, {100, 31, identity.NotYetValid}} {
		text := good(t, claims.with(fields{"exp": noon.Unix() + tc.exp, "nbf": noon.Unix() + tc.nbf}))
		check(t, fmt.Sprintf("%+v", tc), v, text, tc.want)
	}
}

// TestRememberedTokensExpire: what was verified is not believed for longer.
func TestRememberedTokensExpire(t *testing.T) {
	now := noon
	o := options(set(t, document()))
	o.Now = func() time.Time { return now }
	v := verifier(t, o)
	text := good(t, claims.with(fields{"nbf": noon.Unix()}))
	check(t, "at noon", v, text, identity.None)
	now = noon.Add(time.Hour - 1)
	check(t, "before its end", v, text, identity.None)
	now = noon.Add(time.Hour)
	check(t, "at its end", v, text, identity.Expired)
	now = noon.Add(-time.Second)
	check(t, "with the clock set back", v, text, identity.NotYetValid)
}

// source is a source whose keys a test changes.
type source struct {
	keys   *token.KeySet
	missed int
}

func (s *source) Keys() *token.KeySet { return s.keys }
func (s *source) Missed()             { s.missed++ }

// TestRemovedKeysInvalidate: a token that was believed is not, once its key is
// gone or has another value under the same name.
func TestRemovedKeysInvalidate(t *testing.T) {
	s := &source{keys: set(t, document())}
	v := verifier(t, options(s))
	text := good(t, claims)
	check(t, "its key is there", v, text, identity.None)
	s.keys = set(t, jwks(publicJWK("ed", ed().Public())))
	check(t, "its key is gone", v, text, identity.UnknownKey)
	s.keys = set(t, jwks(publicJWK("rsa", otherRSA().Public())))
	check(t, "its key is another", v, text, identity.Signature)
	if s.missed != 1 {
		t.Errorf("asked for a refresh %d times: an unknown key asks, a bad signature does not", s.missed)
	}
	s.keys = nil
	check(t, "no keys at all", v, text, identity.NoKeys)
	s.keys = set(t, document())
	check(t, "its key is back", v, text, identity.None)
}

func TestRememberIsBounded(t *testing.T) {
	o := options(set(t, jwks(publicJWK("ed", ed().Public()))))
	o.Remember = 2
	v := verifier(t, o)
	var texts []string
	for i := range 20 {
		texts = append(texts, sign(jwt.SigningMethodEdDSA, ed(), "ed", claims.with(fields{"sub": fmt.Sprint(i)})))
	}
	for range 2 {
		for i, text := range texts {
			if s, why := v.Verify(text); why != identity.None || s.User != fmt.Sprint(i) {
				t.Errorf("%d: %v %+v", i, why, s)
			}
		}
	}
	if n := v.Remembered(); n > 4 {
		t.Errorf("%d tokens are remembered", n)
	}
	o.Remember = -1
	v = verifier(t, o)
	check(t, "without a memory", v, texts[0], identity.None)
}

func TestSecret(t *testing.T) {
	secret := []byte(strings.Repeat("s", 64))
	keys, err := token.NewSecret(secret, "HS256", "HS512")
	if err != nil {
		t.Fatal(err)
	}
	o := options(keys)
	o.Secret, o.Algorithms = true, []string{"HS256", "HS512"}
	v := verifier(t, o)
	check(t, "HS256", v, sign(jwt.SigningMethodHS256, secret, nil, claims), identity.None)
	check(t, "HS512 with a kid", v, sign(jwt.SigningMethodHS512, secret, "any", claims), identity.None)
	check(t, "HS384", v, sign(jwt.SigningMethodHS384, secret, nil, claims), identity.Algorithm)
	check(t, "RS256", v, good(t, claims), identity.Algorithm)
	check(t, "another secret", v, sign(jwt.SigningMethodHS256, []byte("other"), nil, claims), identity.Signature)
	for _, short := range []struct {
		n   int
		alg string
	}{{31, "HS256"}, {47, "HS384"}, {63, "HS512"}} {
		if _, err := token.NewSecret(secret[:short.n], short.alg); err == nil || strings.Contains(err.Error(), "ss") && strings.Contains(err.Error(), string(secret[:8])) {
			t.Errorf("%d bytes for %s: %v", short.n, short.alg, err)
		}
	}
	// A secret where public keys are expected verifies nothing.
	o.Secret, o.Algorithms = false, nil
	check(t, "mixed", verifier(t, o), sign(jwt.SigningMethodHS256, secret, nil, claims), identity.NoKeys)
}

func TestOptions(t *testing.T) {
	keys := set(t, document())
	for name, change := range map[string]func(*token.Options){
		"no keys":              func(o *token.Options) { o.Keys = nil },
		"no issuer":            func(o *token.Options) { o.Issuer = "" },
		"no audience":          func(o *token.Options) { o.Audiences = nil },
		"an empty audience":    func(o *token.Options) { o.Audiences = []string{""} },
		"alg none":             func(o *token.Options) { o.Algorithms = []string{"none"} },
		"an unknown alg":       func(o *token.Options) { o.Algorithms = []string{"RS257"} },
		"an alg twice":         func(o *token.Options) { o.Algorithms = []string{"RS256", "RS256"} },
		"HS256 with a JWKS":    func(o *token.Options) { o.Algorithms = []string{"RS256", "HS256"} },
		"RS256 with a secret":  func(o *token.Options) { o.Secret, o.Algorithms = true, []string{"HS256", "RS256"} },
		"a long leeway":        func(o *token.Options) { o.Leeway = 6 * time.Minute },
		"a negative leeway":    func(o *token.Options) { o.Leeway = -1 },
		"a claim for the ip":   func(o *token.Options) { o.Claims.Extra = map[string]string{"addr": "ip"} },
		"a claim for a tenant": func(o *token.Options) { o.Claims.Extra = map[string]string{"org": "tenant"} },
		"a claim for nothing":  func(o *token.Options) { o.Claims.Extra = map[string]string{"x": ""} },
		"two for one":          func(o *token.Options) { o.Claims.Extra = map[string]string{"x": "d", "y": "d"} },
	} {
		o := options(keys)
		change(&o)
		if _, err := token.New(o); err == nil || weir.CodeOf(err) != weir.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzVerify(f *testing.F) {
	v := verifier(f, options(set(f, document())))
	text := good(f, claims)
	f.Add(text)
	f.Add(strings.Replace(text, ".", "..", 1))
	f.Add(b64([]byte(`{"alg":"none"}`)) + "." + strings.Split(text, ".")[1] + ".")
	f.Add("..")
	f.Fuzz(func(t *testing.T, s string) {
		if subject, why := v.Verify(s); why == identity.None && (subject == nil || subject.Tenant != "acme") {
			t.Errorf("%q is %+v", s, subject)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	for _, bc := range []struct {
		name string
		text string
		keep int
	}{
		{"remembered", good(b, claims), 0},
		{"RS256", good(b, claims), -1},
		{"ES256", sign(jwt.SigningMethodES256, ec256(), "ec", claims), -1},
	} {
		b.Run(bc.name, func(b *testing.B) {
			o := options(set(b, document()))
			o.Remember = bc.keep
			v := verifier(b, o)
			b.ReportAllocs()
			for b.Loop() {
				if _, why := v.Verify(bc.text); why != identity.None {
					b.Fatal(why)
				}
			}
		})
	}
}

// BenchmarkDimensions is the whole way of a token that was seen before.
func BenchmarkDimensions(b *testing.B) {
	r, err := identity.New(identity.Options{Tokens: verifier(b, options(set(b, document())))})
	if err != nil {
		b.Fatal(err)
	}
	req := &http.Request{RemoteAddr: "127.0.0.1:1", Header: http.Header{
		"Authorization": {"Bearer " + good(b, claims)}, "X-Forwarded-For": {"203.0.113.7"},
	}}
	dst := make([]weir.Pair, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		if dst, err = r.Dimensions(req, dst[:0]); err != nil || len(dst) != 5 {
			b.Fatal(dst, err)
		}
	}
}

// TestRememberedTokensAllocateOnce: the bytes of the token, to be hashed.
func TestRememberedTokensAllocateOnce(t *testing.T) {
	v := verifier(t, options(set(t, document())))
	text := good(t, claims)
	if n := testing.AllocsPerRun(100, func() { v.Verify(text) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}
