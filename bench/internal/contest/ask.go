package contest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/bench"
)

// answer is what a server said, but for what nobody here compares.
type answer struct {
	Code     rlsv3.RateLimitResponse_Code
	Statuses []status
}

// status is the answer to one descriptor.
type status struct {
	Code      rlsv3.RateLimitResponse_Code
	Limited   bool // there is a limit, which the next three are of
	Requests  uint32
	Unit      rlsv3.RateLimitResponse_RateLimit_Unit
	Name      string
	Remaining uint32
	Reset     time.Duration // to the second, from when it was answered
}

// String is an answer as a person reads it: OVER_LIMIT [OK 3/5 DAY, OK].
func (a answer) String() string {
	var all []string
	for _, s := range a.Statuses {
		text := s.Code.String()
		if s.Limited {
			text = fmt.Sprintf("%s %s%d/%d %s", text, s.Name, s.Remaining, s.Requests, s.Unit)
		}
		all = append(all, text)
	}
	return fmt.Sprintf("%s [%s]", a.Code, strings.Join(all, ", "))
}

// askBound is how long one answer may take.
const askBound = 10 * time.Second

// ask sends requests with the ordinary gRPC client, each after the answer to the
// one before it, and returns the answers.
func ask(ctx context.Context, srv *server, requests *bench.Listed) (out []answer, err error) {
	conn, err := srv.dial()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	client := rlsv3.NewRateLimitServiceClient(conn)
	var r weir.Request
	for i := range requests.Len() {
		requests.Fill(int64(i), &r)
		a, err := askOne(ctx, client, &r)
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i+1, err)
		}
		out = append(out, a)
	}
	return out, nil
}

func askOne(ctx context.Context, client rlsv3.RateLimitServiceClient, r *weir.Request) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	in := &rlsv3.RateLimitRequest{Domain: r.Domain, HitsAddend: uint32(r.Cost)}
	for i := range r.Descriptors {
		d := &corev3.RateLimitDescriptor{}
		for _, p := range r.Descriptors[i].Pairs {
			d.Entries = append(d.Entries, &corev3.RateLimitDescriptor_Entry{Key: p.Name, Value: p.Value})
		}
		in.Descriptors = append(in.Descriptors, d)
	}
	resp, err := client.ShouldRateLimit(ctx, in)
	if err != nil {
		return answer{}, err
	}
	out := answer{Code: resp.GetOverallCode()}
	for _, s := range resp.GetStatuses() {
		limit := s.GetCurrentLimit()
		out.Statuses = append(out.Statuses, status{
			Code: s.GetCode(), Limited: limit != nil,
			Requests: limit.GetRequestsPerUnit(), Unit: limit.GetUnit(), Name: limit.GetName(),
			Remaining: s.GetLimitRemaining(), Reset: s.GetDurationUntilReset().AsDuration().Truncate(time.Second),
		})
	}
	return out, nil
}
