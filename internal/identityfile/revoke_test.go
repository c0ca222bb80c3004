package identityfile_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir/internal/certtest"
)

// TestRevokedWhileAnotherVersionWaits: a version that cannot come into force
// keeps no file of the one in force from being followed, and its provider is not
// asked every second.
func TestRevokedWhileAnotherVersionWaits(t *testing.T) {
	var asked atomic.Int32
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer p.Close()
	dir := t.TempDir()
	path, keys := filepath.Join(dir, "identity.yaml"), filepath.Join(dir, "keys.yaml")
	entry := "keys:\n- {id: k, sha256: " + digest + ", tenant: acme%s}\n"
	write(t, keys, fmt.Sprintf(entry, ""))
	write(t, path, "api_keys: {file: keys.yaml}\n")
	l, told := live(t, path)
	if got := who(l, "X-Api-Key", "test"); !strings.Contains(got, "tenant=acme") {
		t.Fatal(got)
	}
	write(t, path, "api_keys: {file: keys.yaml}\njwt: {issuer: i, audience: a, jwks_url: '"+p.URL+"'}\n")
	l.Reload()
	if err := await(t, told); err == nil {
		t.Fatal("a provider without keys is in force")
	}
	write(t, keys, fmt.Sprintf(entry, ", disabled: true"))
	if err := await(t, told); err != nil { // seen by itself
		t.Fatal(err)
	}
	if got := who(l, "X-Api-Key", "test"); strings.Contains(got, "tenant=") {
		t.Errorf("a key that is disabled: %s", got)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the provider was asked %d times", n)
	}
}

// TestAuthoritiesOfTheProviderAreFollowed: with the file that jwks_ca_file names
// mended, keys are fetched; with one that is broken, nothing changes.
func TestAuthoritiesOfTheProviderAreFollowed(t *testing.T) {
	doc := jwks(t)
	p := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, doc) }))
	defer p.Close()
	dir := t.TempDir()
	path, ca := filepath.Join(dir, "identity.yaml"), filepath.Join(dir, "ca.pem")
	write(t, ca, string(certtest.New(t).PEM))
	write(t, path, "jwt: {issuer: i, audience: a, jwks_url: '"+p.URL+"', jwks_ca_file: ca.pem, required: true}\n")
	l, told := live(t, path)
	const unsigned = "Bearer eyJhbGciOiJub25lIn0.e30." // refused for its algorithm once there are keys
	if got := who(l, "Authorization", unsigned); strings.HasSuffix(got, "algorithm") {
		t.Fatalf("keys of a provider that is not trusted: %s", got)
	}
	write(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})))
	l.Reload()
	if err := await(t, told); err != nil {
		t.Fatal(err)
	}
	if got := who(l, "Authorization", unsigned); !strings.HasSuffix(got, "algorithm") {
		t.Errorf("after the file was mended: %s", got)
	}
	write(t, ca, "no authority")
	l.Reload()
	if err := await(t, told); err == nil || !strings.Contains(err.Error(), "ca.pem") {
		t.Errorf("a broken file: %v", err)
	}
	if got := who(l, "Authorization", unsigned); !strings.HasSuffix(got, "algorithm") {
		t.Errorf("after the file was broken: %s", got)
	}
}
