package identity_test

import (
	"net/http"
	"testing"

	"github.com/weirlimit/weir/identity"
)

// TestRequiredKeyBesideToken: a request with a good key is one with a good key,
// whatever else it brings.
func TestRequiredKeyBesideToken(t *testing.T) {
	for _, tc := range []struct {
		name string
		h    http.Header
		want string
	}{
		{"a good token and a good key", header("Authorization", "Bearer good", "X-Api-Key", "secret"), ""},
		{"a good token and a bad key", header("Authorization", "Bearer good", "X-Api-Key", "guess"), "api_key: unknown_key"},
		{"a good token and no key", header("Authorization", "Bearer good"), "api_key: missing"},
	} {
		r := resolver(t, identity.Options{
			ClientIP: identity.ClientIP{Header: identity.NoHeader},
			Tokens:   words{}, Keys: keys(t), KeyRequired: true,
		})
		pairs, err := r.Dimensions(&http.Request{RemoteAddr: loop, Header: tc.h}, nil)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q (%s)", tc.name, got, tc.want, text(pairs))
		}
		if err == nil && text(pairs) != jwtPairs+" ip=127.0.0.1" {
			t.Errorf("%s: %s", tc.name, text(pairs))
		}
	}
}
