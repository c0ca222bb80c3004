//go:build !race

package chaos

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/redistest"
)

// refused holds that weir doctor refuses a server with an evicting policy, and
// says which setting it is.
func refused(t testing.TB, policy string) {
	t.Helper()
	s := redistest.Start(t, redistest.WithConfig("maxmemory-policy", policy), redistest.WithConfig("maxmemory", "100mb"))
	out, err := exec.Command(binary(t), "doctor", "--redis", s.Addr()).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "maxmemory-policy") {
		t.Errorf("weir doctor of a server with %s: %v\n%s", policy, err, out)
	}
}
