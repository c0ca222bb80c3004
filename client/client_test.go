package client_test

import (
	"crypto/tls"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/client"
	"github.com/weirlimit/weir/internal/native"
	"github.com/weirlimit/weir/internal/redistest"
)

const tenants = "policies:\n  - {id: tenants, by: [tenant], limits: [3/h], on_failure: open}\n  - {id: jobs, by: [worker], concurrency: 1, on_failure: open}\n"

func TestDecidesOverTheWire(t *testing.T) {
	var mu sync.Mutex
	var told []weir.Verdict
	hooks := weir.Hooks{Decided: func(r *weir.Request, d *weir.Decision, took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if took <= 0 || r.Domain != "default" {
			t.Errorf("told of %+v, %v", r, took)
		}
		told = append(told, d.Verdict)
	}}
	c := dial(t, serve(t, decider(t, tenants, weir.Hooks{})), client.WithDeadline(patience), client.WithHooks(hooks))
	for i, want := range []weir.Verdict{weir.Allow, weir.Allow, weir.Allow, weir.Deny} {
		d := check(t, c, ask("tenant", "acme"))
		if d.Verdict != want || d.Rule != "tenants" || d.Scope != "tenant" || d.Limit.String() != "3/h" || d.Remaining != int64(max(0, 2-i)) || d.PolicyVersion == "" {
			t.Errorf("request %d: %+v", i, d)
		}
		if want == weir.Deny && (d.Reason != weir.ReasonExhausted || d.RetryAfter <= 0) {
			t.Errorf("denial: %+v", d)
		}
	}
	if len(told) != 4 || told[3] != weir.Deny {
		t.Errorf("the hook was told %v", told)
	}
}

func TestErrorsAreTheCallers(t *testing.T) {
	c := dial(t, serve(t, decider(t, tenants, weir.Hooks{})), client.WithDeadline(patience))
	nosuch := ask("tenant", "a")
	nosuch.Policy = "nosuch"
	for name, tc := range map[string]struct {
		r    *weir.Request
		code weir.Code
	}{
		"no policy":       {nosuch, weir.CodePolicyNotFound},
		"no id":           {ask("worker", "w"), weir.CodeInvalid},
		"twice":           {ask("tenant", "a", "tenant", "b"), weir.CodeInvalid},
		"not sent at all": {ask("tenant", "\xff"), weir.CodeInvalid},
		"two descriptors": {&weir.Request{Domain: "default", Descriptors: make([]weir.Descriptor, 2)}, weir.CodeInvalid},
	} {
		var d weir.Decision
		if err := c.Check(t.Context(), tc.r, &d); weir.CodeOf(err) != tc.code || d.Verdict != 0 {
			t.Errorf("%s: %v, %+v", name, err, d)
		}
		if err := submit(t.Context(), c, tc.r, &d); weir.CodeOf(err) != tc.code || d.Verdict != 0 {
			t.Errorf("%s, submitted: %v, %+v", name, err, d)
		}
	}
}

func TestReleaseGivesBack(t *testing.T) {
	c := dial(t, serve(t, decider(t, tenants, weir.Hooks{})), client.WithDeadline(patience))
	acquire := func(id string) bool {
		r := ask("worker", "w")
		r.ID = id
		d := check(t, c, r)
		return d.Allowed()
	}
	if !acquire("1") || acquire("2") {
		t.Fatal("one at a time")
	}
	r := ask("worker", "w")
	r.ID = "1"
	if n, version, err := c.Release(t.Context(), r); n != 1 || version == "" || err != nil {
		t.Errorf("released %d, %q, %v", n, version, err)
	}
	if !acquire("2") {
		t.Error("nothing was released")
	}
	r.ID = ""
	if _, _, err := c.Release(t.Context(), r); weir.CodeOf(err) != weir.CodeInvalid {
		t.Errorf("without an id: %v", err)
	}
}

// TestReleaseOfTheFallback: what the fallback admitted is released there.
func TestReleaseOfTheFallback(t *testing.T) {
	local := decider(t, tenants, weir.Hooks{})
	s := serve(t, decider(t, tenants, weir.Hooks{}))
	s.stop()
	c := dial(t, s, client.WithFallback(local), client.WithDeadline(patience))
	r := ask("worker", "w")
	r.ID = "1"
	if d := check(t, c, r); !d.Allowed() || d.Source != weir.SourceBackstop {
		t.Fatalf("got %+v", d)
	}
	if n, _, err := c.Release(t.Context(), r); n != 1 || err != nil {
		t.Errorf("released %d, %v", n, err)
	}
	if _, _, err := c.Release(t.Context(), r); weir.CodeOf(err) != weir.CodeRefused {
		t.Errorf("released twice, with the server away: %v", err)
	}
}

func TestCloseAnswersAndRefuses(t *testing.T) {
	c := dial(t, serve(t, decider(t, tenants, weir.Hooks{})), client.WithDeadline(patience), client.WithStreams(3))
	reach(t, c, ask("nobody", "x"))
	var wg sync.WaitGroup
	for range 200 {
		wg.Add(1)
		d := new(weir.Decision)
		c.Submit(ask("nobody", "x"), d, func(err error) {
			if err != nil || d.Source != weir.SourceStore {
				t.Errorf("outstanding at Close: %+v, %v", d, err)
			}
			wg.Done()
		})
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	var d weir.Decision
	if err := c.Check(t.Context(), ask("tenant", "a"), &d); weir.CodeOf(err) != weir.CodeClosed {
		t.Errorf("after Close: %v", err)
	}
	if err := submit(t.Context(), c, ask("tenant", "a"), &d); weir.CodeOf(err) != weir.CodeClosed {
		t.Errorf("submitted after Close: %v", err)
	}
}

func TestOverAConnection(t *testing.T) {
	s := serve(t, decider(t, tenants, weir.Hooks{}))
	conn, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for range 2 { // the first Close leaves the connection to the second
		c, err := client.Over(conn, client.WithDeadline(patience))
		if err != nil {
			t.Fatal(err)
		}
		reach(t, c, ask("nobody", "x"))
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTLS(t *testing.T) {
	certs := redistest.NewCerts(t)
	pair, err := tls.LoadX509KeyPair(certs.ServerCertFile, certs.ServerKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	config := certs.ClientConfig()
	s := serve(t, decider(t, tenants, weir.Hooks{}), grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: config.RootCAs, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
	})))
	reach(t, dial(t, s, client.WithTLS(config), client.WithDeadline(time.Second)), ask("nobody", "x"))
	for name, opt := range map[string]client.Option{
		"without a certificate": client.WithTLS(&tls.Config{RootCAs: config.RootCAs, MinVersion: tls.VersionTLS13}),
		"of another authority":  client.WithTLS(redistest.NewCerts(t).ClientConfig()),
		"without TLS":           client.WithInsecure(),
	} {
		if d := check(t, dial(t, s, opt), ask("nobody", "x")); d.Source != weir.SourceBackstop {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, tc := range map[string]struct {
		target string
		opts   []client.Option
		field  string // empty: fine
	}{
		"loopback":            {"127.0.0.1:1", nil, ""},
		"loopback of IPv6":    {"[::1]:1", nil, ""},
		"this machine":        {"dns:///localhost:1", nil, ""},
		"a socket":            {"unix:/tmp/weir.sock", nil, ""},
		"elsewhere":           {"weir.example:8081", nil, "target"},
		"elsewhere by DNS":    {"dns:///weir.example:8081", nil, "target"},
		"elsewhere by IP":     {"192.0.2.1:8081", nil, "target"},
		"elsewhere, insecure": {"weir.example:8081", []client.Option{client.WithInsecure()}, ""},
		"no address":          {"", nil, "target"},
		"no deadline":         {"127.0.0.1:1", []client.Option{client.WithDeadline(0)}, "deadline"},
		"no streams":          {"127.0.0.1:1", []client.Option{client.WithStreams(0)}, "streams"},
		"too many":            {"127.0.0.1:1", []client.Option{client.WithMaxOutstanding(1 << 17)}, "outstanding"},
		"no fallback":         {"127.0.0.1:1", []client.Option{client.WithFallback(nil)}, "fallback"},
		"no config":           {"127.0.0.1:1", []client.Option{client.WithTLS(nil)}, "tls"},
		"no mode":             {"127.0.0.1:1", []client.Option{client.WithFailMode(9)}, "fail mode"},
		"no option":           {"127.0.0.1:1", []client.Option{nil}, "option"},
	} {
		c, err := client.New(tc.target, tc.opts...)
		if e, _ := errors.AsType[*weir.Error](err); (err == nil) != (tc.field == "") || err != nil && e.Field != tc.field {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = c.Close()
		}
	}
	if _, err := client.Over(nil); weir.CodeOf(err) != weir.CodeInvalid {
		t.Errorf("no connection: %v", err)
	}
}

// counting is a native service that counts messages and what is in them.
type counting struct {
	weirv1.LimiterServer
	hold chan struct{} // closed when streams may be read

	mu       sync.Mutex
	messages []int
}

func (c *counting) CheckBatch(s weirv1.Limiter_CheckBatchServer) error {
	select {
	case <-c.hold:
	case <-s.Context().Done():
		return nil
	}
	return c.LimiterServer.CheckBatch(&counted{s, c})
}

type counted struct {
	weirv1.Limiter_CheckBatchServer
	to *counting
}

func (c *counted) Recv() (*weirv1.CheckBatchRequest, error) {
	in, err := c.Limiter_CheckBatchServer.Recv()
	if err == nil {
		c.to.mu.Lock()
		c.to.messages = append(c.to.messages, len(in.GetChecks()))
		c.to.mu.Unlock()
	}
	return in, err
}

// TestGathersWhileWriting: while a message cannot be written, because the server
// reads nothing, checks gather; then they travel together, within the bounds of
// a message. The values are long: it is the bytes that bound.
func TestGathersWhileWriting(t *testing.T) {
	with := &counting{LimiterServer: native.NewLimiter(decider(t, tenants, weir.Hooks{})), hold: make(chan struct{})}
	s := serveAs(t, with, grpc.MaxRecvMsgSize(64<<10))
	c := dial(t, s, client.WithDeadline(patience))
	const checks = 3000
	var wg sync.WaitGroup
	long := strings.Repeat("x", 250)
	for range checks {
		wg.Add(1)
		d := new(weir.Decision)
		c.Submit(ask("tenant", long), d, func(err error) {
			if err != nil || d.Source != weir.SourceStore {
				t.Errorf("%+v, %v", d, err)
			}
			wg.Done()
		})
	}
	close(with.hold)
	wg.Wait()
	with.mu.Lock()
	defer with.mu.Unlock()
	sum, most := 0, 0
	for _, n := range with.messages {
		sum, most = sum+n, max(most, n)
	}
	if sum != checks || len(with.messages) > checks/20 || most < 100 || most > 1024 {
		t.Errorf("%d checks in %d messages, %d at most", sum, len(with.messages), most)
	}
}
