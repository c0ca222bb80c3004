package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"

	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"

	"github.com/weirlimit/weir"
	weirv1 "github.com/weirlimit/weir/api/weir/v1"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/native"
	"github.com/weirlimit/weir/internal/rls"
)

// fakeEngine answers with what a test wants, and keeps what it was asked.
type fakeEngine struct {
	decide func(r *weir.Request, d *weir.Decision) error
	asked  weir.Request
}

func (f *fakeEngine) Check(_ context.Context, r *weir.Request, d *weir.Decision) error {
	f.asked = *r
	f.asked.Descriptors = append([]weir.Descriptor(nil), r.Descriptors...)
	*d = weir.Decision{RuleIndex: -1}
	return f.decide(r, d)
}

func (f *fakeEngine) Submit(r *weir.Request, d *weir.Decision, done func(error)) {
	done(f.Check(context.Background(), r, d))
}

func (f *fakeEngine) Lease(context.Context, *weir.Request, int64) (engine.LeaseGrant, error) {
	return engine.LeaseGrant{}, nil
}

func (f *fakeEngine) Release(context.Context, *weir.Request) (int64, string, error) {
	return 0, "", nil
}

// startServer serves both APIs, or with only those that are given, on a free
// port.
func startServer(t *testing.T, register ...func(*grpc.Server)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	for _, r := range register {
		r(g)
	}
	done := make(chan error, 1)
	go func() { done <- g.Serve(l) }()
	t.Cleanup(func() {
		g.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func envoyAPI(e native.Engine, o rls.Options) func(*grpc.Server) {
	return func(g *grpc.Server) { rlsv3.RegisterRateLimitServiceServer(g, rls.New(e, o)) }
}

func nativeAPI(e native.Engine) func(*grpc.Server) {
	return func(g *grpc.Server) { weirv1.RegisterLimiterServer(g, native.NewLimiter(e)) }
}

// weirRun runs a command line in this process.
func weirRun(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, system{out: &out, err: &errs, lookupEnv: noEnv})
	return code, out.String(), errs.String()
}

var perMinute = weir.Limit{Algorithm: weir.SlidingWindow, Count: 5, Window: weir.Minute}

// exhausted denies with the limit of 5/m.
func exhausted(_ *weir.Request, d *weir.Decision) error {
	d.Verdict, d.Reason, d.PolicyVersion = weir.Deny, weir.ReasonExhausted, "v1"
	d.Rule, d.Limit, d.ResetAfter, d.RetryAfter = "per-tenant", perMinute, 50*weir.Second, 41*weir.Second
	d.Matched = []weir.Matched{{Rule: "per-tenant", Name: "five"}, {}, {Rule: "free", Unlimited: true}}
	d.Charges = []weir.Charged{{
		Rule: "per-tenant", Limit: perMinute, Cost: 1,
		Outcome: weir.Outcome{RetryAfter: 41 * weir.Second, ResetAfter: 50 * weir.Second},
	}}
	return nil
}

func allowed(_ *weir.Request, d *weir.Decision) error {
	d.Verdict, d.Reason = weir.Allow, weir.ReasonNoRule
	return nil
}

func TestCheckEnvoy(t *testing.T) {
	e := &fakeEngine{decide: exhausted}
	addr := startServer(t, envoyAPI(e, rls.Options{Headers: rls.Headers{Enabled: true}}))
	args := []string{
		"check", "--timeout", "20s", "--addr", addr, "--domain", "api", "--hits", "3",
		"--descriptor", `tenant=a\,b,path=/x`, "--descriptor", "nobody=knows", "--descriptor", "free=yes",
	}
	code, out, errs := weirRun(t, args...)
	want := `denied: OVER_LIMIT in domain api

DESCRIPTOR           CODE        LIMIT            REMAINING  RESET AFTER
tenant=a\,b,path=/x  OVER_LIMIT  5/minute (five)  0          50s
nobody=knows         OK          none             -          -
free=yes             OK          unlimited        -          -
header  RateLimit-Limit: 5
header  RateLimit-Remaining: 0
header  RateLimit-Reset: 50
`
	if code != exitDenied || out != want || errs != "" {
		t.Errorf("exit code %d, stderr %q, stdout\n%s\nwant\n%s", code, errs, out, want)
	}
	r := &e.asked
	if r.Domain != "api" || r.Cost != 3 || len(r.Descriptors) != 3 || r.Descriptors[0].HasCost ||
		pairsText(r.Descriptors[0].Pairs) != `tenant=a\,b,path=/x` {
		t.Errorf("the server was asked %+v", r)
	}

	code, out, errs = weirRun(t, append(args, "-o", "json")...)
	want = `{"verdict":"deny","code":"OVER_LIMIT","domain":"api","statuses":[` +
		`{"descriptor":"tenant=a\\,b,path=/x","code":"OVER_LIMIT","limit":{"name":"five","requests_per_unit":5,"unit":"MINUTE"},"remaining":0,"reset_after_us":50000000},` +
		`{"descriptor":"nobody=knows","code":"OK","limit":null,"remaining":0,"reset_after_us":0},` +
		`{"descriptor":"free=yes","code":"OK","limit":null,"unlimited":true,"remaining":4294967295,"reset_after_us":0}],` +
		`"headers":{"RateLimit-Limit":"5","RateLimit-Remaining":"0","RateLimit-Reset":"50"}}` + "\n"
	if code != exitDenied || out != want || errs != "" {
		t.Errorf("exit code %d, stderr %q, stdout\n%s\nwant\n%s", code, errs, out, want)
	}
}

// TestCheckLooks: 0 hits are 0 hits, though on the wire a request's 0 is 1.
func TestCheckLooks(t *testing.T) {
	e := &fakeEngine{decide: allowed}
	addr := startServer(t, envoyAPI(e, rls.Options{}), nativeAPI(e))
	for _, about := range [][]string{{"--descriptor", "a=1"}, {"--dimension", "a=1"}} {
		code, out, errs := weirRun(t, append(about, "check", "--timeout", "20s", "--addr", addr, "--domain", "d", "--hits", "0")...)
		if code != exitOK || !strings.HasPrefix(out, "allowed") {
			t.Errorf("%v: exit code %d, %q, %q", about, code, out, errs)
		}
		if d := e.asked.Descriptors[0]; !d.HasCost || d.Cost != 0 {
			t.Errorf("%v: the server was asked %+v", about, d)
		}
	}
}

func TestCheckNative(t *testing.T) {
	e := &fakeEngine{decide: exhausted}
	addr := startServer(t, nativeAPI(e))
	args := []string{
		"check", "--timeout", "20s", "--addr", addr, "--dimension", "tenant=acme,path=/x", "--dimension", "user=bob",
		"--policy", "per-tenant", "--request-id", "42", "--hits", "3",
	}
	code, out, errs := weirRun(t, args...)
	want := `denied: no room now (per-tenant 5/m); passes in 41s

RULE        LIMIT  MODE     COST  ROOM  REMAINING  RETRY AFTER  RESET AFTER
per-tenant  5/m    enforce  1     no    0          41s          50s
`
	if code != exitDenied || out != want || errs != "" {
		t.Errorf("exit code %d, stderr %q, stdout\n%s\nwant\n%s", code, errs, out, want)
	}
	r := &e.asked
	if r.Domain != "default" || r.Policy != "per-tenant" || r.ID != "42" || r.Cost != 3 ||
		pairsText(r.Descriptors[0].Pairs) != "tenant=acme,path=/x,user=bob" {
		t.Errorf("the server was asked %+v", r)
	}

	code, out, errs = weirRun(t, append(args, "-o", "json")...)
	want = `{"verdict":"deny","reason":"exhausted","domain":"default","policy":"per-tenant","request":"tenant=acme,path=/x,user=bob",` +
		`"rule":"per-tenant","limit":"5/m","remaining":0,"reset_after_us":50000000,"retry_after_us":41000000,"delay_us":0,` +
		`"policy_version":"v1","source":"store","charges":[{"rule":"per-tenant","limit":"5/m","mode":"enforce","cost":1,` +
		`"ok":false,"granted":0,"remaining":0,"reset_after_us":50000000,"retry_after_us":41000000}]}` + "\n"
	if code != exitDenied || out != want || errs != "" {
		t.Errorf("exit code %d, stderr %q, stdout\n%s\nwant\n%s", code, errs, out, want)
	}
}

func TestCheckNativeSummary(t *testing.T) {
	for want, d := range map[string]weir.Decision{
		"allowed: no limit applies\n": {Verdict: weir.Allow, Reason: weir.ReasonNoRule},
		"allowed: within every limit (r 5/m); wait 2s first; the answer of an earlier check with this id\n": {
			Verdict: weir.Allow, Rule: "r", Limit: perMinute, Delay: 2 * weir.Second, Replayed: true,
		},
		"denied: costs more than the limit ever holds (r 5/m); never passes\n": {
			Verdict: weir.Deny, Reason: weir.ReasonTooCostly, Rule: "r", Limit: perMinute, RetryAfter: weir.Never,
		},
		"denied: no room now (zero); never passes\n": {
			Verdict: weir.Deny, Reason: weir.ReasonExhausted, Rule: "zero", RetryAfter: weir.Never,
		},
		"denied: no room now in this instance's share, while the store does not answer (r 5/m); passes in 1s\n": {
			Verdict: weir.Deny, Reason: weir.ReasonExhausted, Source: weir.SourceBackstop, Rule: "r", Limit: perMinute, RetryAfter: weir.Second,
		},
		"denied: the store did not answer; the policy's on_failure did (r 5/m); passes in 1s\n": {
			Verdict: weir.Deny, Reason: weir.ReasonDegraded, Rule: "r", Limit: perMinute, RetryAfter: weir.Second,
		},
	} {
		e := &fakeEngine{decide: func(_ *weir.Request, out *weir.Decision) error { *out = d; return nil }}
		addr := startServer(t, nativeAPI(e))
		code, out, errs := weirRun(t, "check", "--timeout", "20s", "--addr", addr, "--dimension", "a=1")
		if wantCode := map[bool]int{true: exitOK, false: exitDenied}[d.Allowed()]; code != wantCode || out != want {
			t.Errorf("exit code %d, %q, %q; want %q", code, out, errs, want)
		}
		_, out, _ = weirRun(t, "check", "--timeout", "20s", "--addr", addr, "--dimension", "a=1", "-o", "json")
		var got map[string]any
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Errorf("%q: %v", out, err)
		}
		if _, told := got["retry_after_us"].(float64); told == (d.RetryAfter == weir.Never) {
			t.Errorf("%q: retry_after_us is %v", want, got["retry_after_us"])
		}
	}
}
