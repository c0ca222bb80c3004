package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/key"
	"github.com/weirlimit/weir/internal/lease"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/redisstore"
)

const leased = `
policies:
  - {id: tenants, match: {tenant: "*"}, by: tenant, limits: [1000/365d fixed_window, 400/s burst 400], lease: auto, on_failure: open}
  - {id: heavy, match: {heavy: "*"}, by: heavy, limits: 1000/365d fixed_window, cost: 7, lease: auto, on_failure: open}
  - {id: light, match: {light: "*"}, by: light, limits: 1000/365d fixed_window, lease: auto, on_failure: open}
  - {id: free, match: {light: "*"}, by: light, limits: 1000/365d, cost: 0, on_failure: open}
  - {id: watched, match: {tenant: "*"}, by: tenant, limits: 1/365d, mode: shadow, on_failure: open}
  - {id: plain, match: {plain: "*"}, by: plain, limits: 1000/s, on_failure: open}
  - {id: jobs, match: {job: "*"}, by: job, concurrency: 5, on_failure: open}
  - {id: small, match: {small: "*"}, by: small, limits: 19/s, lease: auto, on_failure: open}
  - {id: rolling, match: {rolling: "*"}, by: rolling, limits: 1000/s, lease: auto, on_failure: open}
  - {id: mixed, match: {mixed: "*"}, by: mixed, limits: [400/m burst 400, 1000/s, 1000/h fixed_window], lease: auto, on_failure: open}
  - {id: minutely, match: {minutely: "*"}, by: minutely, limits: 100/m fixed_window, lease: auto, on_failure: open}
`

// TestLeaseTakesOfAllLimits: what is granted is charged to every window, capped
// to a share of the smallest, until the tightest has no more.
func TestLeaseTakesOfAllLimits(t *testing.T) {
	now := weir.MicrosAt(time.Unix(1_800_000_000, 0))
	e := enginetest.New(t, leased, engine.Options{Store: memstore.New(memstore.WithClock(func() weir.Micros { return now }))})
	g, err := e.Lease(t.Context(), ask("tenant", "a"), 500)
	if err != nil || g.Granted != 20 || g.Rule != "tenants" || g.Limit.String() != "400/s burst 400" || g.Remaining != 380 || g.Scope != "tenant" || g.PolicyVersion == "" {
		t.Fatalf("20 are 5%% of 400: %+v, %v", g, err)
	}
	if g.ExpiresAfter <= 400*weir.Millisecond || g.ExpiresAfter >= 500*weir.Millisecond || g.RetryAfter != 0 {
		t.Errorf("it ends after %v", g.ExpiresAfter)
	}
	used, _, err := e.Usage(t.Context(), ask("tenant", "a"))
	if err != nil || used[0].Outcome.Before.Used != 20 || used[1].Outcome.Before.Used != 20 || used[2].Outcome.Before.Used != 0 {
		t.Errorf("both windows are charged, and the shadow is not: %+v, %v", used, err)
	}
	total := g.Granted
	for range 200 {
		if g, err = e.Lease(t.Context(), ask("tenant", "a"), 15); err != nil {
			t.Fatal(err)
		}
		total += g.Granted
		if now += 100 * weir.Millisecond; g.Granted == 0 {
			break
		}
	}
	if total != 1000 || g.Granted != 0 || g.ExpiresAfter != 0 || g.Reason != weir.ReasonExhausted || g.Limit.Window != weir.Year || g.RetryAfter <= weir.Day {
		t.Errorf("%d of 1000, and then %+v", total, g)
	}
}

// TestLeaseRetryIsExact: a unit is granted at the instant that was said, and not
// a microsecond before.
func TestLeaseRetryIsExact(t *testing.T) {
	now := weir.MicrosAt(time.Unix(1_800_000_000, 0))
	e := enginetest.New(t, leased, engine.Options{Store: memstore.New(memstore.WithClock(func() weir.Micros { return now }))})
	if d := check(t, e, spent(400, "tenant", "a")); !d.Allowed() {
		t.Fatalf("%+v", d)
	}
	g, err := e.Lease(t.Context(), ask("tenant", "a"), 5)
	if err != nil || g.Granted != 0 || g.RetryAfter != 2500 { // one in 1/400 s
		t.Fatalf("%+v, %v", g, err)
	}
	now += g.RetryAfter - 1
	if g, err := e.Lease(t.Context(), ask("tenant", "a"), 5); err != nil || g.Granted != 0 || g.RetryAfter != 1 {
		t.Errorf("early: %+v, %v", g, err)
	}
	now++
	if g, err := e.Lease(t.Context(), ask("tenant", "a"), 5); err != nil || g.Granted != 1 {
		t.Errorf("in time: %+v, %v", g, err)
	}
}

// TestLeaseEndsWithItsWindow: a fixed window's units end with it, a rolling
// window's with its part; what would be over at once is not granted.
func TestLeaseEndsWithItsWindow(t *testing.T) {
	now := weir.MicrosAt(time.Unix(1_800_000_000, 0)) // the start of a minute
	e := enginetest.New(t, leased, engine.Options{Store: memstore.New(memstore.WithClock(func() weir.Micros { return now }))})
	if g, err := e.Lease(t.Context(), ask("rolling", "a"), 5); err != nil || g.Granted != 5 || g.ExpiresAfter > weir.Second/16 || g.ExpiresAfter < weir.Second/18 {
		t.Errorf("rolling: %+v, %v", g, err)
	}
	if g, err := e.Lease(t.Context(), ask("mixed", "a"), 5); err != nil || g.Granted != 5 || g.ExpiresAfter > weir.Second/16 || g.ExpiresAfter < weir.Second/18 {
		t.Errorf("the first to end is the second: %+v, %v", g, err)
	}
	now += weir.Minute - 100*weir.Millisecond
	if g, err := e.Lease(t.Context(), ask("minutely", "a"), 5); err != nil || g.Granted != 5 || g.ExpiresAfter >= 100*weir.Millisecond || g.ExpiresAfter < 90*weir.Millisecond {
		t.Errorf("at the end: %+v, %v", g, err)
	}
	now += 99900
	if g, err := e.Lease(t.Context(), ask("minutely", "a"), 5); err != nil || g.Granted != 0 || g.RetryAfter != 100 || g.ExpiresAfter != 0 || g.Rule != "minutely" {
		t.Errorf("too late: %+v, %v", g, err)
	}
}

// TestLeaseWeighsUnits: under a cost of 7, a unit granted is 7 charged, and what
// is left over of a grant is given back.
func TestLeaseWeighsUnits(t *testing.T) {
	e := enginetest.New(t, leased, engine.Options{})
	if g, err := e.Lease(t.Context(), ask("heavy", "a"), 100); err != nil || g.Granted != 7 || g.Remaining != 951 { // of the 50 that are 5%
		t.Errorf("%+v, %v", g, err)
	}
	if d := check(t, e, spent(134, "heavy", "a")); d.Remaining != 951-938 {
		t.Fatalf("%+v", d)
	}
	if g, err := e.Lease(t.Context(), ask("heavy", "a"), 100); err != nil || g.Granted != 1 || g.Remaining != 6 {
		t.Errorf("of 13: %+v, %v", g, err)
	}
	if g, err := e.Lease(t.Context(), ask("heavy", "a"), 100); err != nil || g.Granted != 0 || g.RetryAfter <= 0 || g.Remaining != 6 {
		t.Errorf("of 6: %+v, %v", g, err)
	}
	if g, err := e.Lease(t.Context(), ask("light", "a"), 3); err != nil || g.Granted != 3 || g.Rule != "light" {
		t.Errorf("beside a policy that costs nothing: %+v, %v", g, err)
	}
	if g, err := e.Lease(t.Context(), ask("nobody", "a"), 300); err != nil || g.Granted != 300 || g.Reason != weir.ReasonNoRule || g.ExpiresAfter <= 0 {
		t.Errorf("where nothing applies: %+v, %v", g, err)
	}
}

func TestLeaseRefuses(t *testing.T) {
	e := enginetest.New(t, leased, engine.Options{})
	for name, tc := range map[string]struct {
		r    *weir.Request
		want int64
		text string
	}{
		"nothing":      {ask("tenant", "a"), 0, "want: 0 is outside"},
		"too much":     {ask("tenant", "a"), weir.MaxCount + 1, "want: 10000001 is outside"},
		"not leased":   {ask("plain", "a"), 1, "policy plain is not leased (write lease: auto"},
		"one of two":   {ask("tenant", "a", "plain", "a"), 1, "policy plain is not leased"},
		"in progress":  {ask("job", "a"), 1, "policy jobs is not leased"},
		"small":        {ask("small", "a"), 1, "19/s of policy small is too small to be leased"},
		"other weight": {ask("heavy", "a", "light", "a"), 10, "weigh the request differently"},
		"spent":        {spent(1, "tenant", "a"), 1, "no costs, refunds or units spent"},
	} {
		g, err := e.Lease(t.Context(), tc.r, tc.want)
		if weir.CodeOf(err) != weir.CodeInvalid || !strings.Contains(err.Error(), tc.text) || g != (engine.LeaseGrant{}) {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
	nosuch := ask("tenant", "a")
	nosuch.Policy = "nosuch"
	if _, err := e.Lease(t.Context(), nosuch, 1); weir.CodeOf(err) != weir.CodePolicyNotFound {
		t.Errorf("no such policy: %v", err)
	}
	bare := start(t, memstore.New(), weir.Hooks{}, "")
	if _, err := bare.Lease(t.Context(), ask("tenant", "a"), 1); weir.CodeOf(err) != weir.CodeNotReady {
		t.Errorf("without policies: %v", err)
	}
	if _, err := engine.New(engine.Options{Store: memstore.New(), Leases: lease.Config{Share: 2}}); weir.CodeOf(err) != weir.CodeInvalid {
		t.Errorf("a share of 2: %v", err)
	}
}

func TestLeaseIsDividedBetweenInstances(t *testing.T) {
	e := enginetest.New(t, leased, engine.Options{Instances: func() int { return 4 }, Leases: lease.Config{Share: 0.1}})
	if g, err := e.Lease(t.Context(), ask("tenant", "a"), 500); err != nil || g.Granted != 10 {
		t.Errorf("a quarter of 10%% of 400: %+v, %v", g, err)
	}
}

func TestNoLeases(t *testing.T) {
	e := enginetest.New(t, leased, engine.Options{NoLeases: true})
	if g, err := e.Lease(t.Context(), ask("tenant", "a"), 5); weir.CodeOf(err) != weir.CodeInvalid || g != (engine.LeaseGrant{}) {
		t.Errorf("%+v, %v", g, err)
	}
}

// TestNoLeaseWithoutTheStore: open policies pass requests, not leases.
func TestNoLeaseWithoutTheStore(t *testing.T) {
	s := memstore.New()
	e := enginetest.New(t, leased, engine.Options{Store: s})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if d := check(t, e, ask("tenant", "a")); !d.Allowed() || d.Reason != weir.ReasonDegraded {
		t.Fatalf("the policy is open: %+v", d)
	}
	if g, err := e.Lease(t.Context(), ask("tenant", "a"), 5); weir.CodeOf(err) != weir.CodeClosed || g != (engine.LeaseGrant{}) {
		t.Errorf("%+v, %v", g, err)
	}
}

// shutGate lets nobody in.
type shutGate struct{}

func (shutGate) Enter() bool         { return false }
func (shutGate) Leave(time.Duration) {}

// forcedOnly forces one rule, or all.
type forcedOnly string

func (forcedOnly) On() bool { return true }
func (f forcedOnly) Forced(_, rule string) bool {
	return f == "" || rule == string(f)
}

func TestLeaseAndTheOtherStages(t *testing.T) {
	e := enginetest.New(t, leased, engine.Options{Gate: shutGate{}})
	if _, err := e.Lease(t.Context(), ask("tenant", "a"), 5); !errors.Is(err, &weir.Error{Code: weir.CodeOverload}) {
		t.Errorf("a shut gate: %v", err)
	}
	for _, f := range []forcedOnly{"", "tenants"} {
		e = enginetest.New(t, leased, engine.Options{Switch: f})
		if g, err := e.Lease(t.Context(), ask("tenant", "a"), 300); err != nil || g.Granted != 300 || g.Reason != weir.ReasonForced {
			t.Errorf("forced %q: %+v, %v", f, g, err)
		}
	}
	e = enginetest.New(t, leased, engine.Options{Switch: forcedOnly("light")})
	if g, err := e.Lease(t.Context(), ask("tenant", "a"), 300); err != nil || g.Granted != 20 || g.Reason != weir.ReasonNone {
		t.Errorf("another is forced: %+v, %v", g, err)
	}
}

// TestLeaseAcrossSlots: limits on several nodes grant the least of what each has,
// and keep no more than that.
func TestLeaseAcrossSlots(t *testing.T) {
	c := redistest.StartCluster(t, 3, 0)
	s, err := redisstore.New(t.Context(), redisstore.Options{Addrs: c.Addrs()[:1], Mode: redisstore.Cluster})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	e := enginetest.New(t, `
policies:
  - {id: tenants, by: tenant, limits: 1000/365d, lease: auto, on_failure: open}
  - {id: regions, by: region, limits: 400/365d, lease: auto, on_failure: open}
  - {id: all, limits: 4000/365d, lease: auto, on_failure: open}
`, engine.Options{Store: s})
	r := ask("tenant", "a", "region", "b")
	if d := check(t, e, spent(395, "tenant", "other", "region", "b")); !d.Allowed() {
		t.Fatalf("%+v", d)
	}
	g, err := e.Lease(t.Context(), r, 100)
	if err != nil || g.Granted != 5 || g.Rule != "regions" {
		t.Fatalf("%+v, %v", g, err)
	}
	want := map[string]int64{"tenants": 5, "regions": 400, "all": 400}
	slots := map[uint16]bool{}
	await(t, func() bool { // what was taken too much is given back behind the answer
		used, _, err := e.Usage(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range used {
			slots[key.Slot(u.Key)] = true
			if u.Outcome.Before.Used != want[u.Rule] {
				return false
			}
		}
		return true
	})
	if len(slots) != 3 {
		t.Errorf("%d slots", len(slots))
	}
	if g, err := e.Lease(t.Context(), r, 100); err != nil || g.Granted != 0 || g.RetryAfter <= 0 || g.Rule != "regions" {
		t.Errorf("then: %+v, %v", g, err)
	}
}

// await waits until f is true.
func await(t *testing.T, f func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come about")
		}
	}
}
