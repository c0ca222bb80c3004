package fastlane

import (
	"math"
	"time"
)

// head is what the header fields of a request say.
type head struct {
	handler   int // number of the handler plus 1; 0: none
	post      bool
	grpc      bool // a content type that is answered here
	coded     bool // messages may be compressed
	late      bool // the timeout is not one
	timeout   time.Duration
	length    int64 // content-length, -1: not said
	path      []byte
	method    []byte
	authority []byte
	malformed string // why, if it is
}

// noTimeout is that of a call without grpc-timeout.
const noTimeout = time.Duration(math.MaxInt64)

// fast tells whether the request is of the usual kind.
func (h *head) fast() bool {
	return h.handler != 0 && h.post && h.grpc && !h.coded && !h.late
}

// read makes a head of fields, by the rules of RFC 9113, 8.3.1.
func (h *head) read(fields []field) {
	*h = head{timeout: noTimeout, length: -1}
	var seen uint32 // pseudo-header fields, by kind
	regular := false
	for i := range fields {
		f := &fields[i]
		if f.kind-kindMethod <= kindAuthority-kindMethod {
			if regular || seen&(1<<f.kind) != 0 {
				h.malformed = "a pseudo-header field twice or too late"
				return
			}
			seen |= 1 << f.kind
		} else {
			regular = true
		}
		switch f.kind {
		case kindMethod:
			h.method, h.post = f.value, f.meaning != 0
		case kindPath:
			h.path, h.handler = f.value, int(f.meaning)
		case kindAuthority:
			h.authority = f.value
		case kindContentType:
			h.grpc = f.meaning != 0
		case kindEncoding:
			h.coded = f.meaning == 0
		case kindTimeout:
			h.timeout, h.late = time.Duration(f.meaning), f.meaning < 0
		case kindLength:
			if f.meaning < 0 || h.length >= 0 && h.length != f.meaning {
				h.malformed = "a bad content-length"
				return
			}
			h.length = f.meaning
		case kindBad, kindBadPseudo:
			h.malformed = "a field that may not be"
			return
		case kindOther, kindScheme, kindTE:
		}
	}
	const needed = 1<<kindMethod | 1<<kindScheme | 1<<kindPath
	if string(h.method) == "CONNECT" {
		h.malformed = "CONNECT is not served"
	} else if seen&needed != needed || len(h.path) == 0 || h.path[0] != '/' && string(h.path) != "*" {
		h.malformed = "no method, scheme or path"
	}
}

// goodTrailer tells whether fields may follow a body.
func goodTrailer(fields []field) bool {
	for i := range fields {
		if k := fields[i].kind; k-kindMethod <= kindAuthority-kindMethod || k >= kindBadPseudo {
			return false
		}
	}
	return true
}
