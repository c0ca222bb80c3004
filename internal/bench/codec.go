package bench

import (
	"encoding/json"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pbwire"
)

// codec appends a request as its API sends it. A cost of 1 is left to the
// server's default, as gateways do.
type codec func(dst []byte, r *weir.Request) []byte

func (a API) codec() codec {
	switch a {
	case RLS:
		return appendRLS
	case HTTP:
		return appendHTTP
	}
	return appendNative
}

// appendRLS appends an envoy.service.ratelimit.v3.RateLimitRequest.
func appendRLS(b []byte, r *weir.Request) []byte {
	b = pbwire.AppendText(b, 1, r.Domain)
	for i := range r.Descriptors {
		var descriptor int
		b, descriptor = pbwire.Open(b, 2)
		b = appendPairs(b, 1, r.Descriptors[i].Pairs)
		if r.Cost == 0 { // to look: of the request, 0 would be 1
			var hits int
			b, hits = pbwire.Open(b, 3)
			b = pbwire.Close(b, hits)
		}
		b = pbwire.Close(b, descriptor)
	}
	if r.Cost > 1 {
		b = pbwire.AppendUint(b, 3, uint64(r.Cost))
	}
	return b
}

// appendNative appends a weir.v1.CheckRequest, which has one set of dimensions:
// those of all descriptors.
func appendNative(b []byte, r *weir.Request) []byte {
	b = pbwire.AppendText(b, 1, r.Domain)
	for i := range r.Descriptors {
		b = appendPairs(b, 3, r.Descriptors[i].Pairs)
	}
	if r.Cost > 1 {
		b = pbwire.AppendInt(b, 4, r.Cost)
	}
	return pbwire.AppendBool(b, 7, r.Cost == 0) // MODE_PEEK is 1
}

func appendPairs(b []byte, field uint32, pairs []weir.Pair) []byte {
	for _, p := range pairs {
		var pair int
		b, pair = pbwire.Open(b, field)
		b = pbwire.AppendText(b, 1, p.Name)
		b = pbwire.AppendText(b, 2, p.Value)
		b = pbwire.Close(b, pair)
	}
	return b
}

// appendHTTP appends the body of a POST /v1/check.
func appendHTTP(b []byte, r *weir.Request) []byte {
	body := struct {
		Domain     string            `json:"domain"`
		Dimensions map[string]string `json:"dimensions"`
		Cost       int64             `json:"cost,omitempty"`
		Mode       string            `json:"mode,omitempty"`
	}{Domain: r.Domain, Dimensions: map[string]string{}}
	for i := range r.Descriptors {
		for _, p := range r.Descriptors[i].Pairs {
			body.Dimensions[p.Name] = p.Value
		}
	}
	switch r.Cost {
	case 0:
		body.Mode = "peek"
	case 1:
	default:
		body.Cost = r.Cost
	}
	text, err := json.Marshal(body)
	if err != nil {
		return b // it cannot be: there are only texts and numbers
	}
	return append(b, text...)
}
