package rls_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/degrade"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/internal/rls"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/redisstore"
)

// The windows are of a year, so that none ends during a test.
const tallied = `
domain: test
descriptors:
  - {key: tenant, rate_limit: {unit: year, requests_per_unit: 9}}
  - {key: tenant, value: big, rate_limit: {unit: year, requests_per_unit: 40}}
  - {key: watched, shadow_mode: true, rate_limit: {unit: year, requests_per_unit: 15}}
  - {key: shut, rate_limit: {unit: year, requests_per_unit: 0}}
  - {key: watchedshut, shadow_mode: true, rate_limit: {unit: year, requests_per_unit: 0}}
  - {key: free, rate_limit: {unlimited: true}}
`

// peer is envoyproxy/ratelimit in a few lines, for the rules above: each hit of
// each descriptor is added to its counter, one after the other, and over is what
// is then past its limit. The program itself, at the version in bench/peers, gives
// the same answers to the requests below.
type peer map[string]uint64

func (p peer) ask(request uint32, descriptors []*common.RateLimitDescriptor) (overall pb.RateLimitResponse_Code, told []string) {
	overall = ok
	for _, x := range descriptors {
		e := x.GetEntries()[0]
		limit, limited := map[string]uint64{"tenant": 9, "watched": 15, "shut": 0, "watchedshut": 0}[e.GetKey()]
		if e.GetKey() == "tenant" && e.GetValue() == "big" {
			limit = 40
		}
		switch {
		case e.GetKey() == "free":
			told = append(told, tell(ok, 0, math.MaxUint32))
			continue
		case !limited:
			told = append(told, tell(ok, 0, 0))
			continue
		}
		hits := max(uint64(request), 1)
		if x.GetHitsAddend() != nil {
			hits = x.GetHitsAddend().GetValue()
		}
		name := e.GetKey() + "=" + e.GetValue()
		p[name] += hits
		code, left := ok, uint64(0)
		switch used := p[name]; {
		case used <= limit:
			left = limit - used
		case e.GetKey() == "watched" || e.GetKey() == "watchedshut":
		default:
			code, overall = over, over
		}
		told = append(told, tell(code, limit, left))
	}
	return overall, told
}

func tell(code pb.RateLimitResponse_Code, limit, left uint64) string {
	return fmt.Sprintf("%v, limit %d, %d left", code, limit, left)
}

// TestCompatAnswersAsThePeer asks for anything that the peer's format can say of
// fixed windows, of few counters, so that they are used up, used past their
// limits, and met twice in one request.
func TestCompatAnswersAsThePeer(t *testing.T) {
	each(t, func(t *testing.T, serve opener, compat bool) {
		if !compat {
			return
		}
		sameAsPeer(t, serve(rls.Options{Compat: true}, tallied))
	})
}

// TestCompatAnswersAsThePeerFromTheDenyCache: so does what Redis is not asked
// for.
func TestCompatAnswersAsThePeerFromTheDenyCache(t *testing.T) {
	srv := redistest.Start(t)
	store, err := redisstore.New(t.Context(), redisstore.Options{Addrs: []string{srv.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	sources := make(chan weir.Source, compared)
	sameAsPeer(t, withTier(t, fast, store, true, tallied, sources))
	cached := 0
	for range compared { // the last is told beside its answer, or after
		if <-sources == weir.SourceDenyCache {
			cached++
		}
	}
	if cached < 5 {
		t.Errorf("%d answers came from the deny cache: that tries little", cached)
	}
}

// TestCompatShadowDeniesNothingWithoutAStore: neither what the store counted
// past the limit nor what the backstop counts makes a rule in shadow deny.
func TestCompatShadowDeniesNothingWithoutAStore(t *testing.T) {
	store := memstore.New()
	e, err := engine.New(engine.Options{Store: store, Deadline: time.Second, Backstop: degrade.NewBackstop(degrade.BackstopOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	e.Swap(compiled(t, tallied, true))
	s := connect(t, stock, e, rls.Options{Compat: true})
	s.ask(20, d("watched", "a"))
	_ = store.Close()
	for range 20 {
		if out := s.ask(1, d("watched", "a"), d("watched", "b")); out.GetOverallCode() != ok {
			t.Fatalf("got %v", out)
		}
	}
	for range 9 {
		s.ask(1, d("tenant", "a"))
	}
	if out := s.ask(1, d("tenant", "a")); out.GetOverallCode() != over {
		t.Errorf("the backstop admits more than the limit: %v", out)
	}
}

// compared is how many requests are compared: of them some hundred are denied.
const compared = 400

func sameAsPeer(t *testing.T, s *service) {
	model, rng, denied := peer{}, rand.New(rand.NewPCG(7, 11)), 0
	for n := range compared {
		request, asked := randomAsk(rng)
		out := s.ask(request, asked...)
		overall, told := model.ask(request, asked)
		if overall == over {
			denied++
		}
		if out.GetOverallCode() != overall {
			t.Fatalf("request %d, %d hits of %v: %v, the peer says %v", n, request, asked, out, overall)
		}
		for i, st := range out.GetStatuses() {
			got := tell(st.GetCode(), uint64(st.GetCurrentLimit().GetRequestsPerUnit()), uint64(st.GetLimitRemaining()))
			if got != told[i] {
				t.Fatalf("request %d, %d hits of %v, descriptor %d: %s, the peer says %s", n, request, asked, i, got, told[i])
			}
			if st.GetCurrentLimit() != nil {
				endsWithTheYear(t, st)
			}
		}
	}
	if denied < compared/8 || denied > compared*7/8 {
		t.Errorf("%d of %d requests were denied: that tries little", denied, compared)
	}
}

// randomAsk is a request's hits and its descriptors, some with hits of their own
// and 0 among those. What is counted of a limit of 0 is not known to a peek.
func randomAsk(rng *rand.Rand) (uint32, []*common.RateLimitDescriptor) {
	var asked []*common.RateLimitDescriptor
	for range 1 + rng.IntN(4) {
		var x *common.RateLimitDescriptor
		switch n := rng.IntN(20); {
		case n < 8:
			x = d("tenant", []string{"a", "b", "c", "d", "big"}[rng.IntN(5)])
		case n < 15:
			x = d("watched", []string{"a", "b", "c"}[rng.IntN(3)])
		case n < 16:
			x = d("free", "a")
		case n < 17:
			x = d("stranger", "a")
		case n < 18:
			asked = append(asked, d("watchedshut", "a"))
			continue
		case n < 19 && rng.IntN(3) == 0:
			asked = append(asked, d("shut", "a"))
			continue
		default:
			x = d("tenant", fmt.Sprint(rng.IntN(100)))
		}
		if rng.IntN(4) == 0 {
			x = withHits(x, rng.Uint64N(3))
		}
		asked = append(asked, x)
	}
	return rng.Uint32N(3), asked
}

func endsWithTheYear(t *testing.T, st *pb.RateLimitResponse_DescriptorStatus) {
	t.Helper()
	const year = 365 * 24 * time.Hour
	left := year - time.Duration(time.Now().UnixNano())%year
	if d := st.GetDurationUntilReset().AsDuration() - left; d.Abs() > time.Minute {
		t.Fatalf("reset in %v, the window ends in %v: %v", st.GetDurationUntilReset().AsDuration(), left, st)
	}
}
