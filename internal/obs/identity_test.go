package obs_test

import (
	"strings"
	"testing"

	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/internal/obs"
)

func TestRejections(t *testing.T) {
	m := obs.New(obs.Options{})
	m.Rejected(identity.JWT, identity.Expired)
	m.Rejected(identity.JWT, identity.Expired)
	m.Rejected(identity.ClientIPFrom, identity.Duplicate)
	m.Rejected(identity.Whats, identity.Expired)
	m.Rejected(identity.JWT, identity.Reasons)
	var b strings.Builder
	if err := m.Stats(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"what=\"jwt\"", "reason=\"expired\"", "what=\"client_ip\"", "reason=\"duplicate\""} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	if n := strings.Count(b.String(), "identity_rejections"); n != 2 {
		t.Errorf("%d series", n)
	}
}
