package main

import (
	"slices"
	"strings"
	"testing"
)

// onEachEngine runs a test of what goes over gRPC on each server of it. Every
// server that startServe starts in it is of that engine.
func onEachEngine(t *testing.T, test func(t *testing.T)) {
	for _, engine := range []string{engineFast, engineStock} {
		t.Run(engine, test)
	}
}

// engineOf is the engine that a test runs on, by its name; the default for one
// that is of none.
func engineOf(t *testing.T) []string {
	for part := range strings.SplitSeq(t.Name(), "/") {
		if slices.Contains([]string{engineFast, engineStock}, part) {
			return []string{"--grpc-engine", part}
		}
	}
	return nil
}
