package policy

import "github.com/weirlimit/weir"

// ResolveRelease fills p with what gives back the requests in progress that r,
// resolved with Resolve, took: a refund of each concurrency limit, and of
// nothing else. r is to have the dimensions and the id of that request. A
// refund resolved with Resolve, in turn, gives back units and leaves requests
// in progress alone: what is not yet done is not done because it became cheaper.
//
// A request that holds nothing has an empty plan. The errors are Resolve's,
// and CodeInvalid for a request without an id.
func (s *Set) ResolveRelease(r *weir.Request, p *Plan) error {
	p.Reset()
	if r.ID == "" {
		return &weir.Error{Code: weir.CodeInvalid, Field: "id", Message: "is empty", Hint: "release with the id of the check"}
	}
	if r.Policy == "" && s.envoy[r.Domain] != nil {
		return nil // Envoy's protocol has no release
	}
	if d := s.native[r.Domain]; d != nil {
		return d.resolveFor(toRelease, r, p)
	}
	if r.Policy != "" {
		return &weir.Error{Code: weir.CodePolicyNotFound, Field: "policy", Message: "there is no policy " + r.Policy}
	}
	return nil
}
