package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir/internal/redistest"
)

// TestRedisAway: a server starts while Redis is away, is ready, answers by the
// policies' fail modes, and counts as soon as Redis is there; and so again when
// it goes away later.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testRedisAway)
}

func testRedisAway(t *testing.T) {
	redis := redistest.Start(t)
	redis.Stop()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "open.yaml"), "domain: open\n"+fmt.Sprintf(closedPolicy, 1000, "open"))
	write(t, filepath.Join(dir, "closed.yaml"), "domain: closed\n"+fmt.Sprintf(closedPolicy, 1000, "closed"))
	w := serve(t, "--config", dir, "--redis", redis.Addr(), "--deadline", "200ms")
	w.awaitDegraded(true) // before anybody has asked
	await(t, "the log to tell it", w.err.has("the store does not answer"))
	w.awaitMode("open", true, weirv1.Source_SOURCE_BACKSTOP)
	w.awaitMode("closed", false, weirv1.Source_SOURCE_BACKSTOP)
	redis.Restart()
	w.awaitDegraded(false)
	await(t, "the log to tell it", w.err.has("the store answers"))
	w.awaitMode("open", true, weirv1.Source_SOURCE_STORE)
	w.awaitMode("closed", true, weirv1.Source_SOURCE_STORE)
	redis.Stop()
	w.awaitMode("open", true, weirv1.Source_SOURCE_BACKSTOP)
	w.awaitMode("closed", false, weirv1.Source_SOURCE_BACKSTOP)
	w.awaitDegraded(true)
	w.awaitReady() // the store is every instance's: nobody leaves for it
	redis.Restart()
	w.awaitMode("closed", true, weirv1.Source_SOURCE_STORE)
}

// awaitDegraded waits until the server says that it is, or is not.
func (w *instance) awaitDegraded(want bool) {
	w.t.Helper()
	await(w.t, "the health page to tell it", func() error {
		status, body, err := w.get("/readyz")
		if err != nil {
			return err
		}
		if status != http.StatusOK || strings.Contains(body, `"degraded": true`) != want || strings.Contains(body, "store: ") != want {
			return fmt.Errorf("%d %s", status, body)
		}
		return nil
	})
}

// awaitMode waits until a domain is answered in this way.
func (w *instance) awaitMode(domain string, allowed bool, source weirv1.Source) {
	w.t.Helper()
	conn := dial(w.t, w.grpc)
	await(w.t, fmt.Sprintf("%s to be answered by %v", domain, source), func() error {
		out, err := checkDomain(conn, domain)
		if err == nil && (out.GetAllowed() != allowed || out.GetSource() != source) {
			err = fmt.Errorf("%v", out)
		}
		return err
	})
}
