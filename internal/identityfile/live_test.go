package identityfile_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/identityfile"
)

const patience = 20 * time.Second

func write(t *testing.T, path, text string) {
	t.Helper()
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
}

// live opens a file and follows it until the test ends.
func live(t *testing.T, path string) (*identityfile.Live, chan error) {
	t.Helper()
	l, err := identityfile.Open(t.Context(), path, identityfile.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	return l, follow(t, l)
}

// follow follows the files until the test ends, and returns what is told.
func follow(t *testing.T, l *identityfile.Live) chan error {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	told, ended := make(chan error, 100), make(chan struct{})
	go func() {
		l.Watch(ctx, func(err error) { told <- err })
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

// who returns the dimensions of a request from loopback.
func who(l *identityfile.Live, header ...string) string {
	r := &http.Request{RemoteAddr: "127.0.0.1:1", Header: http.Header{}}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	pairs, err := l.Settings().Resolver.Dimensions(r, nil)
	var s []string
	for _, p := range pairs {
		s = append(s, p.Name+"="+p.Value)
	}
	if err != nil {
		s = append(s, err.Error())
	}
	return strings.Join(s, " ")
}

// TestFollowsItsFiles: the file and the file of keys, each good and bad.
func TestFollowsItsFiles(t *testing.T) {
	dir := t.TempDir()
	path, keys := filepath.Join(dir, "identity.yaml"), filepath.Join(dir, "keys.yaml")
	entry := "- {id: k, sha256: " + digest + ", tenant: %s}\n"
	write(t, keys, "keys:\n"+fmt.Sprintf(entry, "one"))
	write(t, path, "api_keys: {file: keys.yaml}\n")
	l, told := live(t, path)
	is := func(want string) {
		t.Helper()
		if got := who(l, "X-Api-Key", "test", "X-Tenant", "peer", "X-Forwarded-For", "203.0.113.7"); got != want+"ip=203.0.113.7" {
			t.Errorf("%q, want %q", got, want)
		}
	}
	is("tenant=one api_key=k ")

	step := func(path, text string, good bool, want string) {
		t.Helper()
		write(t, path, text)
		l.Reload()
		if err := await(t, told); (err == nil) != good {
			t.Errorf("%v", err)
		}
		is(want)
	}
	step(keys, "keys:\n"+fmt.Sprintf(entry, "two"), true, "tenant=two api_key=k ")
	step(keys, "keys: broken\n", false, "tenant=two api_key=k ")
	step(path, "api_keys: {file: absent.yaml}\n", false, "tenant=two api_key=k ")
	step(path, "api_key: {}\n", false, "tenant=two api_key=k ")
	step(path, "tenant_header: X-Tenant\n", true, "tenant=peer ")
	// A version that waits for another file comes into force with it.
	step(path, "api_keys: {file: later.yaml}\n", false, "tenant=peer ")
	step(filepath.Join(dir, "later.yaml"), "keys:\n"+fmt.Sprintf(entry, "three"), true, "tenant=three api_key=k ")
}

func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "identity.yaml")
	write(t, filepath.Join(dir, "short"), "canary\n")
	for _, text := range []string{
		"", "x: 1", "api_keys: {file: absent.yaml}",
		"jwt: {issuer: i, audience: a, jwks_file: absent.json}", "jwt: {issuer: i, audience: a, jwks_file: short}",
		"jwt: {issuer: i, audience: a, secret_file: short}", "jwt: {issuer: i, audience: a, jwks_url: 'https://h', jwks_ca_file: short}",
	} {
		write(t, path, text)
		_, err := identityfile.Open(t.Context(), path, identityfile.Hooks{})
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := identityfile.Open(t.Context(), filepath.Join(dir, "absent"), identityfile.Hooks{}); err == nil {
		t.Error("no such file")
	}
}

func jwks(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	return fmt.Sprintf(`{"keys": [{"kty": "EC", "crv": "P-256", "kid": "1", "x": %q, "y": %q}]}`, b64(raw[1:33]), b64(raw[33:]))
}

// TestFilesOfTokens: a JWKS document and a secret are read and followed. A
// token that is no token tells whether tokens are looked at.
func TestFilesOfTokens(t *testing.T) {
	dir := t.TempDir()
	path, set, secret := filepath.Join(dir, "identity.yaml"), filepath.Join(dir, "jwks.json"), filepath.Join(dir, "secret")
	write(t, set, jwks(t))
	write(t, secret, strings.Repeat("s", 32)+"\n")
	write(t, path, "jwt: {issuer: i, audience: a, jwks_file: jwks.json, required: true}\n")
	l, told := live(t, path)
	if got := who(l, "Authorization", "Bearer x"); !strings.HasSuffix(got, "jwt: malformed") {
		t.Error(got)
	}
	write(t, set, jwks(t))
	l.Reload()
	if err := await(t, told); err != nil {
		t.Error(err)
	}
	write(t, set, "{}")
	l.Reload()
	if err := await(t, told); err == nil || !strings.Contains(err.Error(), "jwks.json") {
		t.Error(err)
	}
	write(t, path, "jwt: {issuer: i, audience: a, secret_file: secret, required: true}\n")
	l.Reload()
	if err := await(t, told); err != nil {
		t.Error(err)
	}
	if got := who(l, "Authorization", "Bearer x"); !strings.HasSuffix(got, "jwt: malformed") {
		t.Error(got)
	}
}

// TestAnEditKeepsTheProvidersKeys: a change elsewhere in the file does not lose
// what was fetched, and a provider that is not there keeps a version out.
func TestAnEditKeepsTheProvidersKeys(t *testing.T) {
	doc := jwks(t)
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, doc) }))
	defer p.Close()
	path := filepath.Join(t.TempDir(), "identity.yaml")
	const config = "jwt: {issuer: i, audience: %s, jwks_url: '%s', required: true}\n"
	write(t, path, fmt.Sprintf(config, "a", p.URL))
	l, told := live(t, path)
	p.Close()
	has := func(name string) {
		t.Helper()
		// With keys a token of the algorithm none is refused for that, without
		// for the keys.
		if got := who(l, "Authorization", "Bearer eyJhbGciOiJub25lIn0.e30."); !strings.HasSuffix(got, "jwt: algorithm") {
			t.Errorf("%s: %s", name, got)
		}
	}
	has("at first")
	write(t, path, fmt.Sprintf(config, "b", p.URL))
	for {
		l.Reload()
		if await(t, told) == nil {
			break // others tell that the provider is away
		}
	}
	has("after an edit")
	before := l.Settings()
	write(t, path, fmt.Sprintf(config, "b", p.URL+"/other"))
	l.Reload()
	for {
		if err := await(t, told); err != nil && strings.Contains(err.Error(), "/other") {
			break
		}
	}
	if l.Settings() != before {
		t.Error("a provider that is not there is in force")
	}
	has("after a bad edit")
}

// keysTold is what a hook is told of a provider.
type keysTold struct {
	err  error
	none bool
}

// TestProviderAwayAtTheStart: it is told once, as a lack of keys and not as a
// file that is wrong, and so is that it came back and went again.
func TestProviderAwayAtTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.yaml")
	var there atomic.Bool
	doc := jwks(t)
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !there.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, doc)
	}))
	defer p.Close()
	write(t, path, fmt.Sprintf("jwt: {issuer: i, audience: a, jwks_url: '%s', jwks_retry: 10ms}\n", p.URL))
	keys := make(chan keysTold, 100)
	l, err := identityfile.Open(t.Context(), path, identityfile.Hooks{Keys: func(err error, none bool) { keys <- keysTold{err, none} }})
	if err != nil {
		t.Fatal(err)
	}
	if got := <-keys; got.err == nil || !got.none {
		t.Errorf("at the start: %+v", got)
	}
	if got := who(l, "X-Forwarded-For", "203.0.113.7"); got != "ip=203.0.113.7" {
		t.Error(got)
	}
	told := follow(t, l)
	next := func() keysTold {
		t.Helper()
		select {
		case got := <-keys:
			return got
		case err := <-told:
			t.Fatalf("told of a file: %v", err)
		case <-time.After(patience):
			t.Fatal("nothing is told")
		}
		return keysTold{}
	}
	there.Store(true)
	if got := next(); got.err != nil || got.none {
		t.Errorf("once the provider is there: %+v; the start was told twice?", got)
	}
	there.Store(false)
	l.Reload()
	if got := next(); got.err == nil || got.none {
		t.Errorf("once it went again: %+v", got)
	}
}

// TestWarnings are told for each version that comes into force.
func TestWarnings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.yaml")
	write(t, path, "trusted_peers: [0.0.0.0/0, 10.0.0.0/8, '::/0', '2000::/15', '2001::/16', 127.0.0.1]\ntenant_header: X-Tenant\n")
	warned := make(chan identityfile.Warning, 100)
	l, err := identityfile.Open(t.Context(), path, identityfile.Hooks{Warn: func(w identityfile.Warning) { warned <- w }})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{":1:17: trusted_peers has 0.0.0.0/0: ", "has ::/0: ", "has 2000::/15: "} {
		if w := <-warned; !strings.Contains(w.Text, want) || !strings.Contains(w.Text, "the tenant (by X-Tenant)") || w.Hint == "" {
			t.Errorf("%+v, want %q", w, want)
		}
	}
	told := follow(t, l)
	write(t, path, "trusted_peers: 128.0.0.0/7\n")
	l.Reload()
	if err := await(t, told); err != nil {
		t.Error(err)
	}
	if w := <-warned; !strings.Contains(w.Text, "has 128.0.0.0/7: ") || strings.Contains(w.Text, "tenant") {
		t.Errorf("%+v", w)
	}
	if len(warned) > 0 {
		t.Errorf("one too many: %+v", <-warned)
	}
}
