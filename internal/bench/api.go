package bench

import "github.com/weirlimit/weir/internal/pbwire"

// API is how the server is asked.
type API string

// The APIs.
const (
	RLS    API = "rls"    // envoy.service.ratelimit.v3, unary gRPC
	Native API = "native" // weir.v1.Limiter/Check, unary gRPC
	Stream API = "stream" // weir.v1.Limiter/CheckBatch, batches on a stream
	HTTP   API = "http"   // POST /v1/check
)

// APIs are all there are.
var APIs = []API{RLS, Native, Stream, HTTP}

// path is the gRPC method of a unary API.
func (a API) path() string {
	if a == RLS {
		return "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
	}
	return "/weir.v1.Limiter/Check"
}

// What an answer says.
const (
	none uint8 = iota
	allowed
	denied
)

// judge reads field 1 of an answer, which servers write first. Both protocols
// number their codes alike: OK is 1, over the limit 2, and with anything else
// nothing was decided.
func judge(message []byte) uint8 {
	for r := pbwire.Read(pbwire.View(message)); r.Next(); {
		if r.Tag != 1<<3|pbwire.Varint {
			r.Skip()
			continue
		}
		switch r.Varint() {
		case 1:
			return allowed
		case 2:
			return denied
		}
		return none
	}
	return none
}
