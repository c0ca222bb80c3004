package token_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/identity/token"
)

const patience = 20 * time.Second

// provider is a server of keys on loopback that can be stopped and started
// again on the same address.
type provider struct {
	t    *testing.T
	addr string
	srv  *http.Server
	got  atomic.Int64 // requests
	mu   sync.Mutex
	doc  []byte
}

func newProvider(t *testing.T, doc []byte) *provider {
	t.Helper()
	p := &provider{t: t, addr: "127.0.0.1:0", doc: doc}
	p.start()
	t.Cleanup(func() { _ = p.srv.Close() })
	return p
}

func (p *provider) start() {
	p.t.Helper()
	var l net.Listener
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if l, err = net.Listen("tcp", p.addr); err == nil {
			break
		}
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.addr = l.Addr().String()
	srv := &http.Server{Handler: p}
	p.srv = srv
	go func() { _ = srv.Serve(l) }()
}

func (p *provider) stop() { _ = p.srv.Close() }

func (p *provider) publish(doc []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doc = doc
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.got.Add(1)
	p.mu.Lock()
	doc := p.doc
	p.mu.Unlock()
	switch r.URL.Path {
	case "/redirect":
		http.Redirect(w, r, "/keys", http.StatusFound)
	case "/broken":
		http.Error(w, "no", http.StatusInternalServerError)
	case "/large":
		_, _ = w.Write([]byte(strings.Repeat(" ", token.MaxJWKS+1)))
	case "/slow":
		<-r.Context().Done()
	default:
		_, _ = w.Write(doc)
	}
}

func (p *provider) remote(path string, change ...func(*token.RemoteOptions)) *token.Remote {
	p.t.Helper()
	o := token.RemoteOptions{URL: "http://" + p.addr + path, Retry: 20 * time.Millisecond, Timeout: patience}
	for _, c := range change {
		c(&o)
	}
	r, err := token.NewRemote(o)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// watch follows a remote until the test ends, and returns what it is told.
func watch(t *testing.T, r *token.Remote) chan error {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	told, ended := make(chan error, 100), make(chan struct{})
	go func() {
		r.Watch(ctx, func(err error) { told <- err })
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return told
}

func await(t *testing.T, told chan error) error {
	t.Helper()
	select {
	case err := <-told:
		return err
	case <-time.After(patience):
		t.Fatal("nothing is told")
		return nil
	}
}

// awaitGood waits for a fetch that works; others may fail in several ways before.
func awaitGood(t *testing.T, told chan error) {
	t.Helper()
	for await(t, told) != nil {
	}
}

// TestProviderDown: its keys stay while it is away, and it is found again.
func TestProviderDown(t *testing.T) {
	p := newProvider(t, document())
	r := p.remote("/keys")
	v := verifier(t, options(r))
	check(t, "before the first fetch", v, good(t, claims), identity.NoKeys)
	told := watch(t, r)
	if err := await(t, told); err != nil {
		t.Fatal(err)
	}
	check(t, "with keys", v, good(t, claims), identity.None)
	p.stop()
	r.Reload()
	if err := await(t, told); err == nil {
		t.Fatal("a provider that is away is no error")
	}
	check(t, "while the provider is away", v, good(t, claims), identity.None)
	check(t, "another token, while it is", v, good(t, claims.with(fields{"sub": "bob"})), identity.None)
	p.start()
	awaitGood(t, told) // it tries again by itself, and says that all is well
}

// TestProviderDownAtTheStart: keys come when it does.
func TestProviderDownAtTheStart(t *testing.T) {
	p := newProvider(t, document())
	p.stop()
	r := p.remote("/keys")
	told := watch(t, r)
	if err := await(t, told); err == nil {
		t.Fatal("no error")
	}
	p.start()
	awaitGood(t, told)
	check(t, "with keys", verifier(t, options(r)), good(t, claims), identity.None)
}

// TestRotation: a token of a new key is not believed, and makes the new keys be
// fetched; one of a key that is gone is not believed any more.
func TestRotation(t *testing.T) {
	p := newProvider(t, jwks(publicJWK("rsa", rsaKey().Public())))
	r := p.remote("/keys")
	v := verifier(t, options(r))
	told := watch(t, r)
	if err := await(t, told); err != nil {
		t.Fatal(err)
	}
	check(t, "the old key", v, good(t, claims), identity.None)
	p.publish(jwks(publicJWK("next", otherRSA().Public())))
	next := sign(jwt.SigningMethodRS256, otherRSA(), "next", claims)
	check(t, "the new key, at first", v, next, identity.UnknownKey)
	if err := await(t, told); err != nil {
		t.Fatal(err)
	}
	check(t, "the new key, then", v, next, identity.None)
	check(t, "the old key, then", v, good(t, claims), identity.UnknownKey)
	// What is published by mistake does not take the keys away.
	p.publish([]byte("<html>maintenance</html>"))
	r.Reload()
	if err := await(t, told); err == nil {
		t.Error("a page of HTML is no error")
	}
	check(t, "after a bad document", v, next, identity.None)
}

// TestUnknownKeysAskSeldom: however many tokens name unknown keys, the provider
// is asked once per interval.
func TestUnknownKeysAskSeldom(t *testing.T) {
	p := newProvider(t, document())
	r := p.remote("/keys", func(o *token.RemoteOptions) { o.Retry = time.Hour })
	v := verifier(t, options(r))
	told := watch(t, r)
	if err := await(t, told); err != nil {
		t.Fatal(err)
	}
	unknown := sign(jwt.SigningMethodRS256, rsaKey(), "nosuch", claims)
	for range 1000 {
		check(t, "unknown", v, unknown, identity.UnknownKey)
	}
	r.Reload() // an event to wait for, after all that was asked before
	for end := time.Now().Add(patience); p.got.Load() < 2 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := p.got.Load(); n != 2 {
		t.Errorf("the provider was asked %d times, want 2", n)
	}
}

func TestSameKeysStay(t *testing.T) {
	p := newProvider(t, document())
	r := p.remote("/keys")
	if changed, err := r.Fetch(t.Context()); !changed || err != nil {
		t.Fatal(changed, err)
	}
	keys := r.Keys()
	if changed, err := r.Fetch(t.Context()); changed || err != nil || r.Keys() != keys {
		t.Errorf("%v, %v", changed, err)
	}
}

func TestBadProviders(t *testing.T) {
	p := newProvider(t, document())
	for path, want := range map[string]string{"/redirect": "redirects", "/broken": "500", "/large": "more than"} {
		r := p.remote(path)
		if _, err := r.Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), want) || r.Keys() != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	r := p.remote("/slow", func(o *token.RemoteOptions) { o.Timeout = 20 * time.Millisecond })
	_, err := r.Fetch(t.Context())
	if e, ok := errors.AsType[net.Error](err); !ok || !e.Timeout() {
		t.Errorf("a slow provider: %v", err)
	}
}

func TestRemoteOptions(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://idp.example/keys": true, "http://127.0.0.1:1/keys": true, "http://[::1]/keys": true, "http://localhost/keys": true,
		"http://idp.example/keys": false, "http://127.0.0.1.evil.example/": false, "ftp://127.0.0.1/": false, "file:///keys": false,
		"": false, "idp.example/keys": false, "https://user:pass@idp.example/": false, "http://192.0.2.1/": false, "https:opaque": false,
	} {
		_, err := token.NewRemote(token.RemoteOptions{URL: url})
		if (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "pass@") {
			t.Errorf("the error repeats a password: %v", err)
		}
	}
	for name, o := range map[string]token.RemoteOptions{
		"refresh": {Refresh: time.Second}, "retry": {Retry: 2 * time.Hour}, "timeout": {Timeout: time.Hour}, "roots": {Roots: []byte("x")},
	} {
		o.URL = "https://idp.example"
		if _, err := token.NewRemote(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
