package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestHTTP1AtTheGRPCListener: who takes it for that of HTTP is told, and what the
// port is for goes on. With the stock server grpc-go just closes.
func TestHTTP1AtTheGRPCListener(t *testing.T) {
	s := startServe(t, "--grpc-engine", engineFast)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodOptions} {
		body := io.Reader(http.NoBody)
		if method == http.MethodPost {
			body = strings.NewReader(strings.Repeat("x", 300<<10)) // more than is read of it
		}
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.addr(doorGRPC)+"/v1/check", body)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Errorf("%s: %v", method, err)
			continue
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusHTTPVersionNotSupported || method != http.MethodHead && !strings.Contains(string(text), "--http") {
			t.Errorf("%s: %v %v %s", method, resp.Status, err, text)
		}
		_ = resp.Body.Close()
	}
	if code, _, errs := weirRun(t, "check", "--timeout", "20s", "--addr", s.addr(doorGRPC), "--dimension", "tenant=acme"); code != exitOK {
		t.Errorf("a check afterwards: %d %s", code, errs)
	}
}

func TestIsHTTP1(t *testing.T) {
	for text, want := range map[string]bool{
		"GET / HTTP/1.1\r\n": true, "POST /v1/check HTTP/1.0\r\n": true, "DELETE *": true, "CONNECT x": true,
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n": false, "P": false, "GET": false, "GETTY ": false, "\x16\x03\x01\x02\x00\x01": false, "": false,
	} {
		if got := isHTTP1([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
