package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/redistest"
)

// TestDocumentedACLUser: the user of docs/redis.md, as it is written there, with
// the prefix that goes with it, is enough for the server and for the commands
// that look at its Redis; without the prefix it is not.
func TestDocumentedACLUser(t *testing.T) {
	redis := redistest.Start(t, redistest.WithACL(documentedUser(t)))
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, fmt.Sprintf(closedPolicy, 9, "closed"))
	start := func(args ...string) *instance {
		w := newInstance(t, append(args, "--config", path, "--redis", redis.Addr(), "--deadline", "20s")...)
		w.env = append(w.env, "WEIR_REDIS_USER=weir", "WEIR_REDIS_PASSWORD=PASSWORD")
		w.start()
		w.awaitReady()
		return w
	}
	conn := dial(t, start("--redis-prefix", "weir:").grpc)
	for range 3 {
		if err := decidedByStore(ask(t, conn), 0); err != nil {
			t.Fatal(err)
		}
	}
	keys, ok := redis.MustDo("KEYS", "*").([]any)
	if !ok || len(keys) == 0 {
		t.Fatalf("keys: %v", keys)
	}
	for _, k := range keys {
		if !strings.HasPrefix(fmt.Sprint(k), "weir:") {
			t.Errorf("key %v", k)
		}
	}

	t.Setenv("WEIR_REDIS_USER", "weir")
	t.Setenv("WEIR_REDIS_PASSWORD", "PASSWORD")
	t.Setenv("WEIR_REDIS", redis.Addr())
	t.Setenv("WEIR_REDIS_PREFIX", "weir:")
	if out := runWeir(t, "doctor", "--deadline", "20s"); !strings.Contains(out, "may run all that Weir needs") {
		t.Errorf("doctor: %s", out)
	}
	if out := runWeir(t, "explain", "--config", path, "--dimension", "tenant=acme", "--timeout", "20s"); !strings.Contains(out, "9/h    3     6 ") {
		t.Errorf("explain: %s", out)
	}
	runWeir(t, "try", "--count", "1", "--timeout", "20s")

	if out := ask(t, dial(t, start().grpc)); out.GetAllowed() || out.GetSource().String() == "SOURCE_STORE" {
		t.Errorf("without the prefix: %v", out)
	}
}

// documentedUser is the rule that docs/redis.md gives for a single server.
func documentedUser(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rule, ok := strings.CutPrefix(line, "user "); ok {
			return strings.TrimSpace(rule)
		}
	}
	t.Fatal("docs/redis.md gives no user")
	return ""
}
