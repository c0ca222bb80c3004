package native_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/native"
	"github.com/weirlimit/weir/internal/obs"
	"github.com/weirlimit/weir/internal/unary"
	"github.com/weirlimit/weir/internal/unarytest"
)

// pair is the two ways in, each with an engine and a memory of its own.
type pair struct {
	stock *native.Limiter
	fast  unary.Method
	conn  *unarytest.Conn
}

func newPair(t testing.TB) *pair {
	return &pair{limiter(t), unarytest.Keeping(native.NewLane(decider(t))), unarytest.Dial(t, nil)}
}

// compare sends the bytes of a request both ways: the answers are equal, or the
// statuses are.
func (p *pair) compare(t *testing.T, b []byte) {
	t.Helper()
	var in weirv1.CheckRequest
	if proto.Unmarshal(b, &in) != nil {
		if _, err := p.conn.Send(t.Context(), p.fast, b); status.Code(err) != codes.Internal {
			t.Errorf("%x: %v, though protobuf does not read it", b, err)
		}
		return
	}
	if in.TimeoutUs > 0 {
		in.TimeoutUs = max(in.TimeoutUs, 1e7) // whether it is in time is not compared
		b, _ = proto.Marshal(&in)
	}
	want, wantErr := p.stock.Check(t.Context(), &in)
	answer, err := p.conn.Send(t.Context(), p.fast, b)
	if status.Code(err) == codes.Internal && len(b) > 64 {
		return // groups within groups
	}
	if status.Code(err) != status.Code(wantErr) || status.Convert(err).Message() != status.Convert(wantErr).Message() {
		t.Errorf("%x: %v, want %v", b, err, wantErr)
		return
	}
	if err != nil {
		return
	}
	var got weirv1.CheckResponse
	if err := proto.Unmarshal(answer, &got); err != nil {
		t.Errorf("%x: answered with %x: %v", b, answer, err)
		return
	}
	timeless(&got)
	timeless(want)
	if !proto.Equal(&got, want) {
		t.Errorf("%x: answered\n%v\nwant\n%v", b, &got, want)
	}
}

// timeless takes out what a moment changes.
func timeless(m *weirv1.CheckResponse) {
	sign := func(us *int64) { *us = min(*us, 1) }
	sign(&m.ResetAfterUs)
	sign(&m.RetryAfterUs)
	for _, c := range m.GetCharges() {
		sign(&c.ResetAfterUs)
		sign(&c.RetryAfterUs)
	}
}

func requests() []*weirv1.CheckRequest {
	var out []*weirv1.CheckRequest
	for range 5 {
		out = append(out,
			&weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "acme"), Number: 1 << 40, WantCharges: true},
			&weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "b", "bulk", "x"), Cost: 2, TimeoutUs: 1e7},
			&weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "b"), Cost: 2, Mode: weirv1.Mode_MODE_REFUND, RequestId: "r"},
			&weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "c"), Cost: 9, Mode: weirv1.Mode_MODE_SPENT, WantCharges: true},
			&weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "c"), Mode: weirv1.Mode_MODE_PEEK},
			&weirv1.CheckRequest{Domain: "default", Dimensions: dims("worker", "w"), RequestId: "one"},
			&weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "d"), RequestId: "again"},
			&weirv1.CheckRequest{Domain: "default", Dimensions: dims("worker", "w")},
			&weirv1.CheckRequest{Domain: "default", Policy: "nosuch", Number: 7},
			&weirv1.CheckRequest{Domain: "default", Policy: "tenants", Dimensions: dims("tenant", "e")},
			&weirv1.CheckRequest{Domain: "elsewhere", Dimensions: dims("tenant", "a")},
			&weirv1.CheckRequest{Domain: "default", Cost: -1}, &weirv1.CheckRequest{Domain: "default", Mode: -1},
			&weirv1.CheckRequest{Domain: "default", TimeoutUs: -1}, &weirv1.CheckRequest{},
			&weirv1.CheckRequest{Domain: "default", Dimensions: make([]*weirv1.Dimension, 17)},
			&weirv1.CheckRequest{Domain: "default", Dimensions: make([]*weirv1.Dimension, 100)},
			&weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "a", "tenant", "b")},
		)
	}
	return out
}

func TestLaneAnswersAlike(t *testing.T) {
	p := newPair(t)
	for _, in := range requests() {
		b, err := proto.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		p.compare(t, b)
		p.compare(t, b) // what was asked before need not be read again
	}
	p.compare(t, []byte("\x0a\x01\xff"))
	p.compare(t, []byte("\x0a\x07default\x1a\x05\x12\x03\xff\xff\xff"))
	p.compare(t, []byte("\x0a\x02d"))
}

// FuzzLane is the same with anything.
func FuzzLane(f *testing.F) {
	p := newPair(f)
	for _, in := range requests()[:18] {
		b, err := proto.Marshal(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { p.compare(t, b) })
}

// checker answers as it is told.
type checker struct {
	weir.Checker
	submit func(r *weir.Request, d *weir.Decision, done func(error))
}

func (c *checker) Submit(r *weir.Request, d *weir.Decision, done func(error)) { c.submit(r, d, done) }

// TestLaneDeadline: the earlier of the call's and the request's own holds.
func TestLaneDeadline(t *testing.T) {
	at := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), at)
	defer cancel()
	for _, tc := range []struct {
		ctx   context.Context
		own   time.Duration
		least time.Time
		none  bool
	}{
		{t.Context(), 0, time.Time{}, true},
		{ctx, 0, at, false},
		{ctx, 2 * time.Hour, at, false},
		{ctx, time.Minute, time.Now().Add(time.Minute), false},
		{t.Context(), time.Minute, time.Now().Add(time.Minute), false},
	} {
		c := &checker{submit: func(r *weir.Request, d *weir.Decision, done func(error)) {
			if late := r.Deadline.Sub(tc.least); r.Deadline.IsZero() != tc.none || !tc.none && (late < 0 || late > 10*time.Second) {
				t.Errorf("deadline %v, want %v", r.Deadline, tc.least)
			}
			*d = weir.Decision{Verdict: weir.Allow}
			done(nil)
		}}
		b, _ := proto.Marshal(&weirv1.CheckRequest{Domain: "default", TimeoutUs: tc.own.Microseconds()})
		if _, err := unarytest.Dial(t, nil).Send(tc.ctx, native.NewLane(c), b); err != nil {
			t.Error(err)
		}
	}
}

// TestLaneKeepsWhatIsAsked: the message is the server's again once Take returns,
// and the request the checker's until it answers.
func TestLaneKeepsWhatIsAsked(t *testing.T) {
	var later func()
	c := &checker{submit: func(r *weir.Request, d *weir.Decision, done func(error)) {
		later = func() {
			if r.Domain != "default" || r.ID != "id" || r.Descriptors[0].Pairs[0] != (weir.Pair{Name: "tenant", Value: "a"}) {
				t.Errorf("the request became %+v", r)
			}
			*d = weir.Decision{Verdict: weir.Allow}
			done(nil)
		}
	}}
	msg, err := proto.Marshal(&weirv1.CheckRequest{Domain: "default", RequestId: "id", Dimensions: dims("tenant", "a")})
	if err != nil {
		t.Fatal(err)
	}
	call := new(unarytest.Bare)
	unary.Serve(native.NewLane(c), call, msg)
	clear(msg)
	if later(); call.Code != codes.OK || len(call.Message) == 0 {
		t.Errorf("%v, %x", call.Code, call.Message)
	}
}

// TestLanePanic: a call in whose answering something breaks is answered, and who
// called back is told.
func TestLanePanic(t *testing.T) {
	told := false
	c := &checker{submit: func(_ *weir.Request, _ *weir.Decision, done func(error)) {
		defer func() { told = recover() != nil }()
		done(nilError{})
	}}
	b, _ := proto.Marshal(&weirv1.CheckRequest{Domain: "default"})
	_, err := unarytest.Dial(t, nil).Send(t.Context(), native.NewLane(c), b)
	if status.Code(err) != codes.Internal || !told {
		t.Errorf("%v, told %v", err, told)
	}
}

// nilError panics when it is looked at.
type nilError struct{ error }

func (nilError) Unwrap() error { panic("looked at") }

// counted is an engine whose decisions are counted, as in a server.
func counted(t testing.TB) *engine.Engine {
	m := obs.New(obs.Options{})
	e := enginetest.New(t, "policies:\n"+
		"  - {id: tenants, by: [tenant], limits: [10000000/m, 10000000/s burst 10000000], on_failure: open}\n"+
		"  - {id: shut, by: [shut], limits: [1/365d], on_failure: open}\n", engine.Options{Hooks: m.Hooks()})
	rules := make([]obs.RuleInfo, len(e.Set().Rules()))
	for i, r := range e.Set().Rules() {
		rules[i] = obs.RuleInfo{Domain: r.Domain, ID: r.ID}
	}
	m.SetLoaded(e.NextSerial(), e.Set().Version(), rules)
	e.Swap(e.Set())
	return e
}

func TestLaneDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops items under the race detector, so that it is not about the lane")
	}
	lane, call := native.NewLane(counted(t)), &unarytest.Bare{At: time.Now().Add(time.Hour)}
	for name, in := range map[string]*weirv1.CheckRequest{
		"allowed":     {Domain: "default", Dimensions: dims("tenant", "acme")},
		"charges":     {Domain: "default", Dimensions: dims("tenant", "acme", "user", "ann"), WantCharges: true, TimeoutUs: 5000},
		"denied":      {Domain: "default", Dimensions: dims("shut", "x")},
		"with an id":  {Domain: "default", Dimensions: dims("tenant", "b"), RequestId: "7a1c", Mode: weirv1.Mode_MODE_PEEK},
		"no policies": {Domain: "nowhere"},
	} {
		b, err := proto.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(1000, func() { unary.Serve(lane, call, b) }); n != 0 || call.Code != codes.OK || len(call.Message) == 0 {
			t.Errorf("%s: %v allocations a call; %v", name, n, call.Code)
		}
	}
}

var benched = &weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "acme-incorporated", "user", "ann")}

// BenchmarkLane is a whole call, from bytes to bytes.
func BenchmarkLane(b *testing.B) {
	lane, call := native.NewLane(counted(b)), &unarytest.Bare{At: time.Now().Add(time.Hour)}
	msg, _ := proto.Marshal(benched)
	b.ReportAllocs()
	for b.Loop() {
		unary.Serve(lane, call, msg)
	}
}

// BenchmarkStock is the same with protobuf's messages, as grpc-go calls it.
func BenchmarkStock(b *testing.B) {
	l := native.NewLimiter(counted(b))
	msg, _ := proto.Marshal(benched)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		var in weirv1.CheckRequest
		if err := proto.Unmarshal(msg, &in); err != nil {
			b.Fatal(err)
		}
		out, err := l.Check(ctx, &in)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := proto.Marshal(out); err != nil {
			b.Fatal(err)
		}
	}
}
