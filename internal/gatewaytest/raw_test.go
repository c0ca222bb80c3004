package gatewaytest

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// raw sends a request as it is written, which no HTTP client would, and returns
// the status of the answer; 0 when the connection was closed without one.
func raw(t *testing.T, ip, addr string, lines ...string) int {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}, Timeout: time.Minute}
	conn, err := dialer.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	lines = append(lines, "Host: "+addr, "Connection: close", "Content-Length: 0", "", "")
	if _, err := conn.Write([]byte(strings.Join(lines, "\r\n"))); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// testTargets: a request target that is no path and no address of one leads past
// Weir to nobody. To Go, x:http://a/healthcheck is an opaque address, and a proxy
// that writes another path into it still asks for /healthcheck, which says 200.
func (s *site) testTargets(t *testing.T) {
	const ip = "127.0.0.70"
	for target, odd := range map[string]bool{
		"x:http://a/healthcheck?route=login": true, "x:http://" + s.weir.HTTP + "/healthcheck": true, "http:http://a/healthcheck": true,
		"x:healthcheck": true, "http:": true, "http:?x": true, "x:": true, "*": true, "healthcheck": true, "?": true, "http://": true, "": true,
		"x:/healthcheck": false, "http://a": false, "http://a?x": false, // whose path is beyond doubt
	} {
		left := s.weir.Remaining("per-ip", "ip", ip)
		status := raw(t, ip, s.gateway.Addr(), "POST "+target+" HTTP/1.1")
		charged := left - s.weir.Remaining("per-ip", "ip", ip)
		if seen := s.backend.Take(); len(seen) > 0 && charged != 1 {
			t.Errorf("POST %s: %d, reached the backend as %s and was charged %d", target, status, seen[0].URI, charged)
		}
		if odd && !s.kind.lenient && status != http.StatusBadRequest {
			t.Errorf("POST %s: %d, want 400", target, status)
		}
	}
	// One that is the address of a path counts as that path.
	site := "http://" + s.gateway.Addr()
	for i, target := range []string{site + "/login", site + "/login", "HTTP" + site[4:] + "/x/../login", "/login"} {
		status := raw(t, "127.0.0.71", s.gateway.Addr(), "POST "+target+" HTTP/1.1")
		if seen := s.backend.Take(); len(seen) > 0 != (i == 0) {
			t.Errorf("POST %s: %d, the backend saw %+v of login %d", target, status, seen, i+1)
		}
	}
}

// TestStrayAnswer: a 200 that is no decision admits nobody, should a gateway be
// led to ask for something else. nginx cannot tell, and cannot be led.
func TestStrayAnswer(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{caddy, haproxy} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, k, patient, func(conf string) string {
				return strings.NewReplacer("/v1/auth?domain=default", "/healthcheck?x", "weir/v1/auth", "weir/healthcheck").Replace(conf)
			})
			if a := NewClient(t, "127.0.0.73").Get(s.gateway.Addr(), "/"); a.Status != http.StatusBadGateway {
				t.Errorf("%d %q, want 502", a.Status, a.Body)
			}
			if seen := s.backend.Take(); len(seen) != 0 {
				t.Errorf("the backend saw %+v", seen)
			}
		})
	}
}

// testTwoCredentials: who sends two credentials where one belongs is limited by
// the one that the backend sees, or refused; never by another, or by none.
func (s *site) testTwoCredentials(t *testing.T) {
	token := "Bearer " + s.issuer.token(claims("doubled"))
	const ip = "127.0.0.72"
	for _, c := range []struct {
		name  string
		lines []string
	}{
		{"junk first", []string{"X-Api-Key: junk", "X-Api-Key: " + apiKey}},
		{"junk last", []string{"X-Api-Key: " + apiKey, "X-Api-Key: junk"}},
		{"empty first", []string{"X-Api-Key:", "X-Api-Key: " + apiKey}},
		{"empty last", []string{"X-Api-Key: " + apiKey, "X-Api-Key:"}},
		{"another spelling", []string{"x-api-key: junk", "X-API-KEY: " + apiKey}},
		{"underscores", []string{"X_Api_Key: " + apiKey}},
		{"an underscore", []string{"X-Api_Key: " + apiKey}},
		{"another scheme first", []string{"Authorization: Basic eDp5", "Authorization: " + token}},
		{"another scheme last", []string{"Authorization: " + token, "Authorization: Basic eDp5"}},
		{"no token first", []string{"Authorization:", "Authorization: " + token}},
		{"a tab", []string{"Authorization: " + strings.Replace(token, " ", "\t", 1)}},
		{"lower case", []string{"authorization: " + strings.Replace(token, "Bearer ", "bearer  ", 1)}},
	} {
		tenants := map[string]string{apiKey: keyTenant, strings.Fields(token)[1]: "doubled"}
		before := map[string]int64{}
		for _, tenant := range tenants {
			before[tenant] = s.weir.Remaining("per-tenant", "tenant", tenant)
		}
		status := raw(t, ip, s.gateway.Addr(), append([]string{"GET / HTTP/1.1"}, c.lines...)...)
		for _, seen := range s.backend.Take() {
			for name, values := range seen.Header {
				for _, v := range values {
					for credential, tenant := range tenants {
						spent := before[tenant] - s.weir.Remaining("per-tenant", "tenant", tenant)
						if strings.Contains(v, credential) && (spent != 1 || len(values) != 1 || strings.Contains(name, "_")) {
							t.Errorf("%s: %d; the backend is shown %s's credential among %d of %s, and %d was charged", c.name, status, tenant, len(values), name, spent)
						}
					}
				}
			}
		}
	}
}
