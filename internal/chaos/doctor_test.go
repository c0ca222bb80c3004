//go:build !race

package chaos

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/redistest"
)

// refused holds that weir doctor refuses a server with an evicting policy: it
// ends with 1, and says which setting it is.
func refused(t testing.TB, s *redistest.Server, policy string) {
	t.Helper()
	out, err := exec.Command(binary(t), "doctor", "--redis", s.Addr()).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "maxmemory-policy is "+policy) {
		t.Errorf("weir doctor of a server with %s: %v, want exit status 1 and the setting\n%s", policy, err, out)
	}
}
