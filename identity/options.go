package identity

import (
	"net/http"
	"strings"
	"time"

	"github.com/weirlimit/weir"
)

// Subject is whom a token speaks of. It is shared and not to be changed.
type Subject struct {
	Tenant, User, Plan string
	Extra              []weir.Pair // other claims, by the dimension they become
}

// Verifier checks tokens. Package identity/token has one for JWTs.
type Verifier interface {
	// Verify returns whom a token speaks of, or why it is not believed: then
	// the Subject is nil. It does not block, and is safe for concurrent use.
	Verify(token string) (*Subject, Reason)
}

// KeySource has the API keys that are known now. It is safe for concurrent use.
type KeySource interface {
	APIKeys() *Keys
}

// APIKeys lets Keys be the source of itself.
func (k *Keys) APIKeys() *Keys { return k }

// Options say whose word is taken for what. The zero value trusts loopback,
// takes the client's address from one hop of X-Forwarded-For and knows no
// tenants.
type Options struct {
	// Trusted are the peers whose headers are believed; nil is loopback.
	Trusted *Networks

	ClientIP ClientIP

	// TenantHeader is a header with which a trusted peer names the tenant;
	// empty for none. The peer must set or remove it on every request.
	TenantHeader string

	// Tokens verifies the token in TokenHeader; nil for no tokens. In
	// Authorization, the default, it follows the word Bearer; any other header
	// holds nothing else.
	Tokens        Verifier
	TokenHeader   string
	TokenRequired bool

	// Keys knows the key in KeyHeader; nil for no API keys. The default is
	// X-Api-Key; in Authorization the key follows the word ApiKey.
	Keys        KeySource
	KeyHeader   string
	KeyRequired bool

	// Rejected is called for all that is not believed; nil for nobody. It must
	// not block.
	Rejected func(What, Reason)

	// Now is the clock by which keys expire; nil for the machine's.
	Now func() time.Time
}

// headers fills in the names of headers, in the form that net/http keeps.
func (o *Options) headers() error {
	for _, h := range []struct {
		name  *string
		or    string
		field string
	}{
		{&o.TenantHeader, "", "tenant_header"},
		{&o.TokenHeader, "Authorization", "jwt.header"},
		{&o.KeyHeader, "X-Api-Key", "api_keys.header"},
	} {
		if *h.name == "" {
			*h.name = h.or
		}
		for i := range len(*h.name) {
			if !isTokenByte((*h.name)[i]) {
				return invalid(h.field, "", "%q is no name of a header", clip(*h.name))
			}
		}
		*h.name = http.CanonicalHeaderKey(*h.name)
	}
	switch o.TenantHeader {
	case "X-Forwarded-For", "Forwarded", "Authorization", "Host", "Cookie", o.KeyHeader, o.TokenHeader:
		return invalid("tenant_header", "choose a name of its own, such as X-Weir-Tenant", "%s means something else", o.TenantHeader)
	}
	if o.TokenHeader == o.KeyHeader && o.TokenHeader != "Authorization" && o.Tokens != nil && o.Keys != nil {
		return invalid("api_keys.header", "choose another", "%s is where tokens are", o.KeyHeader)
	}
	return nil
}

// credential returns what a header presents: the whole value, or in
// Authorization what follows the scheme. None with an empty text means that
// nothing was presented; gateways write an empty header for a missing one.
func credential(h http.Header, name, scheme string) (string, Reason) {
	value, why := single(h, name)
	if why == Missing || why == None && value == "" {
		return "", None
	}
	if why != None {
		return "", why
	}
	if name == "Authorization" {
		// RFC 9110 has one space here; servers take several, and tabs.
		i := strings.IndexAny(value, " \t")
		if i < 0 || !strings.EqualFold(value[:i], scheme) {
			return "", None // another scheme, which is not for us
		}
		value = value[i:]
	}
	if value = strings.Trim(value, " \t"); value == "" {
		return "", Malformed
	}
	return value, None
}
