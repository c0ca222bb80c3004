package identity

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/weirlimit/weir"
)

// The dimensions of an identity. No claim can be mapped to one of these but by
// its own setting.
const (
	DimTenant = "tenant"
	DimUser   = "user"
	DimPlan   = "plan"
	DimAPIKey = "api_key"
	DimIP     = "ip"
)

// Resolver says whose request it is. Make one with New.
type Resolver struct {
	o       Options
	trusted Networks
}

// New returns a resolver, or what is wrong with its options.
func New(o Options) (*Resolver, error) {
	r := &Resolver{trusted: Loopback()}
	if o.Trusted != nil {
		r.trusted = *o.Trusted
	}
	if err := o.ClientIP.check(); err != nil {
		return nil, err
	}
	if err := o.headers(); err != nil {
		return nil, err
	}
	if o.TokenRequired && o.Tokens == nil || o.KeyRequired && o.Keys == nil {
		return nil, invalid("required", "say how it is verified", "a credential is required that nothing verifies")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rejected == nil {
		o.Rejected = func(What, Reason) {}
	}
	r.o = o
	return r, nil
}

// Trusts tells whether a request comes from a peer whose headers are believed.
func (r *Resolver) Trusts(req *http.Request) bool { return r.trusted.Has(PeerAddr(req.RemoteAddr)) }

// Dimensions appends to dst what is known of whom a request comes from: of
// tenant, user, plan, api_key, what other claims are mapped to, and ip, those
// that there are. An error is a *Rejection: a credential is required and is
// missing or bad, or is there twice, required or not. dst then has the ip alone.
func (r *Resolver) Dimensions(req *http.Request, dst []weir.Pair) ([]weir.Pair, error) {
	peer := PeerAddr(req.RemoteAddr)
	trusted := r.trusted.Has(peer)
	start := len(dst)
	err := r.doubled(req, trusted)
	if err == nil {
		dst, err = r.credentials(req, dst)
	}
	switch {
	case err != nil:
		dst = dst[:start]
	case len(dst) == start || dst[start].Name != DimTenant:
		dst = r.tenantHeader(req, trusted, dst)
	}
	if ip := r.o.ClientIP.text(r.client(req, peer, trusted)); ip != "" {
		dst = append(dst, weir.Pair{Name: DimIP, Value: ip})
	}
	return dst, err
}

// ClientIP returns the dimension ip alone; empty when the peer has no address.
func (r *Resolver) ClientIP(req *http.Request) string {
	peer := PeerAddr(req.RemoteAddr)
	return r.o.ClientIP.text(r.client(req, peer, r.trusted.Has(peer)))
}

func (r *Resolver) client(req *http.Request, peer netip.Addr, trusted bool) netip.Addr {
	if r.o.ClientIP.Header == NoHeader {
		return peer
	}
	if !trusted {
		if req.Header["X-Forwarded-For"] != nil || req.Header["Forwarded"] != nil {
			r.o.Rejected(ClientIPFrom, Untrusted)
		}
		return peer
	}
	a, why := r.o.ClientIP.find(req.Header)
	if why != None {
		r.o.Rejected(ClientIPFrom, why)
		return peer
	}
	return a
}

// doubled refuses a request that has one of the headers that say who it is in
// two lines, be one of them empty. No honest client sends two, and servers differ
// in which they read: to take such a request for one without a credential would
// let it pass under no tenant and be served under one.
func (r *Resolver) doubled(req *http.Request, trusted bool) error {
	for _, h := range [...]struct {
		what What
		name string
		read bool
	}{
		{JWT, r.o.TokenHeader, r.o.Tokens != nil},
		{APIKey, r.o.KeyHeader, r.o.Keys != nil},
		{TenantHeader, r.o.TenantHeader, r.o.TenantHeader != "" && trusted},
	} {
		if h.read && len(req.Header[h.name]) > 1 {
			r.o.Rejected(h.what, Duplicate)
			return &Rejection{h.what, Duplicate}
		}
	}
	return nil
}

// credentials appends what the first credential says. The error is of a
// credential that is required; when both kinds are, either will do.
func (r *Resolver) credentials(req *http.Request, dst []weir.Pair) ([]weir.Pair, error) {
	token, why := r.token(req)
	if token != nil {
		return appendSubject(dst, token), r.beside(req)
	}
	if why != None {
		r.o.Rejected(JWT, why)
		if r.o.TokenRequired || r.o.KeyRequired {
			return dst, &Rejection{JWT, why}
		}
		return dst, nil
	}
	key, why := r.key(req)
	if key != nil {
		return appendKey(dst, key), r.unless(APIKey)
	}
	if why != None {
		r.o.Rejected(APIKey, why)
		if r.o.TokenRequired || r.o.KeyRequired {
			return dst, &Rejection{APIKey, why}
		}
		return dst, nil
	}
	return dst, r.unless(Whats)
}

// beside returns what is missing of a request whose token is good: a key, where
// that alone is required. Whose request it is, the token says.
func (r *Resolver) beside(req *http.Request) error {
	if r.o.TokenRequired || !r.o.KeyRequired {
		return nil
	}
	key, why := r.key(req)
	switch {
	case key != nil:
		return nil
	case why == None:
		return r.unless(JWT)
	}
	r.o.Rejected(APIKey, why)
	return &Rejection{APIKey, why}
}

// unless returns what is missing of a request whose verified credential is of
// this kind, or has none.
func (r *Resolver) unless(have What) error {
	missing := Whats
	switch {
	case have == JWT && (r.o.TokenRequired || !r.o.KeyRequired):
	case have == APIKey && (r.o.KeyRequired || !r.o.TokenRequired):
	case r.o.TokenRequired:
		missing = JWT
	case r.o.KeyRequired:
		missing = APIKey
	}
	if missing == Whats {
		return nil
	}
	r.o.Rejected(missing, Missing)
	return &Rejection{missing, Missing}
}

// token verifies the token, if one is presented.
func (r *Resolver) token(req *http.Request) (*Subject, Reason) {
	if r.o.Tokens == nil {
		return nil, None
	}
	text, why := credential(req.Header, r.o.TokenHeader, "Bearer")
	if text == "" {
		return nil, why
	}
	return r.o.Tokens.Verify(text)
}

// key looks the API key up, if one is presented.
func (r *Resolver) key(req *http.Request) (*Key, Reason) {
	if r.o.Keys == nil {
		return nil, None
	}
	text, why := credential(req.Header, r.o.KeyHeader, "ApiKey")
	if text == "" {
		return nil, why
	}
	return r.o.Keys.APIKeys().find(text, r.o.Now())
}

// tenantHeader appends the tenant that a trusted peer names.
func (r *Resolver) tenantHeader(req *http.Request, trusted bool, dst []weir.Pair) []weir.Pair {
	if r.o.TenantHeader == "" {
		return dst
	}
	tenant, why := single(req.Header, r.o.TenantHeader)
	switch {
	case why == Missing || why == None && tenant == "":
		return dst // the peer knows no tenant
	case !trusted:
		why = Untrusted
	case len(tenant) > maxText:
		why = TooLong
	}
	if why != None {
		r.o.Rejected(TenantHeader, why)
		return dst
	}
	return append(dst, weir.Pair{Name: DimTenant, Value: tenant})
}

func appendSubject(dst []weir.Pair, s *Subject) []weir.Pair {
	dst = appendPair(dst, DimTenant, s.Tenant)
	dst = appendPair(dst, DimUser, s.User)
	dst = appendPair(dst, DimPlan, s.Plan)
	return append(dst, s.Extra...)
}

func appendKey(dst []weir.Pair, k *Key) []weir.Pair {
	dst = appendPair(dst, DimTenant, k.Tenant)
	dst = appendPair(dst, DimUser, k.User)
	dst = appendPair(dst, DimPlan, k.Plan)
	return append(dst, weir.Pair{Name: DimAPIKey, Value: k.ID})
}

func appendPair(dst []weir.Pair, name, value string) []weir.Pair {
	if value == "" {
		return dst
	}
	return append(dst, weir.Pair{Name: name, Value: value})
}
