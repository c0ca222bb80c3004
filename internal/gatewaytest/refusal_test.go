package gatewaytest

import (
	"net/http"
	"testing"
)

// oddPolicies are in Envoy's format: a limit of 0, of which nothing is told in
// fields, and a name that JSON has to escape.
const oddPolicies = `
domain: default
descriptors:
  - key: ip
    descriptors:
      - key: method
        value: GET
        descriptors:
          - key: path
            value: /banned
            descriptors: [{key: host, rate_limit: {unit: hour, requests_per_unit: 0}}]
          - key: path
            value: /a"b
            descriptors: [{key: host, rate_limit: {unit: hour, requests_per_unit: 1}}]
`

// TestRefusalIsAProblem: whatever the policy that denies is called, and whether
// or not it has a limit to tell of, the body of the refusal is JSON.
func TestRefusalIsAProblem(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{nginx, caddy, haproxy} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s := newSiteWith(t, k, oddPolicies, nil, patient)
			c := NewClient(t, "127.0.0.61")
			c.Get(s.gateway.Addr(), "/a%22b")
			for _, path := range []string{"/banned", "/a%22b"} {
				a := c.Get(s.gateway.Addr(), path)
				if a.Status != http.StatusTooManyRequests {
					t.Errorf("%s: %d, want 429", path, a.Status)
					continue
				}
				if p := readProblem(t, a); path == "/banned" && (p.Error.RetryAfter != nil || p.Error.Code != "never") {
					t.Errorf("%s", a.Body)
				}
			}
		})
	}
}

// methodPolicies look at the method by itself.
const methodPolicies = `
policies:
  - {id: posts, match: {method: POST}, by: [ip], limits: [1/h], on_failure: open}
  - {id: per-method, by: [ip, method], limits: [2/h], on_failure: open}
`

// TestMethodInOtherLetters: who writes post for POST, as some backends do not
// mind, has no other limit for it. nginx refuses such methods.
func TestMethodInOtherLetters(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{nginx, caddy, haproxy} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s := newSiteWith(t, k, methodPolicies, nil, patient)
			c := NewClient(t, "127.0.0.62")
			checkAdmitted(t, c.Do("POST", s.gateway.Addr(), "/", nil))
			for _, method := range []string{"POST", "post", "pOst"} {
				if a := c.Do(method, s.gateway.Addr(), "/", nil); a.Status < 400 {
					t.Errorf("%s passed: %d", method, a.Status)
				}
			}
		})
	}
}
