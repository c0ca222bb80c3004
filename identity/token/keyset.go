package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"slices"
)

// The bounds on a document of keys.
const (
	MaxJWKS    = 256 << 10 // bytes
	maxKeys    = 128
	maxKID     = 256
	minRSABits = 2048
	maxRSABits = 8192
)

// KeySet is what signatures are verified with: public keys, or one secret. It
// is immutable.
type KeySet struct {
	keys   []verifyKey
	secret bool
}

type verifyKey struct {
	id     string
	alg    string // the one it is for; empty for all of its family
	family family
	curve  string
	key    any // for package jwt
}

// fits tells whether the key is meant for an algorithm.
func (k *verifyKey) fits(alg string) bool {
	a := algorithms[alg]
	return k.family == a.family && k.curve == a.curve && (k.alg == "" || k.alg == alg)
}

// Len returns how many keys there are.
func (s *KeySet) Len() int { return len(s.keys) }

// NewSecret returns a set of one secret, for these algorithms or HS256. It needs
// as many bytes as their hashes have: 32, 48 or 64.
func NewSecret(secret []byte, algs ...string) (*KeySet, error) {
	if len(algs) == 0 {
		algs = DefaultAlgorithms(true)
	}
	for _, alg := range algs {
		if need := algorithms[alg].bytes; len(secret) < need {
			return nil, invalid("jwt.secret", "for example: openssl rand -hex 64", "has %d bytes, and %s needs %d", len(secret), alg, need)
		}
	}
	return &KeySet{secret: true, keys: []verifyKey{{family: secrets, key: slices.Clone(secret)}}}, nil
}

// find returns the key that a token names. Without a kid there must be one key
// that fits, or nothing says which was meant.
func (s *KeySet) find(kid string, hasKID bool, alg string) *verifyKey {
	var found *verifyKey
	for i := range s.keys {
		k := &s.keys[i]
		if !k.fits(alg) || hasKID && !s.secret && k.id != kid {
			continue
		}
		if found != nil {
			return nil
		}
		found = k
	}
	return found
}

// ParseJWKS reads a JSON Web Key Set (RFC 7517). Keys that are not for verifying
// signatures, or are not understood, are passed over; that none is left is an
// error. Secret keys do not belong into such a document and are passed over too.
func ParseJWKS(data []byte) (*KeySet, error) {
	if len(data) > MaxJWKS {
		return nil, invalid("jwks", "", "has more than %d bytes", MaxJWKS)
	}
	var doc struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, invalid("jwks", `a key set is {"keys": [...]}`, "is no JSON, or no key set")
	}
	if len(doc.Keys) > maxKeys {
		return nil, invalid("jwks", "", "%d keys are more than %d", len(doc.Keys), maxKeys)
	}
	set := &KeySet{}
	for _, raw := range doc.Keys {
		var j jwk
		if json.Unmarshal(raw, &j) != nil || len(j.KID) > maxKID || !j.verifies() {
			continue
		}
		if k, ok := j.public(); ok {
			set.keys = append(set.keys, k)
		}
	}
	if len(set.keys) == 0 {
		return nil, invalid("jwks", "RSA keys of 2048 bits or more, EC keys of P-256, P-384 or P-521, and Ed25519 are",
			"none of its %d keys can be used", len(doc.Keys))
	}
	return set, nil
}

// jwk is the public part of a key.
type jwk struct {
	KTY string   `json:"kty"`
	KID string   `json:"kid"`
	Use string   `json:"use"`
	Ops []string `json:"key_ops"`
	Alg string   `json:"alg"`
	N   string   `json:"n"`
	E   string   `json:"e"`
	CRV string   `json:"crv"`
	X   string   `json:"x"`
	Y   string   `json:"y"`
}

// verifies tells whether the key is for signatures.
func (j *jwk) verifies() bool {
	return (j.Use == "" || j.Use == "sig") && (j.Ops == nil || slices.Contains(j.Ops, "verify"))
}

func (j *jwk) public() (verifyKey, bool) {
	k := verifyKey{id: j.KID, alg: j.Alg}
	var ok bool
	switch j.KTY {
	case "RSA":
		k.family = rsaKeys
		k.key, ok = j.rsa()
	case "EC":
		k.family, k.curve = ecKeys, j.CRV
		k.key, ok = j.ec()
	case "OKP":
		k.family = edKeys
		x, good := decode(j.X, ed25519.PublicKeySize)
		k.key, ok = ed25519.PublicKey(x), good && j.CRV == "Ed25519" && len(x) == ed25519.PublicKeySize
	}
	if a, known := algorithms[j.Alg]; ok && j.Alg != "" && (!known || a.family != k.family || a.curve != k.curve) {
		ok = false // for something that is not verified here
	}
	return k, ok
}

func (j *jwk) rsa() (*rsa.PublicKey, bool) {
	n, ok := decode(j.N, maxRSABits/8+1)
	e, okE := decode(j.E, 4)
	if !ok || !okE {
		return nil, false
	}
	k := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
	bits := k.N.BitLen()
	return k, bits >= minRSABits && bits <= maxRSABits && k.N.Bit(0) == 1 && k.E >= 3 && k.E <= 1<<31-1 && k.E%2 == 1
}

func (j *jwk) ec() (*ecdsa.PublicKey, bool) {
	curve := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}[j.CRV]
	if curve == nil {
		return nil, false
	}
	size := (curve.Params().BitSize + 7) / 8
	x, okX := decode(j.X, size)
	y, okY := decode(j.Y, size)
	if !okX || !okY || len(x) != size || len(y) != size {
		return nil, false
	}
	k, err := ecdsa.ParseUncompressedPublicKey(curve, slices.Concat([]byte{4}, x, y))
	return k, err == nil // a point that is not on the curve is none
}

// decode reads base64url without padding, of at most some bytes.
func decode(text string, most int) ([]byte, bool) {
	if text == "" || base64.RawURLEncoding.DecodedLen(len(text)) > most {
		return nil, false
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	return b, err == nil
}
