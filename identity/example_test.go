package identity_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/weirlimit/weir/identity"
)

// A gateway on loopback passes a client's request on. What the client put into
// X-Forwarded-For itself stands left of what the gateway appended.
func ExampleResolver_Dimensions() {
	keys, err := identity.NewKeys([]identity.Key{
		{Digest: sha256.Sum256([]byte("weir_example")), ID: "acme-prod", Tenant: "acme", Plan: "pro"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := identity.New(identity.Options{Keys: keys})
	if err != nil {
		fmt.Println(err)
		return
	}
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	req.RemoteAddr = "127.0.0.1:4711"
	req.Header.Set("X-Api-Key", "weir_example")
	req.Header.Set("X-Forwarded-For", "6.6.6.6, 2001:db8:1:2:3:4:5:6")
	pairs, err := r.Dimensions(req, nil)
	for _, p := range pairs {
		fmt.Println(p.Name, p.Value)
	}
	fmt.Println(err)
	// Output:
	// tenant acme
	// plan pro
	// api_key acme-prod
	// ip 2001:db8:1:2::/64
	// <nil>
}

func ExampleParseNetworks() {
	n, err := identity.ParseNetworks([]string{"10.0.0.0/8", "2001:db8::/32"})
	fmt.Println(n.Has(identity.PeerAddr("10.1.2.3:80")), n.Has(identity.PeerAddr("192.0.2.1:80")), err)
	_, err = identity.ParseNetworks([]string{"10.0.0.1/8"})
	fmt.Println(err)
	// Output:
	// true false <nil>
	// networks: 10.0.0.1/8 has bits beyond its prefix (did you mean 10.0.0.0/8?)
}
