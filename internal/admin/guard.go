package admin

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// guard refuses what a browser sends on behalf of somebody else's page, and
// marks every answer as one to be neither kept, framed nor guessed at.
func guard(hosts []string, next http.Handler) http.Handler {
	allowed := make([]string, len(hosts))
	for i, h := range hosts {
		allowed[i] = hostname(h)
	}
	writes := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		// pprof's index has a style sheet of its own.
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		switch {
		case !known(r.Host, allowed):
			http.Error(w, fmt.Sprintf("this listener is not known as %q; use an IP address or localhost, or allow the name", r.Host), http.StatusForbidden)
		case foreign(r) || writes.Check(r) != nil:
			http.Error(w, "not for other sites' pages", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// known tells whether a request may be addressed to host. A page that has its
// own name resolve to this machine sends that name; it cannot send an address.
// Who sends no host at all is not a browser.
func known(host string, allowed []string) bool {
	name := hostname(host)
	if name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return slices.Contains(allowed, name) || slices.Contains(allowed, "*")
}

// hostname is a host without port, brackets and the dot of a full name.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// foreign tells whether another site's page asks, other than by a link that
// somebody follows. It could not read the answer, but have profiles made.
func foreign(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate"
}
