package forwardauth

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/weirlimit/weir"
)

// Bounds on what a gateway tells of a request.
const (
	maxMethod = 32
	maxHost   = 255
	maxPath   = 4 << 10
)

// Headers are the names under which a gateway tells of the request that it asks
// about, in the form that net/http keeps. The gateway must set them, or remove
// what a client sent.
type Headers struct {
	Method, Path []string // if several are there, they must agree
	Host         string   // empty for none
	RequestID    string   // empty, the default, for none
}

// DefaultHeaders are those of Caddy and Traefik, and those that nginx is usually
// told to send. A request id is the client's to choose, and one that is used
// twice is charged once: it is not read unless somebody says so.
func DefaultHeaders() Headers {
	return Headers{
		Method: []string{"X-Forwarded-Method", "X-Original-Method"},
		Path:   []string{"X-Forwarded-Uri", "X-Original-Uri"},
		Host:   "X-Forwarded-Host",
	}
}

// dimensions appends method, path and host, those that there are.
func (h *Headers) dimensions(in http.Header, dst []weir.Pair) ([]weir.Pair, error) {
	method, err := agreed(in, "method", h.Method, normalMethod)
	if err != nil {
		return dst, err
	}
	path, err := agreed(in, "path", h.Path, normalPath)
	if err != nil {
		return dst, err
	}
	host := ""
	if h.Host != "" {
		if host, err = agreed(in, "host", []string{h.Host}, normalHost); err != nil {
			return dst, err
		}
	}
	for _, p := range [...]weir.Pair{{Name: "method", Value: method}, {Name: "path", Value: path}, {Name: "host", Value: host}} {
		if p.Value != "" {
			dst = append(dst, p)
		}
	}
	return dst, nil
}

// valueHints say what a header should hold.
var valueHints = map[string]string{
	"method":     fmt.Sprintf("a method such as GET, of at most %d bytes", maxMethod),
	"path":       pathHint,
	"host":       fmt.Sprintf("one name, with or without a port, of at most %d bytes", maxHost),
	"request_id": fmt.Sprintf("at most %d bytes", weir.MaxIDBytes),
}

// agreed returns the value that the headers of these names have, empty for
// none. One that disagrees with another, or with itself, may be the client's.
func agreed(in http.Header, what string, names []string, normal func(string) (string, bool)) (string, error) {
	value, from := "", ""
	for _, name := range names {
		lines := in[name]
		if len(lines) > 1 {
			return "", invalid(what, "let the gateway replace the header, not add to it", "%s is there %d times", name, len(lines))
		}
		if len(lines) == 0 || lines[0] == "" {
			continue
		}
		v, ok := normal(lines[0])
		switch {
		case !ok:
			return "", invalid(what, valueHints[what], "%s is malformed or too long", name)
		case from != "" && v != value:
			return "", invalid(what, "name the one that the gateway sets in auth."+what+"_headers of the file that --identity names",
				"%s and %s disagree: one of them may be the client's own", from, name)
		}
		value, from = v, name
	}
	return value, nil
}

func (h *Headers) requestID(in http.Header) (string, error) {
	if h.RequestID == "" {
		return "", nil
	}
	return agreed(in, "request_id", []string{h.RequestID}, func(s string) (string, bool) { return s, len(s) <= weir.MaxIDBytes })
}

// normalMethod is in upper case. Methods differ by case, but gateways pass post
// on, and there are servers that take it for POST: a limit is not escaped by it.
func normalMethod(s string) (string, bool) { return strings.ToUpper(s), isMethod(s) }

func isMethod(s string) bool {
	if len(s) > maxMethod {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// normalHost drops the port and a last dot, and is in lower case.
func normalHost(s string) (string, bool) {
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		s = s[:i]
	}
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	return s, s != "" && len(s) <= maxHost && !strings.ContainsAny(s, " \t,/")
}
