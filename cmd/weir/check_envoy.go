package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/weirlimit/weir"
)

// askEnvoy asks over Envoy's rate limit service.
func askEnvoy(ctx context.Context, conn grpc.ClientConnInterface, s *subject) (answer, error) {
	in := &rlsv3.RateLimitRequest{Domain: s.Domain, HitsAddend: uint32(s.Cost)}
	for _, d := range s.Descriptors {
		out := new(common.RateLimitDescriptor)
		for _, p := range d.Pairs {
			out.Entries = append(out.Entries, &common.RateLimitDescriptor_Entry{Key: p.Name, Value: p.Value})
		}
		if d.HasCost { // to look: of the request, 0 would be 1
			out.HitsAddend = wrapperspb.UInt64(uint64(d.Cost))
		}
		in.Descriptors = append(in.Descriptors, out)
	}
	reply, err := rlsv3.NewRateLimitServiceClient(conn).ShouldRateLimit(ctx, in)
	if err != nil {
		return nil, err
	}
	return &envoyAnswer{asked: s, reply: reply}, nil
}

type envoyAnswer struct {
	asked *subject
	reply *rlsv3.RateLimitResponse
}

// allowed: only the code that says so is a yes.
func (a *envoyAnswer) allowed() bool {
	return a.reply.GetOverallCode() == rlsv3.RateLimitResponse_OK
}

// envoyJSON is the answer for other programs.
type envoyJSON struct {
	Verdict  string            `json:"verdict"`
	Code     string            `json:"code"`
	Domain   string            `json:"domain"`
	Statuses []envoyStatus     `json:"statuses"`
	Headers  map[string]string `json:"headers,omitempty"` // that Envoy is told to add
	Metadata json.RawMessage   `json:"dynamic_metadata,omitempty"`
}

type envoyStatus struct {
	Descriptor string      `json:"descriptor"`
	Code       string      `json:"code"`
	Limit      *envoyLimit `json:"limit"` // null when none applies
	Unlimited  bool        `json:"unlimited,omitempty"`
	Remaining  uint32      `json:"remaining"`
	ResetAfter weir.Micros `json:"reset_after_us"`
}

type envoyLimit struct {
	Name            string `json:"name,omitempty"`
	RequestsPerUnit uint32 `json:"requests_per_unit"`
	Unit            string `json:"unit"`
}

func (a *envoyAnswer) json() any {
	out := envoyJSON{
		Verdict: verdictOf(a).String(), Code: a.reply.GetOverallCode().String(),
		Domain: a.asked.Domain, Statuses: a.statuses(),
	}
	for _, h := range a.reply.GetResponseHeadersToAdd() {
		if out.Headers == nil {
			out.Headers = map[string]string{}
		}
		out.Headers[h.GetKey()] = h.GetValue()
	}
	if m := a.reply.GetDynamicMetadata(); len(m.GetFields()) > 0 {
		if text, err := protojson.Marshal(m); err == nil {
			out.Metadata = text
		}
	}
	return out
}

// statuses are the answers for each descriptor. Those of a server that sends
// too few are missing.
func (a *envoyAnswer) statuses() []envoyStatus {
	out := []envoyStatus{}
	for i, st := range a.reply.GetStatuses() {
		if i == len(a.asked.Descriptors) {
			break
		}
		s := envoyStatus{
			Descriptor: pairsText(a.asked.Descriptors[i].Pairs), Code: st.GetCode().String(),
			Remaining: st.GetLimitRemaining(), ResetAfter: weir.MicrosOf(st.GetDurationUntilReset().AsDuration()),
		}
		if l := st.GetCurrentLimit(); l != nil {
			s.Limit = &envoyLimit{Name: l.GetName(), RequestsPerUnit: l.GetRequestsPerUnit(), Unit: l.GetUnit().String()}
		} else {
			s.Unlimited = s.Remaining == math.MaxUint32
		}
		out = append(out, s)
	}
	return out
}

func (a *envoyAnswer) table(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s: %s in domain %s\n\n", verdictText(a), a.reply.GetOverallCode(), plain(a.asked.Domain)); err != nil {
		return err
	}
	rows := [][]string{{"DESCRIPTOR", "CODE", "LIMIT", "REMAINING", "RESET AFTER"}}
	for _, s := range a.statuses() {
		limit, remaining := "none", "-"
		switch {
		case s.Limit != nil:
			limit, remaining = s.Limit.String(), strconv.FormatUint(uint64(s.Remaining), 10)
		case s.Unlimited:
			limit = "unlimited"
		}
		rows = append(rows, []string{s.Descriptor, s.Code, limit, remaining, spanText(s.ResetAfter)})
	}
	if err := writeTable(w, rows); err != nil {
		return err
	}
	for _, h := range a.reply.GetResponseHeadersToAdd() {
		if _, err := fmt.Fprintf(w, "header  %s: %s\n", plain(h.GetKey()), plain(h.GetValue())); err != nil {
			return err
		}
	}
	return nil
}

func (l *envoyLimit) String() string {
	text := strconv.FormatUint(uint64(l.RequestsPerUnit), 10) + "/" + strings.ToLower(l.Unit)
	if l.Name != "" {
		text += " (" + l.Name + ")"
	}
	return text
}

func verdictOf(a answer) weir.Verdict {
	if a.allowed() {
		return weir.Allow
	}
	return weir.Deny
}

func verdictText(a answer) string {
	if a.allowed() {
		return "allowed"
	}
	return "denied"
}
