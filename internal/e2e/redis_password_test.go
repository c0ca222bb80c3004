package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/redistest"
)

// TestRedisPasswordRotated changes the password of the server's ACL user as
// docs/redis.md says, and ends the connections that were made with the old one.
// Every answer is Redis's, and the counter is exact.
func TestRedisPasswordRotated(t *testing.T) {
	t.Parallel()
	const limit, rounds = 12, 3
	passwords := []string{"hush-0", "hush-1", "hush-2", "hush-3"}
	redis := redistest.Start(t, redistest.WithACL(
		"weir on >hush-0 >hush-1 resetchannels ~* -@all +evalsha +script|load +get +mget +set +setrange +del +time +role +ping"))
	dir := t.TempDir()
	path, secret := filepath.Join(dir, "policies.yaml"), filepath.Join(dir, "password")
	write(t, path, fmt.Sprintf(closedPolicy, limit, "closed"))
	write(t, secret, passwords[0]+"\n")
	w := newInstance(t, "--config", path, "--redis", redis.Addr(), "--deadline", "20s", "--deny-cache", "0")
	w.env = append(w.env, "WEIR_REDIS_USER=weir", "WEIR_REDIS_PASSWORD_FILE="+secret)
	w.start()
	w.awaitReady()
	conn := dial(t, w.grpc)
	passed := 0
	pass := func() {
		t.Helper()
		if err := decidedByStore(ask(t, conn), 0); err != nil {
			t.Fatalf("after %d: %v", passed, err)
		}
		passed++
	}
	pass()
	for i := range rounds {
		if i > 0 {
			redis.MustDo("ACL", "SETUSER", "weir", ">"+passwords[i+1])
		}
		pass() // while both hold
		write(t, secret, passwords[i+1]+"\n")
		redis.MustDo("ACL", "SETUSER", "weir", "<"+passwords[i])
		pass() // over the connection that is there
		if n, ok := redis.MustDo("CLIENT", "KILL", "USER", "weir").(int64); !ok || n == 0 {
			t.Fatalf("%d connections were there to end", n)
		}
		pass() // over a new one
	}
	for passed < limit {
		pass()
	}
	if out := ask(t, conn); out.GetAllowed() || out.GetSource().String() != "SOURCE_STORE" {
		t.Errorf("one more than the limit: %v", out)
	}
	if log := w.err.String() + w.page("/metrics") + w.page("/config"); strings.Contains(log, "hush") {
		t.Error("a password is told")
	}

	// What the test rests on: the old password no longer opens a connection.
	write(t, secret, passwords[0]+"\n")
	redis.MustDo("CLIENT", "KILL", "USER", "weir")
	if out := ask(t, conn); out.GetAllowed() || out.GetSource().String() == "SOURCE_STORE" {
		t.Errorf("with the first password: %v", out)
	}
	write(t, secret, passwords[rounds]+"\n")
	await(t, "the store to answer again", func() error {
		if out := ask(t, conn); out.GetSource().String() != "SOURCE_STORE" {
			return fmt.Errorf("%v", out)
		}
		return nil
	})
}
