package doctest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/proctest"
)

// documented are the ports that pages and examples use.
var documented = []string{
	"8080", "8081", "6070", // weir serve
	"8000", "9000", // the gateway and the backend
	"10000", // Envoy
}

// address is where a port is one: after an address, or, for programs that want
// it so, after an address and a space.
var address = regexp.MustCompile(`((?:127\.0\.0\.1|localhost)[: ])(\d+)\b`)

// ports are the free ports that stand for the documented ones.
type ports map[string]string

// newPorts holds a port for each, until the end of the test.
func newPorts(t testing.TB) ports {
	t.Helper()
	p := ports{}
	for _, port := range documented {
		free, release, err := proctest.HoldPort()
		if err != nil {
			t.Fatalf("doctest: hold a port: %v", err)
		}
		t.Cleanup(release)
		p[port] = fmt.Sprint(free)
	}
	return p
}

// rewrite replaces the documented ports in a text, and the one socket that has a
// name in place of a port.
func (p ports) rewrite(text string) string {
	text = address.ReplaceAllStringFunc(text, func(s string) string {
		m := address.FindStringSubmatch(s)
		if free := p[m[2]]; free != "" {
			return m[1] + free
		}
		return s
	})
	return strings.ReplaceAll(text, "abns@weir", "abns@weir-"+p["8000"])
}

// patient makes the time-outs of the examples long: what a busy machine does to
// them is not what a page is about.
func patient(text string) string {
	return strings.NewReplacer("100ms", "20s", "250ms", "20s", "timeout = 1000", "timeout = 90000").Replace(text)
}
