package main

import (
	"testing"
	"time"

	"github.com/weirlimit/weir/engine"
)

// TestLeaseShareIsOfCallersToo: what --lease-share says holds for the Lease call,
// whatever the store is; with 0 there is none.
func TestLeaseShareIsOfCallersToo(t *testing.T) {
	for _, share := range []float64{0, 0.01} {
		s := &server{flags: &serveFlags{lease: leaseFlags{share: share, refresh: 100 * time.Millisecond, hotRate: 50}}}
		var o engine.Options
		if err := s.addLocal(&o); err != nil {
			t.Fatal(err)
		}
		if o.NoLeases != (share == 0) || o.Leases.Share != share {
			t.Errorf("share %v: no leases %v, share %v", share, o.NoLeases, o.Leases.Share)
		}
	}
}
