package redistest

import (
	"fmt"
	"testing"
	"time"
)

// Bounds on waiting. All are far above what an idle machine needs, for those
// that run many test packages on two cores.
const (
	startBound   = 10 * time.Second // a server answers
	clusterBound = 30 * time.Second // a cluster or sentinel set agrees
	commandBound = 10 * time.Second // one admin command
	pollEvery    = 10 * time.Millisecond
)

// await calls done until it returns nil, and returns its last error when bound
// has passed.
func await(bound time.Duration, done func() error) error {
	for deadline := time.Now().Add(bound); ; time.Sleep(pollEvery) {
		err := done()
		if err == nil {
			return nil
		}
		if !time.Now().Before(deadline) {
			return fmt.Errorf("after %v: %w", bound, err)
		}
	}
}

// mustAwait is await that ends the test.
func mustAwait(t testing.TB, what string, done func() error) {
	t.Helper()
	if err := await(clusterBound, done); err != nil {
		t.Fatalf("redistest: wait for %s: %v", what, err)
	}
}
