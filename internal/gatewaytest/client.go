package gatewaytest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// plain keeps no connections: a server that is stopped has nobody to wait for.
var plain = &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}

// Client is somebody who calls a gateway from an address of loopback of his own:
// all of 127.0.0.0/8 is there without any set-up on Linux.
type Client struct {
	t    testing.TB
	http *http.Client
}

// NewClient returns a client with an address, such as 127.0.0.2.
func NewClient(t testing.TB, ip string) *Client {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	return &Client{t: t, http: &http.Client{
		Timeout: time.Minute,
		Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, addr)
		}},
	}}
}

// Answer is a response that was read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Do sends a request to addr and reads the answer. The headers come in pairs of
// name and value; one that comes twice is sent twice.
func (c *Client) Do(method, addr, path string, body io.Reader, headers ...string) Answer {
	c.t.Helper()
	a, err := c.try(method, addr, path, body, headers...)
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

// try is Do, and safe for concurrent use.
func (c *Client) try(method, addr, path string, body io.Reader, headers ...string) (Answer, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, "http://"+addr+path, body)
	if err != nil {
		return Answer{}, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return Answer{resp.StatusCode, resp.Header, string(text)}, nil
}

// Get is Do for the most common of requests.
func (c *Client) Get(addr, path string, headers ...string) Answer {
	c.t.Helper()
	return c.Do(http.MethodGet, addr, path, nil, headers...)
}
