package identity

// What names the piece of a request that was not believed.
type What uint8

// The pieces. Their names are the what label of a metric.
const (
	Peer         What = iota // who asks, where only trusted peers may
	ClientIPFrom             // the header with the client's address
	JWT
	APIKey
	TenantHeader

	Whats // how many there are
)

var whatNames = [Whats]string{"peer", "client_ip", "jwt", "api_key", "tenant_header"}

func (w What) String() string {
	if w >= Whats {
		return "unknown"
	}
	return whatNames[w]
}

// Reason says why it was not.
type Reason uint8

// The reasons. Their names are the reason label of a metric.
const (
	None        Reason = iota // nothing is wrong
	Untrusted                 // the peer is not one whose headers are believed
	Missing                   // it is required, or a trusted peer should have sent it
	Duplicate                 // the header is there more than once
	Malformed                 // it is not what it should be
	TooLong                   // longer than it may be
	TooFew                    // fewer entries than hops
	Obfuscated                // Forwarded names a node by an identifier, or as unknown
	Algorithm                 // the token's algorithm is not allowed
	UnknownKey                // no such API key; no key for the token's kid
	NoKeys                    // the keys to verify with have not been fetched yet
	Signature                 // the signature does not fit
	Expired                   // the token or the key
	NotYetValid               // the token's nbf
	Issuer                    // the token is another issuer's
	Audience                  // the token is for somebody else
	Claim                     // a claim that is mapped is missing or not a short text
	Disabled                  // the key is known and switched off

	Reasons // how many there are
)

var reasonNames = [Reasons]string{
	"none", "untrusted_peer", "missing", "duplicate", "malformed", "too_long", "too_few", "obfuscated",
	"algorithm", "unknown_key", "no_keys", "signature", "expired", "not_yet_valid", "issuer", "audience",
	"claim", "disabled",
}

func (r Reason) String() string {
	if r >= Reasons {
		return "unknown"
	}
	return reasonNames[r]
}

// Rejection is the error of a request that lacks a credential which is
// required, or has two where one belongs. It never repeats what was presented.
type Rejection struct {
	What   What
	Reason Reason
}

func (r *Rejection) Error() string { return r.What.String() + ": " + r.Reason.String() }
