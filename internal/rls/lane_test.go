package rls_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/pbwire"
	"github.com/weirlimit/weir/internal/rls"
	"github.com/weirlimit/weir/internal/unary"
	"github.com/weirlimit/weir/internal/unarytest"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
)

// pair is the two ways in, each with an engine and a memory of its own.
type pair struct {
	stock *rls.Server
	fast  unary.Method
	conn  *unarytest.Conn
}

func newPair(t testing.TB, o rls.Options) *pair {
	one, other := memoryEngine(t, weir.Hooks{}), memoryEngine(t, weir.Hooks{})
	return &pair{rls.New(one, o), unarytest.Keeping(rls.NewLane(rls.New(other, o), other)), unarytest.Dial(t, nil)}
}

// memoryEngine has the policies of config.
func memoryEngine(t testing.TB, hooks weir.Hooks) *engine.Engine {
	t.Helper()
	f, problems := policy.ParseEnvoy("config.yaml", []byte(config))
	set, more := policy.Compile([]*policy.File{{Name: "config.yaml", Envoy: f}}, policy.Options{})
	if set == nil {
		t.Fatal(problems, more)
	}
	e, err := engine.New(engine.Options{Store: memstore.New(), Deadline: 5 * time.Second, Hooks: hooks})
	if err != nil {
		t.Fatal(err)
	}
	e.Swap(set)
	return e
}

// compare sends the bytes of a request both ways: the answers are equal, or the
// statuses are.
func (p *pair) compare(t *testing.T, b []byte) {
	t.Helper()
	var in pb.RateLimitRequest
	if proto.Unmarshal(b, &in) != nil {
		if _, err := p.conn.Send(t.Context(), p.fast, b); err != nil && status.Code(err) != codes.Internal && status.Code(err) != codes.InvalidArgument {
			t.Errorf("%x: %v", b, err)
		}
		return
	}
	if mayNest(b) {
		return
	}
	want, wantErr := p.stock.ShouldRateLimit(t.Context(), &in)
	answer, err := p.conn.Send(t.Context(), p.fast, b)
	if status.Code(err) != status.Code(wantErr) || status.Convert(err).Message() != status.Convert(wantErr).Message() {
		t.Errorf("%x: %v, want %v", b, err, wantErr)
		return
	}
	if err != nil {
		return
	}
	var got pb.RateLimitResponse
	if err := proto.Unmarshal(answer, &got); err != nil {
		t.Errorf("%x: answered with %x: %v", b, answer, err)
		return
	}
	for i, st := range got.GetStatuses() { // a moment has passed between the two
		if i < len(want.GetStatuses()) && (st.DurationUntilReset == nil) == (want.Statuses[i].DurationUntilReset == nil) {
			st.DurationUntilReset, want.Statuses[i].DurationUntilReset = nil, nil
		}
	}
	if !proto.Equal(&got, want) {
		t.Errorf("%x: answered\n%v\nwant\n%v", b, &got, want)
	}
}

func TestLaneAnswersAlike(t *testing.T) {
	for name, o := range map[string]rls.Options{"plain": {}, "metadata": {Metadata: true}, "compat": {Compat: true}} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, o)
			for range 4 {
				for _, b := range messages(t) {
					p.compare(t, b)
					p.compare(t, b) // what was asked before need not be read again
				}
				for _, pairs := range [][]string{
					{"tenant", "a"},
					{"tenant", "vip"},
					{"path", "/api/x"},
					{"free", "pass"},
					{"bottomless", "x"},
					{"shut", "x"},
					{"watched", "x"},
					{"outer", "1", "inner", "2"},
					{"q1", "x"},
					{"half", "x"},
					{"tagged", "x"},
					{"nosuch", "x"},
				} {
					in := &pb.RateLimitRequest{Domain: "test", Descriptors: []*common.RateLimitDescriptor{d(pairs...), d("tenant", "both")}}
					for range 3 {
						p.compare(t, marshal(t, in))
					}
				}
			}
		})
	}
}

// TestLaneRemembers: of a message that is the same as the one before nothing is
// assumed but what it says. Another set of policies, one that is not there, a call
// that cannot be read and one too long to be kept come in between.
func TestLaneRemembers(t *testing.T) {
	set := func(limit string) *policy.Set {
		f, problems := policy.ParseEnvoy("config.yaml", []byte("domain: test\ndescriptors: [{key: tenant, rate_limit: {unit: day, requests_per_unit: "+limit+"}}]"))
		set, more := policy.Compile([]*policy.File{{Name: "config.yaml", Envoy: f}}, policy.Options{})
		if set == nil {
			t.Fatal(problems, more)
		}
		return set
	}
	e, err := engine.New(engine.Options{Store: memstore.New(), Deadline: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	lane, conn := unarytest.Keeping(rls.NewLane(rls.New(e, rls.Options{}), e)), unarytest.Dial(t, nil)
	ask := func(value string) (*pb.RateLimitResponse, error) {
		b, err := conn.Send(t.Context(), lane, marshal(t, &pb.RateLimitRequest{Domain: "test", Descriptors: []*common.RateLimitDescriptor{d("tenant", value)}}))
		var out pb.RateLimitResponse
		if err == nil {
			err = proto.Unmarshal(b, &out)
		}
		return &out, err
	}
	if _, err := ask("a"); status.Code(err) != codes.Unavailable {
		t.Fatalf("without policies: %v", err)
	}
	spent := map[string]uint32{}
	for round, limit := range []uint32{5, 20, 10, 20} {
		e.Swap(set(fmt.Sprint(limit)))
		for i, value := range []string{"a", "a", "b", "a", "a", "", "a", strings.Repeat("long", unary.MaxKept), "a", "a"} {
			if value == "" {
				if _, err := conn.Send(t.Context(), lane, []byte{0xff}); status.Code(err) != codes.Internal {
					t.Fatal(err)
				}
				continue
			}
			got, err := ask(value)
			if err != nil {
				t.Fatal(err)
			}
			want := pb.RateLimitResponse_OVER_LIMIT
			if spent[value] < limit {
				spent[value]++
				want = pb.RateLimitResponse_OK
			}
			if st := got.GetStatuses()[0]; got.GetOverallCode() != want || st.GetCurrentLimit().GetRequestsPerUnit() != limit ||
				st.GetLimitRemaining() != limit-min(limit, spent[value]) {
				t.Errorf("round %d, %d: %v, want %v of %d with %d spent", round, i, got, want, limit, spent[value])
			}
		}
	}
}

// FuzzLane is the same with anything.
func FuzzLane(f *testing.F) {
	p := newPair(f, rls.Options{Metadata: true})
	for _, b := range messages(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { p.compare(t, b) })
}

// TestAnyBytesAreAValue: a client may send what is no UTF-8, and is limited all
// the same.
func TestAnyBytesAreAValue(t *testing.T) {
	e := memoryEngine(t, weir.Hooks{})
	lane, conn := rls.NewLane(rls.New(e, rls.Options{}), e), unarytest.Dial(t, nil)
	ask := func(value string) pb.RateLimitResponse_Code {
		b := pbwire.AppendText(nil, 1, "test")
		b, from := pbwire.Open(b, 2)
		b, entry := pbwire.Open(b, 1)
		b = pbwire.Close(pbwire.AppendText(pbwire.AppendText(b, 1, "tenant"), 2, value), entry)
		answer, err := conn.Send(t.Context(), lane, pbwire.Close(b, from))
		var out pb.RateLimitResponse
		if err != nil || proto.Unmarshal(answer, &out) != nil {
			t.Fatal(err)
		}
		return out.GetOverallCode()
	}
	for _, value := range []string{"\xff\xfe", "\xff\xfd", "\xed\xa0\x80", "a\x00b"} {
		for i := range 4 {
			if got := ask(value); (got == over) != (i == 3) {
				t.Errorf("%q, request %d: %v", value, i+1, got)
			}
		}
	}
}

// checker answers as it is told.
type checker struct {
	weir.Checker
	submit func(r *weir.Request, d *weir.Decision, done func(error))
}

func (c *checker) Submit(r *weir.Request, d *weir.Decision, done func(error)) { c.submit(r, d, done) }

func (c *checker) send(t *testing.T, ctx context.Context) error {
	lane := rls.NewLane(rls.New(c, rls.Options{}), c)
	in := &pb.RateLimitRequest{Domain: "test", Descriptors: []*common.RateLimitDescriptor{d("tenant", "a")}}
	_, err := unarytest.Dial(t, nil).Send(ctx, lane, marshal(t, in))
	return err
}

func TestLaneErrors(t *testing.T) {
	for code, want := range map[weir.Code]codes.Code{
		weir.CodeNotReady: codes.Unavailable, weir.CodeInvalid: codes.InvalidArgument, weir.CodeTimeout: codes.DeadlineExceeded, weir.CodeNoAuth: codes.Internal,
	} {
		c := &checker{submit: func(_ *weir.Request, _ *weir.Decision, done func(error)) {
			go done(&weir.Error{Code: code, Message: "why"})
		}}
		if err := c.send(t, t.Context()); status.Code(err) != want || status.Convert(err).Message() != "why" {
			t.Errorf("%v: %v", code, err)
		}
	}
}

// TestLaneDeadline: the caller's deadline is the request's, and none is none.
func TestLaneDeadline(t *testing.T) {
	at := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), at)
	defer cancel()
	for _, want := range []time.Time{at, {}} {
		c := &checker{submit: func(r *weir.Request, d *weir.Decision, done func(error)) {
			if !r.Deadline.Equal(want) {
				t.Errorf("deadline %v, want %v", r.Deadline, want)
			}
			*d = weir.Decision{Verdict: weir.Allow}
			done(nil)
		}}
		if want.IsZero() {
			ctx = t.Context()
		}
		if err := c.send(t, ctx); err != nil {
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
			if r.Domain != "test" || r.Descriptors[0].Pairs[0] != (weir.Pair{Name: "tenant", Value: "a"}) {
				t.Errorf("the request became %+v", r)
			}
			*d = weir.Decision{Verdict: weir.Allow}
			done(nil)
		}
	}}
	msg := marshal(t, &pb.RateLimitRequest{Domain: "test", Descriptors: []*common.RateLimitDescriptor{d("tenant", "a")}})
	call := new(unarytest.Bare)
	unary.Serve(rls.NewLane(rls.New(c, rls.Options{}), c), call, msg)
	clear(msg)
	if later(); call.Code != codes.OK || len(call.Message) == 0 {
		t.Errorf("%v, %x", call.Code, call.Message)
	}
}

// TestLanePanic: a call in whose answering something breaks is answered, and who
// called back is told.
func TestLanePanic(t *testing.T) {
	told := false
	c := &checker{submit: func(_ *weir.Request, d *weir.Decision, done func(error)) {
		defer func() { told = recover() != nil }()
		*d = weir.Decision{Verdict: weir.Allow, Charges: make([]weir.Charged, 1)} // a limit that is none
		done(nil)
	}}
	if err := c.send(t, t.Context()); status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "panic") || !told {
		t.Errorf("%v, told %v", err, told)
	}
}
