package token

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// RemoteOptions say where keys are fetched, and how often.
type RemoteOptions struct {
	URL string // https, or http on loopback
	// Refresh is how old keys may become: 1 minute to a day; 0 is 15 minutes.
	Refresh time.Duration
	// Retry is the least time between two fetches: after a failure, and for
	// tokens with a kid that is not known. 0 is 30 seconds.
	Retry time.Duration
	// Timeout is the longest a fetch takes; 0 is 5 seconds.
	Timeout time.Duration
	// Roots are the authorities to trust instead of the system's, in PEM form.
	Roots []byte
}

// check fills in defaults.
func (o *RemoteOptions) check() error {
	for _, d := range []struct {
		value     *time.Duration
		or        time.Duration
		low, high time.Duration
		field     string
	}{
		{&o.Refresh, 15 * time.Minute, time.Minute, 24 * time.Hour, "jwt.jwks_refresh"},
		{&o.Retry, 30 * time.Second, time.Millisecond, time.Hour, "jwt.jwks_retry"},
		{&o.Timeout, 5 * time.Second, time.Millisecond, time.Minute, "jwt.jwks_timeout"},
	} {
		if *d.value == 0 {
			*d.value = d.or
		}
		if *d.value < d.low || *d.value > d.high {
			return invalid(d.field, "", "%v is not %v to %v", *d.value, d.low, d.high)
		}
	}
	return checkURL(o.URL)
}

// checkURL wants a connection that nobody on the way can change.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return invalid("jwt.jwks_url", "for example https://idp.example/.well-known/jwks.json", "is no URL")
	case u.User != nil:
		return invalid("jwt.jwks_url", "public keys need none", "has a password or a user")
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return invalid("jwt.jwks_url", "use https: who can change the keys can make tokens", "has the scheme %q, and its host is not loopback", u.Scheme)
}

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// Remote is keys that are fetched from their provider. It has none until the
// first fetch succeeds; from then on it always has the last good ones.
type Remote struct {
	o      RemoteOptions
	client *http.Client
	keys   atomic.Pointer[KeySet]
	missed chan struct{}
	kick   chan struct{}

	mu struct {
		sync.Mutex
		sum [sha256.Size]byte // of the document that the keys are from
	}
}

var _ Source = (*Remote)(nil)

// NewRemote checks the options. It fetches nothing yet.
func NewRemote(o RemoteOptions) (*Remote, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	roots, err := rootsOf(o.Roots)
	if err != nil {
		return nil, err
	}
	r := &Remote{o: o, missed: make(chan struct{}, 1), kick: make(chan struct{}, 1)}
	r.client = &http.Client{
		Timeout: o.Timeout,
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: o.Timeout}).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
			DisableKeepAlives:      true, // one request in a while
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
	return r, nil
}

var errRedirect = errors.New("the provider redirects; give the address that it redirects to")

func rootsOf(pem []byte) (*x509.CertPool, error) {
	if len(pem) == 0 {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, invalid("jwt.jwks_ca", "", "holds no certificate in PEM form")
	}
	return pool, nil
}

// Retry is the least time between two fetches.
func (r *Remote) Retry() time.Duration { return r.o.Retry }

// Keys implements Source.
func (r *Remote) Keys() *KeySet { return r.keys.Load() }

// Missed implements Source: it asks for a refresh, which Watch makes no sooner
// than Retry after the one before.
func (r *Remote) Missed() { signal(r.missed) }

// Reload asks for a refresh at once, for somebody who knows.
func (r *Remote) Reload() { signal(r.kick) }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Fetch fetches the keys now. An error leaves those of before.
func (r *Remote) Fetch(ctx context.Context) (changed bool, err error) {
	data, err := r.get(ctx)
	if err != nil {
		return false, fmt.Errorf("fetch keys: %w", err)
	}
	sum := sha256.Sum256(data)
	r.mu.Lock()
	defer r.mu.Unlock()
	if sum == r.mu.sum && r.keys.Load() != nil {
		return false, nil // the same pointer, so that what was verified stays known
	}
	set, err := ParseJWKS(data)
	if err != nil {
		return false, err
	}
	r.mu.sum = sum
	r.keys.Store(set)
	return true, nil
}

func (r *Remote) get(ctx context.Context) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.o.URL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %d", r.o.URL, resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, MaxJWKS+1))
	if err == nil && len(data) > MaxJWKS {
		err = fmt.Errorf("%s answers with more than %d bytes", r.o.URL, MaxJWKS)
	}
	return data, err
}
