package client_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/client"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/memstore"
)

const leased = "policies:\n  - {id: tenants, match: {tenant: \"*\"}, by: [tenant], limits: [100/365d fixed_window], lease: auto, on_failure: open}\n  - {id: plain, match: {plain: \"*\"}, by: plain, limits: 100/s, on_failure: open}\n"

// TestLeasesOverTheWire: leases and checks share the limit, and together admit it
// exactly.
func TestLeasesOverTheWire(t *testing.T) {
	c := dial(t, serve(t, decider(t, leased, weir.Hooks{})), client.WithDeadline(patience))
	began, spent := time.Now(), int64(0)
	for range 10 {
		l, err := c.Lease(t.Context(), ask("tenant", "acme"), 50)
		if err != nil || l.Granted != 5 || l.Rule != "tenants" || l.Scope != "tenant" || l.Limit.Count != 100 || l.PolicyVersion == "" || l.Remaining != 95-spent {
			t.Fatalf("%+v, %v", l, err)
		}
		if most := time.Now().Add(500 * time.Millisecond); l.Ends().After(most) || l.Ends().Before(began) {
			t.Errorf("ends %v after the start", l.Ends().Sub(began))
		}
		for l.Left() > 0 && l.Spend(1) {
		}
		spent += 5
	}
	for range 50 {
		if d := check(t, c, ask("tenant", "acme")); !d.Allowed() {
			t.Fatalf("50 are left for checks: %+v", d)
		}
	}
	l, err := c.Lease(t.Context(), ask("tenant", "acme"), 1)
	if err != nil || l.Granted != 0 || l.RetryAfter <= 0 || l.Reason != weir.ReasonExhausted || l.Spend(1) || l.Left() != 0 {
		t.Errorf("of nothing: %+v, %v", l, err)
	}
	if d := check(t, c, ask("tenant", "acme")); d.Allowed() {
		t.Errorf("more than the limit: %+v", d)
	}
}

func TestLeaseErrors(t *testing.T) {
	c := dial(t, serve(t, decider(t, leased, weir.Hooks{})), client.WithDeadline(patience))
	refund, nosuch := ask("tenant", "a"), ask("tenant", "a")
	refund.Descriptors[0].Refund, nosuch.Policy = true, "nosuch"
	for name, tc := range map[string]struct {
		r    *weir.Request
		want int64
		code weir.Code
		text string
	}{
		"none":       {ask("tenant", "a"), 0, weir.CodeInvalid, "want"},
		"too many":   {ask("tenant", "a"), weir.MaxCount + 1, weir.CodeInvalid, "want"},
		"refund":     {refund, 1, weir.CodeInvalid, "refunds"},
		"no text":    {ask("tenant", "\xff"), 1, weir.CodeInvalid, ""},
		"not leased": {ask("plain", "a"), 1, weir.CodeInvalid, "write lease: auto in the policy"},
		"no policy":  {nosuch, 1, weir.CodePolicyNotFound, ""},
	} {
		if l, err := c.Lease(t.Context(), tc.r, tc.want); l != nil || weir.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
}

// TestNoLeaseOfWhoIsAway: without its store a server grants nothing, although the
// policy is open, and nor does a fallback.
func TestNoLeaseOfWhoIsAway(t *testing.T) {
	store := memstore.New()
	s := serve(t, enginetest.New(t, leased, engine.Options{Store: store}))
	c := dial(t, s, client.WithDeadline(patience), client.WithFallback(decider(t, leased, weir.Hooks{})))
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err := c.Lease(t.Context(), ask("tenant", "a"), 1); l != nil || weir.CodeOf(err) != weir.CodeRefused {
		t.Errorf("without a store: %+v, %v", l, err)
	}
	s.stop()
	if l, err := c.Lease(t.Context(), ask("tenant", "a"), 1); l != nil || weir.CodeOf(err) != weir.CodeRefused {
		t.Errorf("without a server: %+v, %v", l, err)
	}
}
