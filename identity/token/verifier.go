package token

import (
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/weirlimit/weir/identity"
)

// MaxToken is how many bytes of a token are looked at.
const MaxToken = 8 << 10

// Source has the keys to verify with. It is safe for concurrent use.
type Source interface {
	// Keys returns those of now, nil while there are none. The same keys are
	// the same pointer.
	Keys() *KeySet
	// Missed says that a token names a key that is not there. It does not
	// block.
	Missed()
}

// Keys lets a set be a source of itself.
func (s *KeySet) Keys() *KeySet { return s }

// Missed does nothing: a fixed set has nobody to ask.
func (s *KeySet) Missed() {}

// Options say which tokens are believed.
type Options struct {
	Keys      Source
	Secret    bool     // Keys has a secret, not public keys
	Issuer    string   // required
	Audiences []string // required; a token is for one of them
	// Algorithms is the allow-list; empty is DefaultAlgorithms.
	Algorithms []string
	// Leeway is for clocks that differ: 0 to 5 minutes.
	Leeway time.Duration

	Claims Claims

	// Remember is how many tokens are remembered; 0 is 4096, -1 none.
	Remember int

	// Now is the clock; nil for the machine's.
	Now func() time.Time
}

const (
	maxLeeway       = 5 * time.Minute
	defaultRemember = 4096
)

// Verifier verifies tokens. Make one with New.
type Verifier struct {
	o      Options
	parser *jwt.Parser
	cache  cacheSlot
}

var _ identity.Verifier = (*Verifier)(nil)

// New returns a verifier, or what is wrong with its options.
func New(o Options) (*Verifier, error) {
	if len(o.Algorithms) == 0 {
		o.Algorithms = DefaultAlgorithms(o.Secret)
	}
	if err := checkAlgorithms(o.Algorithms, o.Secret); err != nil {
		return nil, err
	}
	if o.Claims.User == "" {
		o.Claims.User = "sub"
	}
	if err := o.Claims.check(); err != nil {
		return nil, err
	}
	switch {
	case o.Keys == nil:
		return nil, invalid("jwt", "", "has no keys")
	case o.Issuer == "":
		return nil, invalid("jwt.issuer", "whose tokens are believed must be said", "is empty")
	case len(o.Audiences) == 0 || slices.Contains(o.Audiences, ""):
		return nil, invalid("jwt.audience", "a token for another service must not be good here", "is empty")
	case o.Leeway < 0 || o.Leeway > maxLeeway:
		return nil, invalid("jwt.leeway", "", "%v is not 0 to %v", o.Leeway, maxLeeway)
	}
	if o.Remember == 0 {
		o.Remember = defaultRemember
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Verifier{o: o, parser: jwt.NewParser(
		jwt.WithValidMethods(o.Algorithms), jwt.WithIssuer(o.Issuer), jwt.WithAudience(o.Audiences...),
		jwt.WithExpirationRequired(), jwt.WithLeeway(o.Leeway), jwt.WithTimeFunc(o.Now), jwt.WithJSONNumber(),
	)}, nil
}

// Verify implements identity.Verifier.
func (v *Verifier) Verify(text string) (*identity.Subject, identity.Reason) {
	if len(text) > MaxToken {
		return nil, identity.TooLong
	}
	keys := v.o.Keys.Keys()
	if keys == nil || keys.secret != v.o.Secret {
		v.o.Keys.Missed()
		return nil, identity.NoKeys
	}
	if v.o.Remember < 0 {
		known, why := v.verify(text, keys)
		return known.subject, why
	}
	cache, digest := v.cache.of(keys, v.o.Remember), sha256.Sum256([]byte(text))
	if known, ok := cache.get(digest); ok {
		if why := known.at(v.o.Now(), v.o.Leeway); why != identity.None {
			return nil, why
		}
		return known.subject, identity.None
	}
	known, why := v.verify(text, keys)
	if why == identity.None {
		cache.put(digest, known)
	}
	return known.subject, why
}

// verified is a token that was believed.
type verified struct {
	subject        *identity.Subject
	expires, begin time.Time // begin is zero for a token without
}

// at tells whether the token is still good, and was not only seen too early: it
// is remembered when it was good, but clocks are set.
func (k *verified) at(now time.Time, leeway time.Duration) identity.Reason {
	switch {
	case !now.Before(k.expires.Add(leeway)):
		return identity.Expired
	case now.Before(k.begin.Add(-leeway)):
		return identity.NotYetValid
	}
	return identity.None
}

func (v *Verifier) verify(text string, keys *KeySet) (verified, identity.Reason) {
	claims := jwt.MapClaims{}
	why := identity.Signature
	t, err := v.parser.ParseWithClaims(text, claims, func(t *jwt.Token) (any, error) {
		k, because := keyOf(t, keys)
		if k == nil {
			why = because
			return nil, errNoKey
		}
		return k.key, nil
	})
	if err != nil {
		if t != nil && t.Method != nil && !slices.Contains(v.o.Algorithms, t.Method.Alg()) {
			return verified{}, identity.Algorithm
		}
		if why == identity.UnknownKey {
			v.o.Keys.Missed()
		}
		return verified{}, reason(err, why)
	}
	subject, ok := v.o.Claims.subject(claims)
	if !ok {
		return verified{}, identity.Claim
	}
	known := verified{subject: subject}
	if at, err := claims.GetExpirationTime(); err == nil && at != nil {
		known.expires = at.Time
	}
	if at, err := claims.GetNotBefore(); err == nil && at != nil {
		known.begin = at.Time
	}
	return known, identity.None
}

var errNoKey = errors.New("no key")

// keyOf finds the key that a token is to be verified with.
func keyOf(t *jwt.Token, keys *KeySet) (*verifyKey, identity.Reason) {
	if _, critical := t.Header["crit"]; critical {
		return nil, identity.Malformed // extensions that must be understood, and are not
	}
	header, has := t.Header["kid"]
	kid, isText := header.(string)
	if has && !isText {
		return nil, identity.Malformed
	}
	k := keys.find(kid, has, t.Method.Alg())
	if k == nil {
		return nil, identity.UnknownKey
	}
	return k, identity.None
}

// reason tells what package jwt found wrong; why is what the keys had to say.
func reason(err error, why identity.Reason) identity.Reason {
	for _, r := range []struct {
		err error
		why identity.Reason
	}{
		{errNoKey, why},
		{jwt.ErrTokenMalformed, identity.Malformed},
		{jwt.ErrTokenSignatureInvalid, identity.Signature},
		{jwt.ErrTokenExpired, identity.Expired},
		{jwt.ErrTokenNotValidYet, identity.NotYetValid},
		{jwt.ErrTokenInvalidIssuer, identity.Issuer},
		{jwt.ErrTokenInvalidAudience, identity.Audience},
		{jwt.ErrTokenUnverifiable, identity.Algorithm}, // one that package jwt does not have
	} {
		if errors.Is(err, r.err) {
			return r.why
		}
	}
	return identity.Claim // one that is required is missing, or is of a wrong type
}
