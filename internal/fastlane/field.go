package fastlane

import (
	"math"
	"strings"
	"time"
)

// kind is what a header field is to this server.
type kind uint8

const (
	kindOther kind = iota
	kindMethod
	kindScheme
	kindPath
	kindAuthority
	kindContentType
	kindTE
	kindTimeout
	kindEncoding
	kindLength
	kindBadPseudo // begins with a colon and is none of the above
	kindBad       // makes the request malformed
)

// field is a header field with what became of it: its value is looked at once,
// when it is received, however often a table entry is referred to.
type field struct {
	name, value []byte
	kind        kind
	// meaning, by kind: method: 1 if POST; path: the number of the handler
	// plus 1; content type: 1 if plain gRPC; encoding: 1 if identity; timeout in
	// nanoseconds and length in bytes, -1 if they are not numbers.
	meaning int64
}

// size is that of RFC 7541, 4.1.
func (f *field) size() int { return len(f.name) + len(f.value) + 32 }

// names are the handlers' numbers by path.
type names map[string]int

// classify fills in kind and meaning.
func (f *field) classify(methods names) {
	f.kind, f.meaning = kindOther, 0
	if len(f.name) > 0 && f.name[0] == ':' {
		f.classifyPseudo(methods)
	} else {
		f.classifyRegular()
	}
	if !validValue(f.value) {
		f.kind = kindBad
	}
}

func (f *field) classifyPseudo(methods names) {
	switch string(f.name) {
	case ":method":
		f.kind, f.meaning = kindMethod, truth(string(f.value) == "POST")
	case ":scheme":
		f.kind = kindScheme
	case ":path":
		f.kind = kindPath
		if i, ok := methods[string(f.value)]; ok {
			f.meaning = int64(i) + 1
		}
	case ":authority":
		f.kind = kindAuthority
	default:
		f.kind = kindBadPseudo
	}
}

func (f *field) classifyRegular() {
	switch string(f.name) {
	case "content-type":
		f.kind = kindContentType
		f.meaning = truth(string(f.value) == "application/grpc" || string(f.value) == "application/grpc+proto")
	case "te":
		f.kind = kindTE
		if string(f.value) != "trailers" {
			f.kind = kindBad
		}
	case "grpc-timeout":
		f.kind, f.meaning = kindTimeout, int64(parseTimeout(f.value))
	case "grpc-encoding":
		f.kind, f.meaning = kindEncoding, truth(string(f.value) == "identity")
	case "content-length":
		f.kind, f.meaning = kindLength, parseLength(f.value)
	case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
		f.kind = kindBad // RFC 9113, 8.2.2: of a connection, which HTTP/2 manages itself
	default:
		if !validName(f.name) {
			f.kind = kindBad
		}
	}
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// tokens are the bytes of field names: RFC 9110's, without the upper case.
var tokens = func() (t [256]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz" {
		t[c] = true
	}
	return t
}()

func validName(name []byte) bool {
	for _, c := range name {
		if !tokens[c] {
			return false
		}
	}
	return len(name) > 0
}

func validValue(value []byte) bool {
	for _, c := range value {
		if c == 0 || c == '\r' || c == '\n' {
			return false
		}
	}
	return true
}

// parseTimeout reads a grpc-timeout: up to eight digits and a unit. It is -1 if
// it is none, and at most the longest duration there is.
func parseTimeout(b []byte) time.Duration {
	if len(b) < 2 || len(b) > 9 {
		return -1
	}
	n := parseLength(b[:len(b)-1])
	i := strings.IndexByte("numSMH", b[len(b)-1])
	if n < 0 || i < 0 {
		return -1
	}
	unit := [...]time.Duration{
		time.Nanosecond, time.Microsecond, time.Millisecond, time.Second, time.Minute, time.Hour,
	}[i]
	if n > math.MaxInt64/int64(unit) {
		return math.MaxInt64
	}
	return time.Duration(n) * unit
}

// parseLength reads a number of digits only, -1 if it is none.
func parseLength(b []byte) int64 {
	if len(b) == 0 || len(b) > 18 {
		return -1
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int64(c-'0')
	}
	return n
}
