package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"google.golang.org/grpc"

	"github.com/weirlimit/weir"
	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// askNative asks over Weir's own API.
func askNative(ctx context.Context, conn grpc.ClientConnInterface, s *subject) (answer, error) {
	in := &weirv1.CheckRequest{
		Domain: s.Domain, Policy: s.Policy, RequestId: s.ID, Cost: s.Cost, WantCharges: true,
	}
	if s.Cost == 0 {
		in.Mode = weirv1.Mode_MODE_PEEK
	}
	for _, p := range s.Descriptors[0].Pairs {
		in.Dimensions = append(in.Dimensions, &weirv1.Dimension{Name: p.Name, Value: p.Value})
	}
	reply, err := weirv1.NewLimiterClient(conn).Check(ctx, in)
	if err != nil {
		return nil, err
	}
	switch reply.GetCode() {
	case weirv1.Code_CODE_OK, weirv1.Code_CODE_DENY:
		return &nativeAnswer{asked: s, reply: reply}, nil
	case weirv1.Code_CODE_POLICY_NOT_FOUND:
		return nil, &weir.Error{
			Code: weir.CodePolicyNotFound, Message: fmt.Sprintf("domain %q has no policy %q", s.Domain, s.Policy),
			Hint: "/rlconfig on its admin listener shows what there is",
		}
	}
	e := reply.GetError()
	return nil, &weir.Error{Field: e.GetField(), Message: e.GetMessage(), Hint: e.GetHint()}
}

type nativeAnswer struct {
	asked *subject
	reply *weirv1.CheckResponse
}

func (a *nativeAnswer) allowed() bool {
	return a.reply.GetCode() == weirv1.Code_CODE_OK && a.reply.GetAllowed()
}

// nativeJSON is the answer for other programs; names and units are those of
// weir try.
type nativeJSON struct {
	Verdict    string         `json:"verdict"`
	Reason     string         `json:"reason"`
	Domain     string         `json:"domain"`
	Policy     string         `json:"policy,omitempty"` // as asked
	Request    string         `json:"request"`
	Rule       string         `json:"rule,omitempty"` // the one that binds
	Limit      string         `json:"limit,omitempty"`
	Remaining  int64          `json:"remaining"`
	ResetAfter weir.Micros    `json:"reset_after_us"`
	RetryAfter *weir.Micros   `json:"retry_after_us"` // null: never
	Delay      weir.Micros    `json:"delay_us"`
	Version    string         `json:"policy_version"`
	Source     string         `json:"source"`
	Replayed   bool           `json:"replayed,omitempty"`
	Charges    []nativeCharge `json:"charges"`
}

type nativeCharge struct {
	Rule       string       `json:"rule"`
	Limit      string       `json:"limit"`
	Mode       string       `json:"mode"`
	Cost       int64        `json:"cost"`
	OK         bool         `json:"ok"`
	Granted    int64        `json:"granted"`
	Remaining  int64        `json:"remaining"`
	ResetAfter weir.Micros  `json:"reset_after_us"`
	RetryAfter *weir.Micros `json:"retry_after_us"`
}

func (a *nativeAnswer) json() any {
	r := a.reply
	out := nativeJSON{
		Verdict: verdictOf(a).String(), Reason: weir.Reason(r.GetReason()).String(),
		Domain: a.asked.Domain, Policy: a.asked.Policy, Request: pairsText(a.asked.Descriptors[0].Pairs),
		Rule: r.GetQuota().GetRule(), Limit: r.GetQuota().GetLimit(),
		Remaining: r.GetRemaining(), ResetAfter: weir.Micros(r.GetResetAfterUs()),
		RetryAfter: jsonSpan(weir.Micros(r.GetRetryAfterUs())), Delay: weir.Micros(r.GetDelayUs()),
		Version: r.GetPolicyVersion(), Source: weir.Source(r.GetSource()).String(), Replayed: r.GetReplayed(),
		Charges: []nativeCharge{},
	}
	for _, c := range r.GetCharges() {
		out.Charges = append(out.Charges, nativeCharge{
			Rule: c.GetQuota().GetRule(), Limit: c.GetQuota().GetLimit(), Mode: weir.Mode(c.GetMode()).String(),
			Cost: c.GetCost(), OK: c.GetOk(), Granted: c.GetGranted(), Remaining: c.GetRemaining(),
			ResetAfter: weir.Micros(c.GetResetAfterUs()), RetryAfter: jsonSpan(weir.Micros(c.GetRetryAfterUs())),
		})
	}
	return out
}

func (a *nativeAnswer) table(w io.Writer) error {
	if _, err := io.WriteString(w, a.summary()+"\n"); err != nil || len(a.reply.GetCharges()) == 0 {
		return err
	}
	rows := [][]string{{"RULE", "LIMIT", "MODE", "COST", "ROOM", "REMAINING", "RETRY AFTER", "RESET AFTER"}}
	for _, c := range a.reply.GetCharges() {
		room := "no"
		if c.GetOk() {
			room = "yes"
		}
		rows = append(rows, []string{
			c.GetQuota().GetRule(), c.GetQuota().GetLimit(), weir.Mode(c.GetMode()).String(),
			strconv.FormatInt(c.GetCost(), 10), room, strconv.FormatInt(c.GetRemaining(), 10),
			spanText(weir.Micros(c.GetRetryAfterUs())), spanText(weir.Micros(c.GetResetAfterUs())),
		})
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return writeTable(w, rows)
}

// reasonTexts are the reasons in a sentence about the limit that binds.
var reasonTexts = map[weir.Reason]string{
	weir.ReasonNone:      "within every limit",
	weir.ReasonExhausted: "no room now",
	weir.ReasonTooCostly: "costs more than the limit ever holds",
	weir.ReasonNoRule:    "no limit applies",
	weir.ReasonDegraded:  "the store did not answer; the policy's on_failure did",
	weir.ReasonForced:    "an operator's switch lets it pass",
	weir.ReasonShed:      "the service has no room now",
}

// summary is the answer in a line.
func (a *nativeAnswer) summary() string {
	r := a.reply
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", verdictText(a), reasonTexts[weir.Reason(r.GetReason())])
	if r.GetSource() == weirv1.Source_SOURCE_BACKSTOP && r.GetReason() == weirv1.Reason_REASON_EXHAUSTED {
		b.WriteString(" in this instance's share, while the store does not answer") // which is less than the limit
	}
	if q := r.GetQuota(); q.GetRule() != "" {
		fmt.Fprintf(&b, " (%s)", strings.TrimSpace(plain(q.GetRule())+" "+q.GetLimit()))
	}
	switch retry := weir.Micros(r.GetRetryAfterUs()); {
	case retry == weir.Never:
		b.WriteString("; never passes")
	case retry > 0:
		b.WriteString("; passes in " + spanText(retry))
	}
	if d := weir.Micros(r.GetDelayUs()); d > 0 {
		b.WriteString("; wait " + spanText(d) + " first")
	}
	if r.GetReplayed() {
		b.WriteString("; the answer of an earlier check with this id")
	}
	return b.String()
}
