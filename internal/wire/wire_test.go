package wire_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/wire"
)

// texts of what the wire takes, and of what it does not.
var texts = rapid.OneOf(rapid.StringN(1, 20, 256), rapid.SampledFrom([]string{"", "\xff", strings.Repeat("x", 257), strings.Repeat("é", 128)}))

func request(t *rapid.T) *weir.Request {
	r := &weir.Request{
		Domain: texts.Draw(t, "domain"), Policy: texts.Draw(t, "policy"), ID: texts.Draw(t, "id"),
		Cost: rapid.Int64Range(-1, 1<<40).Draw(t, "cost"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "descriptors") {
		d := weir.Descriptor{
			Cost: rapid.Int64Range(-1, 9).Draw(t, "own cost"), HasCost: rapid.Bool().Draw(t, "has cost"),
			Refund: rapid.Bool().Draw(t, "refund"), Spent: rapid.Bool().Draw(t, "spent"),
		}
		for range rapid.IntRange(0, 18).Draw(t, "pairs") {
			d.Pairs = append(d.Pairs, weir.Pair{Name: texts.Draw(t, "name"), Value: texts.Draw(t, "value")})
		}
		r.Descriptors = append(r.Descriptors, d)
	}
	return r
}

// TestAskedIsUnderstood: what is valid marshals within its size, and the server
// understands what was meant; only of dimensions that stand twice it is the
// judge.
func TestAskedIsUnderstood(t *testing.T) {
	var a wire.Asked // reused, as the client does
	rapid.Check(t, func(t *rapid.T) {
		r := request(t)
		if wire.Validate(r) != nil {
			return
		}
		a.Fill(r, 7, 5000, true)
		b, err := proto.Marshal(&weirv1.CheckBatchRequest{Checks: []*weirv1.CheckRequest{&a.Message}})
		if err != nil || len(b) > a.Size {
			t.Fatalf("%d bytes, said to be %d: %v", len(b), a.Size, err)
		}
		var in weirv1.CheckBatchRequest
		if err := proto.Unmarshal(b, &in); err != nil {
			t.Fatal(err)
		}
		var got weir.Request
		now := time.Unix(100, 0)
		if err := wire.Check(in.Checks[0], &got, now); err != nil {
			if strings.HasSuffix(err.Field, ".name") {
				return
			}
			t.Fatal(err)
		}
		if got.Domain != r.Domain || got.Policy != r.Policy || got.ID != r.ID || !got.Deadline.Equal(now.Add(5*time.Millisecond)) {
			t.Fatalf("got %+v, want %+v", got, r)
		}
		want := weir.Descriptor{}
		if len(r.Descriptors) > 0 {
			want = r.Descriptors[0]
		}
		wantCost := units(r, &want)
		have := got.Descriptors[0]
		if c := units(&got, &have); c != wantCost || c > 0 && (have.Refund != want.Refund || have.Spent != want.Spent) {
			t.Fatalf("cost %d of %+v, want %d of %+v", c, have, wantCost, want)
		}
		if len(have.Pairs) != len(want.Pairs) || len(have.Pairs) > 0 && !reflect.DeepEqual(have.Pairs, want.Pairs) {
			t.Fatalf("pairs %v, want %v", have.Pairs, want.Pairs)
		}
	})
}

// units is what policy makes of a cost.
func units(r *weir.Request, d *weir.Descriptor) int64 {
	if d.HasCost {
		return d.Cost
	}
	return max(1, r.Cost)
}

func TestValidate(t *testing.T) {
	meter := weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 1, Window: weir.Second})
	one := func(d weir.Descriptor) *weir.Request {
		return &weir.Request{Domain: "d", Descriptors: []weir.Descriptor{d}}
	}
	for _, tc := range []struct {
		name  string
		r     *weir.Request
		field string // empty: valid
	}{
		{"least", &weir.Request{Domain: "d"}, ""},
		{"no domain", &weir.Request{}, "domain"},
		{"no UTF-8", &weir.Request{Domain: "\xff"}, "domain"},
		{"policy", &weir.Request{Domain: "d", Policy: strings.Repeat("x", 257)}, "policy"},
		{"id", &weir.Request{Domain: "d", ID: "\xff"}, "id"},
		{"cost", &weir.Request{Domain: "d", Cost: -1}, "cost"},
		{"two descriptors", &weir.Request{Domain: "d", Descriptors: make([]weir.Descriptor, 2)}, "descriptors"},
		{"own cost", one(weir.Descriptor{HasCost: true, Cost: -1}), "cost"},
		{"both ways", one(weir.Descriptor{Refund: true, Spent: true}), "spent"},
		{"a limit", one(weir.Descriptor{Limit: meter}), "limit"},
		{"too many", one(weir.Descriptor{Pairs: make([]weir.Pair, 17)}), "dimensions"},
		{"no name", one(weir.Descriptor{Pairs: []weir.Pair{{Value: "v"}}}), "dimensions[0]"},
		{"a long value", one(weir.Descriptor{Pairs: []weir.Pair{{Name: "n", Value: strings.Repeat("x", 4096)}}}), ""},
		{"too long a value", one(weir.Descriptor{Pairs: []weir.Pair{{Name: "n", Value: strings.Repeat("x", 4097)}}}), "dimensions[0]"},
		{"too long a name", one(weir.Descriptor{Pairs: []weir.Pair{{Name: strings.Repeat("x", 257), Value: "v"}}}), "dimensions[0]"},
		{"too much in all", one(weir.Descriptor{Pairs: slices.Repeat([]weir.Pair{{Name: "n", Value: strings.Repeat("x", 4096)}}, 8)}), "dimensions"},
	} {
		err := wire.Validate(tc.r)
		if e, _ := err.(*weir.Error); (err == nil) != (tc.field == "") || err != nil && (e.Code != weir.CodeInvalid || e.Field != tc.field) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// TestDecisionComesBack: what a server says of a decision is what a client reads.
func TestDecisionComesBack(t *testing.T) {
	limit := weir.Limit{Algorithm: weir.GCRA, Count: 100, Window: weir.Second, Burst: 200}
	for name, want := range map[string]weir.Decision{
		"allowed": {Verdict: weir.Allow, Rule: "p", Scope: "tenant,route", Limit: limit, Remaining: 9, ResetAfter: 5, PolicyVersion: "v1", Delay: 77},
		"denied": {
			Verdict: weir.Deny, Reason: weir.ReasonTooCostly, Rule: "p", Limit: limit, RetryAfter: weir.Never, PolicyVersion: "v1",
			Charges: []weir.Charged{{
				Rule: "p", Limit: limit, Cost: 300, Mode: weir.Always,
				Outcome: weir.Outcome{Granted: 300, RetryAfter: weir.Never, ResetAfter: 8, Delay: 3, Before: weir.Usage{Used: 4}},
			}},
		},
		"no rule":      {Verdict: weir.Allow, Reason: weir.ReasonNoRule, PolicyVersion: "v1"},
		"a limit of 0": {Verdict: weir.Deny, Reason: weir.ReasonExhausted, Rule: "p", Scope: "tenant", RetryAfter: weir.Never},
		"degraded":     {Verdict: weir.Deny, Reason: weir.ReasonDegraded, Source: weir.SourceBackstop, RetryAfter: weir.Second, Rule: "p", Limit: limit},
		"replayed":     {Verdict: weir.Allow, Replayed: true, Rule: "p", Limit: limit},
	} {
		want.RuleIndex = -1
		want.Matched = []weir.Matched{{}}
		var out weirv1.CheckResponse
		wire.Answer(&want, &weirv1.CheckRequest{WantCharges: true, Number: 3}, &out)
		got := weir.Decision{Rule: "stale", Charges: make([]weir.Charged, 3), Replayed: true}
		if err := wire.Decision(&out, 1, &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(want.Charges) == 0 {
			got.Charges = nil // of no length, with memory
		}
		if !reflect.DeepEqual(got, want) || out.GetNumber() != 3 {
			t.Errorf("%s: %+v\nwant %+v", name, got, want)
		}
	}
}

func TestErrorsComeBack(t *testing.T) {
	for code := weir.CodeInternal; code <= weir.CodeBreaker; code++ {
		var out weirv1.CheckResponse
		wire.Refuse(&weir.Error{Code: code, Field: "f", Message: "m", Hint: "h"}, &weirv1.CheckRequest{}, &out)
		var d weir.Decision
		err := wire.Decision(&out, 1, &d)
		if e, ok := err.(*weir.Error); !ok || *e != (weir.Error{Code: code, Field: "f", Message: "m", Hint: "h"}) || d.Verdict != 0 {
			t.Errorf("%v: %v", code, err)
		}
	}
	if weir.Code(weir.CodeBreaker+1).String() != "internal" {
		t.Error("there are more codes than CodeOf looks at")
	}
	var d weir.Decision
	if err := wire.Decision(&weirv1.CheckResponse{Allowed: true}, 1, &d); weir.CodeOf(err) != weir.CodeProtocol || d.Allowed() {
		t.Errorf("an answer nobody filled: %v, %+v", err, d)
	}
	if _ = wire.Decision(&weirv1.CheckResponse{Allowed: true, Code: weirv1.Code_CODE_DENY}, 1, &d); d.Allowed() {
		t.Error("two words, one of them no: read as yes")
	}
}

// TestNewWordsReadAsNone: enums may grow.
func TestNewWordsReadAsNone(t *testing.T) {
	var d weir.Decision
	in := &weirv1.CheckResponse{
		Code: weirv1.Code_CODE_DENY, Reason: 260, Source: -1, Quota: &weirv1.Quota{Rule: "p", Algorithm: 99},
		Charges: []*weirv1.Charge{{Mode: 6}},
	}
	if err := wire.Decision(in, 1, &d); err != nil || d.Reason != 0 || d.Source != 0 || d.Limit.Algorithm != 0 || d.Charges[0].Mode != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// FuzzDecision reads whatever decodes, and never as an admission that it is not.
func FuzzDecision(f *testing.F) {
	seed, _ := proto.Marshal(&weirv1.CheckResponse{Code: weirv1.Code_CODE_OK, Allowed: true, Quota: &weirv1.Quota{Rule: "p", Count: 3}})
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		var in weirv1.CheckResponse
		if proto.Unmarshal(b, &in) != nil {
			return
		}
		var d weir.Decision
		err := wire.Decision(&in, 1, &d)
		if d.Allowed() != (err == nil && in.GetAllowed() && in.GetCode() == weirv1.Code_CODE_OK) {
			t.Errorf("%v reads as %+v, %v", &in, d, err)
		}
		_, _, _, _ = d.Reason.String(), d.Source.String(), d.Limit.String(), d.Limit.Validate()
	})
}
