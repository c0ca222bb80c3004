package bench

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
