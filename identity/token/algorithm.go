package token

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirlimit/weir"
)

// family is what an algorithm verifies with.
type family uint8

const (
	rsaKeys family = iota + 1
	ecKeys
	edKeys
	secrets
)

// algorithms are all that can be allowed. "none" is not among them.
var algorithms = map[string]struct {
	family family
	curve  string // of an elliptic curve
	bytes  int    // that a secret has at least: those of its hash
}{
	"RS256": {family: rsaKeys}, "RS384": {family: rsaKeys}, "RS512": {family: rsaKeys},
	"PS256": {family: rsaKeys}, "PS384": {family: rsaKeys}, "PS512": {family: rsaKeys},
	"ES256": {family: ecKeys, curve: "P-256"}, "ES384": {family: ecKeys, curve: "P-384"}, "ES512": {family: ecKeys, curve: "P-521"},
	"EdDSA": {family: edKeys},
	"HS256": {family: secrets, bytes: 32}, "HS384": {family: secrets, bytes: 48}, "HS512": {family: secrets, bytes: 64},
}

// DefaultAlgorithms are allowed where nobody says otherwise.
func DefaultAlgorithms(secret bool) []string {
	if secret {
		return []string{"HS256"}
	}
	return []string{"RS256", "PS256", "ES256", "EdDSA"}
}

// checkAlgorithms checks an allow-list. Secrets and public keys do not mix.
func checkAlgorithms(allowed []string, secret bool) error {
	for i, name := range allowed {
		a, ok := algorithms[name]
		switch {
		case !ok:
			return invalid("jwt.algorithms", "of "+strings.Join(names(secret), ", "), "no such algorithm: %q", name)
		case (a.family == secrets) != secret && secret:
			return invalid("jwt.algorithms", "a secret verifies HS256, HS384 and HS512", "%s is not for a secret", name)
		case (a.family == secrets) != secret:
			return invalid("jwt.algorithms", "give secret_file instead of keys", "%s is for a secret, and never for public keys", name)
		case slices.Contains(allowed[:i], name):
			return invalid("jwt.algorithms", "keep one of them", "%s stands twice", name)
		}
	}
	return nil
}

func names(secret bool) []string {
	var out []string
	for name, a := range algorithms {
		if (a.family == secrets) == secret {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func invalid(field, hint, format string, args ...any) *weir.Error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: fmt.Sprintf(format, args...), Hint: hint}
}
