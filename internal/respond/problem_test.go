package respond_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/respond"
)

// body is a problem as a client reads it.
type body struct {
	Type     string
	Title    string
	Status   int
	Detail   string
	Violated []string `json:"violated-policies"`
	Error    struct {
		Code       string
		Message    string
		RetryAfter *int64 `json:"retry_after"`
		Limit      *int64
		Window     *string
		Scope      *string
	}
}

func problem(t testing.TB, a *respond.Answer) (b body) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(a.AppendProblem(nil))))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&b); err != nil || decoder.More() {
		t.Fatalf("%v in %s", err, a.AppendProblem(nil))
	}
	return b
}

func TestProblem(t *testing.T) {
	const kinds = "https://iana.org/assignments/http-problem-types#"
	rest := charged(t, "rest", "10/s burst 20", false)
	shadow := charged(t, "trial", "1/d", false)
	shadow.Mode = weir.Shadow
	partly := denied(t, "api", "100/m", 3*weir.Second)
	partly.Remaining = 4
	for _, c := range []struct {
		name  string
		d     *weir.Decision
		scope string
		want  string
	}{
		{
			"denied", denied(t, "api", "100/s burst 200", 2500*weir.Millisecond, charged(t, "api", "100/s burst 200", false)), "tenant",
			`{"type":"` + kinds + `quota-exceeded","title":"Quota exceeded","status":429,` +
				`"detail":"limit 100/s burst 200 of api is used up; retry after 3 s","violated-policies":["api"],` +
				`"error":{"code":"rate_limited","message":"limit 100/s burst 200 of api is used up; retry after 3 s",` +
				`"retry_after":3,"limit":100,"window":"1s","scope":"tenant"}}`,
		},
		{
			"several", denied(t, "api", "3000/30m", weir.Second, shadow, charged(t, "api", "9/s", true), charged(t, "api", "3000/30m", false), rest, rest), "",
			`{"type":"` + kinds + `quota-exceeded","title":"Quota exceeded","status":429,` +
				`"detail":"limit 3000/30m of api is used up; retry after 1 s","violated-policies":["api:30m","rest"],` +
				`"error":{"code":"rate_limited","message":"limit 3000/30m of api is used up; retry after 1 s",` +
				`"retry_after":1,"limit":3000,"window":"30m","scope":null}}`,
		},
		{
			"some is left", partly, "",
			`{"type":"` + kinds + `quota-exceeded","title":"Quota exceeded","status":429,` +
				`"detail":"limit 100/m of api has only 4 left; retry after 3 s","violated-policies":["api"],` +
				`"error":{"code":"rate_limited","message":"limit 100/m of api has only 4 left; retry after 3 s",` +
				`"retry_after":3,"limit":100,"window":"1m","scope":null}}`,
		},
		{
			"concurrency", denied(t, "up", "20 concurrency 30s", weir.Second), "",
			`{"type":"` + kinds + `quota-exceeded","title":"Quota exceeded","status":429,` +
				`"detail":"limit 20 at a time of up is used up; retry after 1 s","violated-policies":["up"],` +
				`"error":{"code":"rate_limited","message":"limit 20 at a time of up is used up; retry after 1 s",` +
				`"retry_after":1,"limit":20,"window":null,"scope":null}}`,
		},
		{
			"can never pass", denied(t, "api", "5/m", weir.Never), `a"b\`,
			`{"type":"` + kinds + `quota-exceeded","title":"Quota exceeded","status":429,` +
				`"detail":"the request costs more than limit 5/m of api ever holds: it can never pass","violated-policies":["api"],` +
				`"error":{"code":"never","message":"the request costs more than limit 5/m of api ever holds: it can never pass",` +
				`"retry_after":null,"limit":5,"window":"1m","scope":"a\"b\\"}}`,
		},
		{
			"admits nothing", &weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonExhausted, Rule: `o"ff`, RetryAfter: weir.Never}, "",
			`{"type":"` + kinds + `quota-exceeded","title":"Quota exceeded","status":429,` +
				`"detail":"policy o\"ff admits nothing: the request can never pass","violated-policies":["o\"ff"],` +
				`"error":{"code":"never","message":"policy o\"ff admits nothing: the request can never pass",` +
				`"retry_after":null,"limit":null,"window":null,"scope":null}}`,
		},
		{
			"fails closed", &weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonDegraded, RetryAfter: weir.Second}, "",
			`{"type":"` + kinds + `temporary-reduced-capacity","title":"Temporarily reduced capacity","status":503,` +
				`"detail":"the limiter cannot decide now; retry after 1 s","violated-policies":[],` +
				`"error":{"code":"unavailable","message":"the limiter cannot decide now; retry after 1 s",` +
				`"retry_after":1,"limit":null,"window":null,"scope":null}}`,
		},
		{
			"undecided", &weir.Decision{}, "",
			`{"type":"about:blank","title":"Internal Server Error","status":500,"detail":"no decision was made","violated-policies":[],` +
				`"error":{"code":"undecided","message":"no decision was made","retry_after":null,"limit":null,"window":null,"scope":null}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := respond.To(c.d, now, nil)
			a.Scope = c.scope
			if have := string(a.AppendProblem(nil)); have != c.want {
				t.Errorf("have\n%s\nwant\n%s", have, c.want)
			}
			if b := problem(t, &a); b.Status != a.Status() || b.Error.Code != a.Code() || b.Detail != b.Error.Message {
				t.Errorf("the body and the answer differ: %+v", b)
			}
		})
	}
}

// What a body calls violated is always something that RateLimit-Policy lists.
func TestViolatedPoliciesAreListed(t *testing.T) {
	d := denied(t, "api", "9/s", weir.Second, charged(t, "api", "9/s", false), charged(t, `api "é"`, "9/m", false), charged(t, "api", "9/m", false))
	a := respond.To(d, now, nil)
	var listed []string
	for _, item := range parseList(t, a.AppendPolicies(nil)) {
		listed = append(listed, item.Value.(string))
	}
	have := problem(t, &a).Violated
	if !slices.Equal(have, listed) || !slices.Equal(have, []string{"api:1s", `api "%C3%A9"`, "api:1m"}) {
		t.Errorf("violated %q, listed %q", have, listed)
	}
}

func TestMessageOfAnAdmission(t *testing.T) {
	a := respond.To(allowed(t, "api", "5/m", 3), now, nil)
	if have := string(a.AppendMessage(nil)); have != "allowed" || a.Code() != "ok" || a.Status() != 200 {
		t.Errorf("%q, %s, %d", have, a.Code(), a.Status())
	}
}
