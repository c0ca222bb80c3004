package wire

import (
	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
)

// Lease returns the message that asks for units of r's limits; r is valid.
func Lease(r *weir.Request, want int64) *weirv1.LeaseRequest {
	return &weirv1.LeaseRequest{Domain: r.Domain, Policy: r.Policy, Want: want, Dimensions: dimensions(r)}
}

// Grant is what a server grants.
type Grant struct {
	Granted       int64
	ExpiresAfter  weir.Micros
	RetryAfter    weir.Micros
	Remaining     int64
	Rule, Scope   string
	Limit         weir.Limit
	Reason        weir.Reason
	PolicyVersion string
}

// maxLease is longer than any lease of a server that is right.
const maxLease = weir.Minute

// Granted reads a server's answer to who wanted so many units. An answer that
// would have more spent than was asked for, or for longer than a lease can last,
// is an error.
func Granted(in *weirv1.LeaseResponse, want int64) (Grant, error) {
	switch in.GetCode() {
	case weirv1.Code_CODE_OK, weirv1.Code_CODE_DENY:
	case weirv1.Code_CODE_POLICY_NOT_FOUND:
		return Grant{}, &weir.Error{Code: weir.CodePolicyNotFound, Field: "policy", Message: "there is no such policy"}
	default:
		return Grant{}, &weir.Error{Code: weir.CodeProtocol, Message: "the server answered with code " + in.GetCode().String()}
	}
	g := Grant{
		Granted: in.GetGranted(), ExpiresAfter: weir.Micros(in.GetExpiresAfterUs()), RetryAfter: weir.Micros(in.GetRetryAfterUs()),
		Remaining: in.GetRemaining(), Rule: in.GetQuota().GetRule(), Scope: in.GetQuota().GetScope(), Limit: limitOf(in.GetQuota()),
		Reason: known(weir.ReasonForced, in.GetReason()), PolicyVersion: in.GetPolicyVersion(),
	}
	if g.Granted < 0 || g.Granted > want || g.ExpiresAfter < 0 || g.ExpiresAfter > maxLease || g.RetryAfter < 0 ||
		g.Granted > 0 && in.GetCode() != weirv1.Code_CODE_OK {
		return Grant{}, &weir.Error{Code: weir.CodeProtocol, Message: "the server granted what was not asked for"}
	}
	return g, nil
}
