package rlsload

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// service is a server that allows requests, but denies those that name a used-up
// key and fails those that name a bad one.
type service struct {
	addr  string
	calls atomic.Int64
	pause time.Duration // of every call
}

func startService(t *testing.T) *service {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &service{addr: l.Addr().String()}
	srv := &http.Server{Handler: http.HandlerFunc(s.serve), Protocols: new(http.Protocols)}
	srv.Protocols.SetUnencryptedHTTP2(true)
	srv.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 100}
	done := make(chan error)
	go func() { done <- srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close() // what Serve returns says how it went
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return s
}

func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	time.Sleep(s.pause)
	b, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit" ||
		r.Header.Get("Te") != "trailers" || len(b) < prefixLen {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	status, code := "0", 1
	switch text := string(b); {
	case strings.Contains(text, "used-up"):
		code = 2
	case strings.Contains(text, "bad"):
		status = "3"
	}
	if status == "0" {
		_, _ = w.Write(body(message(1, code, 2, message(1, code, 3, 9)))) // the test sees what is missing
	}
	w.Header().Set("Grpc-Status", status)
}

func asking(values ...string) Recording {
	var r Recording
	for _, v := range values {
		r = append(r, Request{Domain: "d", Descriptors: []Descriptor{{{"k", v}}}})
	}
	return r
}

func script(t *testing.T, values ...string) Script {
	t.Helper()
	s, err := NewScript(asking(values...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestClosedCountsEveryAnswer(t *testing.T) {
	s := startService(t)
	const calls = 400
	got, err := Closed{
		Addr: s.addr, Script: script(t, "ok", "used-up", "ok", "bad"), Conns: 4, Callers: 16,
		Measure: time.Minute, Calls: calls,
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := s.calls.Load(); n != calls {
		t.Errorf("the server had %d calls, want %d", n, calls)
	}
	// Answers that come before the first edge are the warm-up's.
	if got.Answered < calls/2 || got.OK+got.Denied+got.Failed != got.Answered ||
		got.Denied == 0 || got.Failed == 0 || got.OK < got.Denied || got.Status != 3 {
		t.Errorf("tally: %d answered, %d ok, %d denied, %d failed (status %d), %d unsent in %v",
			got.Answered, got.OK, got.Denied, got.Failed, got.Status, got.Unsent, got.Took)
	}
	if got.Latency.Count() != got.OK+got.Denied {
		t.Errorf("%d latencies of %d decisions", got.Latency.Count(), got.OK+got.Denied)
	}
}

func TestClosedEndsWithItsTime(t *testing.T) {
	s := startService(t)
	edges := 0
	got, err := Closed{
		Addr: s.addr, Script: script(t, "ok"), Conns: 2, Callers: 8,
		WarmUp: 20 * time.Millisecond, Measure: 100 * time.Millisecond, Edge: func() { edges++ },
	}.Run(t.Context())
	if err != nil || edges != 2 {
		t.Fatalf("%d edges, %v", edges, err)
	}
	if got.OK == 0 || got.Failed > 0 || got.Took < 100*time.Millisecond || got.Rate() <= 0 {
		t.Errorf("tally: %d answered, %d ok, %d denied, %d failed (status %d), %d unsent in %v",
			got.Answered, got.OK, got.Denied, got.Failed, got.Status, got.Unsent, got.Took)
	}
	if n := uint64(s.calls.Load()); n < got.OK {
		t.Errorf("%d answers to %d calls", got.OK, n)
	}
}

func TestOpenSendsWhatIsDue(t *testing.T) {
	s := startService(t)
	edges := 0
	got, err := Open{
		Addr: s.addr, Script: script(t, "ok", "used-up"), Conns: 2, Rate: 1000,
		WarmUp: 100 * time.Millisecond, Measure: 200 * time.Millisecond, Edge: func() { edges++ },
	}.Run(t.Context())
	if err != nil || edges != 2 {
		t.Fatalf("%d edges, %v", edges, err)
	}
	if got.OK != 100 || got.Denied != 100 || got.Answered != 200 || got.Unsent > 0 {
		t.Errorf("tally: %d answered, %d ok, %d denied, %d failed (status %d), %d unsent in %v",
			got.Answered, got.OK, got.Denied, got.Failed, got.Status, got.Unsent, got.Took)
	}
}

// A server that allows 100 calls at once, and takes 50 ms for each, is not
// asked for more; those that wait for a place wait in their latency.
func TestOpenKeepsToTheServersStreams(t *testing.T) {
	s := startService(t)
	s.pause = 50 * time.Millisecond
	got, err := Open{Addr: s.addr, Script: script(t, "ok"), Conns: 1, Rate: 4000, Measure: 150 * time.Millisecond}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.OK != 600 || got.Answered != 600 || got.Unsent > 0 {
		t.Errorf("tally: %d answered, %d ok, %d denied, %d failed (status %d), %d unsent in %v",
			got.Answered, got.OK, got.Denied, got.Failed, got.Status, got.Unsent, got.Took)
	}
	if worst := got.Latency.Quantile(1); worst < 2*s.pause {
		t.Errorf("the last call took %v, though some had to wait", worst)
	}
}

func TestAsk(t *testing.T) {
	s := startService(t)
	got, err := Ask(t.Context(), s.addr, asking("ok", "used-up"))
	if err != nil || len(got) != 2 || got[0].Code != CodeOK || got[1].Code != CodeOverLimit || got[0].Statuses[0].Remaining != 9 {
		t.Errorf("answers %+v, %v", got, err)
	}
	if _, err := Ask(t.Context(), s.addr, asking("bad")); err == nil || !strings.Contains(err.Error(), "grpc-status 3") {
		t.Errorf("error %v, want grpc-status 3", err)
	}
}

func TestRunsThatCannotBe(t *testing.T) {
	s := startService(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Closed{Addr: s.addr, Script: script(t, "ok"), Conns: 1, Callers: 1, Measure: time.Second}).Run(ctx); err == nil {
		t.Error("a cancelled run succeeds")
	}
	if _, err := (Closed{Addr: s.addr, Script: script(t, "ok"), Conns: 4, Callers: 2}).Run(t.Context()); err == nil {
		t.Error("fewer callers than connections are accepted")
	}
	if _, err := (Open{Addr: s.addr, Script: script(t, "ok"), Conns: 1}).Run(t.Context()); err == nil {
		t.Error("a rate of 0 is accepted")
	}
	if _, err := NewScript(nil); err == nil {
		t.Error("an empty recording is accepted")
	}
}
