package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weirlimit/weir/internal/redistest"
)

// TestRedisCertificatesRotated changes the certificates of Redis and of the
// server that asks it, and their authority, and ends the connections that were
// made with the old ones. Every answer is Redis's, and the counter is exact.
func TestRedisCertificatesRotated(t *testing.T) {
	t.Parallel()
	const rounds, steps, limit = 3, 3, 30
	redis := redistest.Start(t, redistest.WithTLS())
	certs := redis.Certs()
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, fmt.Sprintf(closedPolicy, limit, "closed"))
	w := serve(t, "--config", path, "--deadline", "20s", "--deny-cache", "0", "--redis", "rediss://"+redis.Addr(),
		"--redis-tls-ca", certs.CAFile, "--redis-tls-cert", certs.ClientCertFile, "--redis-tls-key", certs.ClientKeyFile)
	conn := dial(t, w.grpc)
	passed := 0
	pass := func() {
		t.Helper()
		out := ask(t, conn)
		if err := decidedByStore(out, 0); err != nil {
			t.Fatalf("after %d: %v", passed, err)
		}
		passed++
	}
	pass()
	done := 0
	for range rounds {
		certs.Rotate(redis, func() {
			done++
			w.signal(syscall.SIGHUP)
			await(t, "the files to be read again", func() error {
				if n := strings.Count(w.err.String(), `msg="read again" what="redis certificates"`); n != done {
					return fmt.Errorf("read %d times, want %d", n, done)
				}
				return nil
			})
			pass() // over the connection that is there
			redis.MustDo("CLIENT", "KILL", "TYPE", "normal")
			pass() // over a new one
		})
	}
	if want := 1 + 2*rounds*steps; passed != want {
		t.Errorf("%d passed, want %d", passed, want)
	}
	for passed < limit {
		pass()
	}
	if out := ask(t, conn); out.GetAllowed() || out.GetSource().String() != "SOURCE_STORE" {
		t.Errorf("one more than the limit: %v", out)
	}

	// Wrong files change nothing.
	write(t, certs.ClientKeyFile, "not a key")
	w.signal(syscall.SIGHUP)
	await(t, "the mistake to be told", w.err.has("holds no private key in PEM form"))
	if out := ask(t, conn); out.GetSource().String() != "SOURCE_STORE" {
		t.Errorf("with a broken file: %v", out)
	}
}
