package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// engines are the servers that can be behind the gRPC listener.
var engines = []string{"fast", "stock"}

// onEachEngine runs a test of what goes over gRPC on each of them, side by side:
// most of such a test is waiting. Every weir serve that it starts is of that
// engine.
func onEachEngine(t *testing.T, test func(t *testing.T)) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// engineOf is the engine that a test runs on. One that is of no engine runs on
// the default, or on what WEIR_E2E_ENGINE names.
func engineOf(t *testing.T) string {
	for part := range strings.SplitSeq(t.Name(), "/") {
		if slices.Contains(engines, part) {
			return part
		}
	}
	return os.Getenv("WEIR_E2E_ENGINE")
}
