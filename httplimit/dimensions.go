package httplimit

import (
	"net/http"
	"net/netip"
	"unicode/utf8"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admission"
)

// Dimensions appends what tells requests apart to dst, such as tenant=acme. An
// error refuses the request with 400, unless it is a *weir.Error whose code is
// temporary: that is a checker which cannot decide.
type Dimensions func(r *http.Request, dst []weir.Pair) ([]weir.Pair, error)

// MaxValueBytes is the longest value of a dimension, 4096 bytes; a server takes no
// longer ones. What stands for one that is longer, be it a path, is its beginning
// and its end, 2012 bytes each, and between them sha256: and the digest of the
// whole.
const MaxValueBytes = admission.MaxValueBytes

// Header makes a dimension of a header field. A request without the field does
// not have the dimension; one that has it twice, or with a value that is no
// UTF-8, is refused.
//
// It believes what the field says: use it only behind a gateway that sets the
// field itself, whatever the client sent. Where clients connect directly they
// would choose whose quota they spend.
func Header(dimension, field string) Dimensions {
	key := http.CanonicalHeaderKey(field)
	f := admission.Field{Dimension: dimension, Kind: "header field", Name: key}
	return func(r *http.Request, dst []weir.Pair) ([]weir.Pair, error) { return f.Append(dst, r.Header[key]) }
}

// PathValue makes a dimension of a wildcard of the pattern that the
// http.ServeMux matched, under the wildcard's name: /tenants/{tenant}/ gives
// tenant. Wrap the handler that is registered with the pattern, not the mux:
// around the mux nothing is matched yet.
//
// The caller chooses the path. Use it for what is named there and checked by
// the handler, not for who is asking.
func PathValue(name string) Dimensions {
	return func(r *http.Request, dst []weir.Pair) ([]weir.Pair, error) {
		v := r.PathValue(name)
		switch {
		case v == "":
			return dst, nil
		case !utf8.ValidString(v):
			return dst, admission.Invalid(name, "the path's value is not UTF-8", "encode it as UTF-8")
		}
		return append(dst, weir.Pair{Name: name, Value: v}), nil
	}
}

// Constant makes a dimension that is the same for all requests, such as the
// region this process runs in.
func Constant(dimension, value string) Dimensions {
	return func(_ *http.Request, dst []weir.Pair) ([]weir.Pair, error) {
		return append(dst, weir.Pair{Name: dimension, Value: value}), nil
	}
}

// RemoteIP makes the dimension ip of the address that the connection comes
// from, which nobody can forge. An IPv6 address counts by its /64, which is
// what a customer of a network is given. Behind a proxy it is the proxy's
// address: take the client's from the proxy there.
func RemoteIP() Dimensions {
	return func(r *http.Request, dst []weir.Pair) ([]weir.Pair, error) {
		ip := remoteIP(r.RemoteAddr)
		if ip == "" {
			return dst, admission.Invalid("ip", "the connection has no IP address", "use another dimension than httplimit.RemoteIP")
		}
		return append(dst, weir.Pair{Name: "ip", Value: ip}), nil
	}
}

// remoteIP returns the address of "address:port". Of IPv4, as net/http writes
// it, it is a part of the text, and nothing is allocated. Empty for no address.
func remoteIP(hostport string) string {
	if host, ok := plainIPv4(hostport); ok {
		return host
	}
	ap, _ := netip.ParseAddrPort(hostport)
	return admission.Network(ap.Addr())
}

// plainIPv4 cuts the port off a text that has nothing but digits and dots
// before it, as only an IPv4 address does that a listener gave.
func plainIPv4(hostport string) (string, bool) {
	for i, c := range []byte(hostport) {
		switch {
		case c == ':':
			return hostport[:i], i >= len("1.1.1.1") && i <= len("255.255.255.255")
		case c != '.' && (c < '0' || c > '9'):
			return "", false
		}
	}
	return "", false
}
