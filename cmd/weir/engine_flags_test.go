package main

import (
	"strings"
	"testing"
)

func TestEngineFlag(t *testing.T) {
	code, _, stderr := weirRun(t, "serve", "--grpc-engine", "turbo", "--grpc", "127.0.0.1:0")
	if code == 0 || !strings.Contains(stderr, `--grpc-engine: unknown server "turbo"`) || !strings.Contains(stderr, "use fast or stock") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
