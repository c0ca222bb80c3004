package rls

import (
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pbwire"
)

// appendResponse appends the decision on r as a RateLimitResponse, as protobuf
// would write what response returns.
func (s *Server) appendResponse(b []byte, r *weir.Request, d *weir.Decision) ([]byte, error) {
	if s.opts.Metadata && hasMetadata(d) {
		return proto.MarshalOptions{}.MarshalAppend(b, s.response(r, d))
	}
	b = pbwire.AppendInt(b, 1, int64(codeOf(d.Allowed())))
	var least status
	for i := range r.Descriptors {
		st := statusOf(d, i)
		b = st.append(b)
		if s.opts.Headers.Enabled {
			least.keepLeast(&st)
		}
	}
	if least.limited {
		h := &s.opts.Headers
		b = appendHeader(b, h.Limit, int64(least.perUnit))
		b = appendHeader(b, h.Remaining, int64(least.remaining))
		b = appendHeader(b, h.Reset, weir.MicrosOf(least.reset).Seconds())
	}
	if seconds, ok := retryLater(d); ok {
		b = appendHeader(b, retryAfter, seconds)
	}
	return b, nil
}

func hasMetadata(d *weir.Decision) bool {
	for i := range d.Matched {
		if len(d.Matched[i].Metadata) > 0 {
			return true
		}
	}
	return false
}

// append appends s as an element of statuses.
func (s *status) append(b []byte) []byte {
	b, from := pbwire.Open(b, 2)
	b = pbwire.AppendInt(b, 1, int64(s.code))
	if s.limited {
		inner, at := pbwire.Open(b, 2)
		inner = pbwire.AppendUint(inner, 1, uint64(s.perUnit))
		inner = pbwire.AppendInt(inner, 2, int64(s.unit))
		b = pbwire.Close(pbwire.AppendText(inner, 3, s.name), at)
	}
	b = pbwire.AppendUint(b, 3, uint64(s.remaining))
	if s.timed {
		inner, at := pbwire.Open(b, 4)
		inner = pbwire.AppendInt(inner, 1, int64(s.reset/time.Second))
		b = pbwire.Close(pbwire.AppendInt(inner, 2, int64(s.reset%time.Second)), at)
	}
	return pbwire.Close(b, from)
}

// appendHeader appends an element of response_headers_to_add.
func appendHeader(b []byte, key string, n int64) []byte {
	b, from := pbwire.Open(b, 3)
	b = pbwire.AppendText(b, 1, key)
	b, at := pbwire.Open(b, 2)
	b = pbwire.Close(strconv.AppendInt(b, n, 10), at)
	return pbwire.Close(b, from)
}
