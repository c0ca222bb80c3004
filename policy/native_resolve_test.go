package policy

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

// request makes a request from words such as tenant=acme. Three words are not
// dimensions: cost=3, id=x and policy=p; a word of refund makes it one.
func request(words string) *weir.Request {
	r := &weir.Request{Domain: DefaultDomain, Descriptors: []weir.Descriptor{{}}}
	d := &r.Descriptors[0]
	for _, word := range strings.Fields(words) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "cost":
			d.HasCost = true
			d.Cost, _ = strconv.ParseInt(value, 10, 64)
		case "id":
			r.ID = value
		case "policy":
			r.Policy = value
		case "refund":
			d.Refund = true
		default:
			d.Pairs = append(d.Pairs, weir.Pair{Name: name, Value: strings.ReplaceAll(value, "+", " ")})
		}
	}
	return r
}

// charges writes a plan's charges as "rule limit cost mode", modes other than
// enforce only.
func charges(p *Plan) []string {
	out := []string{}
	for _, u := range p.Uses {
		text := fmt.Sprintf("%s %s x%d", u.Rule.ID, u.Meter.Limit, u.Cost)
		if m := p.Charges[u.Charge].Mode; m != weir.Enforce {
			text += " " + m.String()
		}
		out = append(out, text)
	}
	return out
}

const resolveText = `
tenants: {acme: pro, initech: free, umbrella: max}
policies:
  - {id: tenant, by: tenant, limits: [100/s burst 200, 5000/h], plans: {pro: 9/s, max: unlimited}, deadline: 5ms, on_failure: open}
  - {id: user, by: [tenant, user], limits: 7/s, deadline: 2ms, on_failure: local}
  - {id: all, limits: 1000/s}
  - {id: eu, match: {region: [eu-*, de], tenant: "*"}, by: region, limits: 3/s}
  - {id: orders, match: {route: POST|PUT /v1/orders/*}, by: [tenant, route], limits: 2/s}
  - {id: named, match: {route: checkout}, by: ip, limits: 2/m, require: true, on_failure: closed}
  - {id: watch, match: {tenant: acme}, by: ip, limits: 1/s, mode: shadow, on_failure: closed, require: true}
  - {id: work, match: {weigh: yes}, limits: 50/s, cost: {POST /x: 10, /free/*: 0, "*": 3}}
  - {id: busy, match: {slots: yes}, by: tenant, limits: [8/s, 5 concurrency 30s], cost: 4}
  - {id: busy-shadow, match: {quiet: yes}, by: tenant, concurrency: 2, mode: shadow}
  - {id: freebies, match: {plan: free}, by: plan, limits: 30/s}
`

func TestResolveNative(t *testing.T) {
	set := compileTexts(t, Options{}, resolveText)
	all := "all 1000/s x1"
	for _, tc := range []struct {
		request string
		want    []string
	}{
		{"", []string{all}},
		{"tenant=", []string{all}},
		{"tenant=x", []string{"tenant 100/s burst 200 x1", "tenant 5000/h x1", all}},
		{"tenant=x plan=pro", []string{"tenant 9/s x1", all}},
		{"tenant=x plan=gold", []string{"tenant 100/s burst 200 x1", "tenant 5000/h x1", all}},
		{"tenant=acme", []string{"tenant 9/s x1", all}},
		{"tenant=acme plan=max", []string{all}},
		{"tenant=umbrella", []string{all}},
		{"tenant=umbrella user=u", []string{"user 7/s x1", all}},
		{"user=u", []string{all}},
		{"tenant=umbrella region=eu-west", []string{all, "eu 3/s x1"}},
		{"tenant=umbrella region=de", []string{all, "eu 3/s x1"}},
		{"tenant=umbrella region=de-1", []string{all}},
		{"tenant=umbrella region=neu-1", []string{all}},
		{"region=eu-west", []string{all}},
		{"tenant=umbrella method=POST path=/v1/orders/7?x=/v1", []string{all, "orders 2/s x1"}},
		{"tenant=umbrella method=post path=/v1/orders/7/items", []string{all, "orders 2/s x1"}},
		{"tenant=umbrella method=GET path=/v1/orders/7", []string{all}},
		{"tenant=umbrella method=POST path=/v1/orders", []string{all}},
		{"tenant=umbrella path=/v1/orders/7", []string{all}},
		{"tenant=umbrella route=PUT+/v1/orders/:id", []string{all, "orders 2/s x1"}},
		{"tenant=umbrella method=PUT route=/v1/orders/:id", []string{all, "orders 2/s x1"}},
		{"method=POST path=/v1/orders/7", []string{all}},
		{"route=checkout ip=::1", []string{all, "named 2/m x1"}},
		{"path=checkout ip=::1", []string{all, "named 2/m x1"}},
		{"tenant=acme ip=::1", []string{"tenant 9/s x1", all, "watch 1/s x1 shadow"}},
		{"weigh=yes", []string{all, "work 50/s x3"}},
		{"weigh=yes method=POST path=/x", []string{all, "work 50/s x10"}},
		{"weigh=yes method=POST path=/x cost=5", []string{"all 1000/s x5", "work 50/s x50"}},
		{"weigh=yes method=POST path=/x cost=0", []string{"all 1000/s x0", "work 50/s x0"}},
		{"weigh=yes path=/free/lunch cost=5", []string{"all 1000/s x5", "work 50/s x0"}},
		{"weigh=yes cost=9223372036854775807", []string{"all 1000/s x9223372036854775807", "work 50/s x9223372036854775807"}},
		{"weigh=yes cost=2 refund", []string{"all 1000/s x2 refund", "work 50/s x6 refund"}},
		{"tenant=umbrella slots=yes id=1", []string{all, "busy 8/s x4", "busy 5 concurrency 30s x1"}},
		{"tenant=umbrella slots=yes id=1 cost=3", []string{"all 1000/s x3", "busy 8/s x12", "busy 5 concurrency 30s x1"}},
		{"tenant=umbrella slots=yes cost=0", []string{"all 1000/s x0", "busy 8/s x0", "busy 5 concurrency 30s x0"}},
		{"tenant=umbrella slots=yes id=1 refund", []string{"all 1000/s x1 refund", "busy 8/s x4 refund"}},
		{"tenant=umbrella quiet=yes", []string{all}},
		{"tenant=umbrella quiet=yes id=1", []string{all, "busy-shadow 2 concurrency m x1 shadow"}},
		{"tenant=initech", []string{"tenant 100/s burst 200 x1", "tenant 5000/h x1", all, "freebies 30/s x1"}},
		{"plan=free", []string{all, "freebies 30/s x1"}},
		{"policy=all tenant=x", []string{all}},
		{"policy=tenant tenant=x user=u", []string{"tenant 100/s burst 200 x1", "tenant 5000/h x1"}},
		{"policy=eu tenant=x region=us", []string{}},
		{"policy=watch tenant=acme", []string{}},
	} {
		var p Plan
		if err := set.Resolve(request(tc.request), &p); err != nil {
			t.Errorf("%s: %v", tc.request, err)
			continue
		}
		if got := charges(&p); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s:\n got %q\nwant %q", tc.request, got, tc.want)
		}
		if len(p.Descriptors) != 1 {
			t.Errorf("%s: %d descriptors", tc.request, len(p.Descriptors))
		}
	}
}

func TestResolveNativeErrors(t *testing.T) {
	set := compileTexts(t, Options{}, resolveText)
	limited := request("tenant=x")
	limited.Descriptors[0].Limit = weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 1, Window: weir.Second})
	many := request("")
	for i := range 65 {
		many.Descriptors[0].Pairs = append(many.Descriptors[0].Pairs, weir.Pair{Name: fmt.Sprint("d", i), Value: "v"})
	}
	for _, tc := range []struct {
		name  string
		r     *weir.Request
		code  weir.Code
		field string
		text  string
	}{
		{"unknown policy", request("policy=nope tenant=x"), weir.CodePolicyNotFound, "policy", "nope"},
		{"required", request("route=checkout"), weir.CodeInvalid, "ip", "policy named needs the dimension ip"},
		{"required and empty", request("route=checkout ip="), weir.CodeInvalid, "ip", "named"},
		{"named and lacking", request("policy=tenant user=u"), weir.CodeInvalid, "tenant", "policy tenant needs"},
		{"no id", request("tenant=x slots=yes"), weir.CodeInvalid, "id", "busy"},
		{"cost below 0", request("tenant=x cost=-1"), weir.CodeInvalid, "cost", "below 0"},
		{"dimension twice", request("tenant=x user=u tenant=y"), weir.CodeInvalid, "dimensions", "tenant"},
		{"own limit", limited, weir.CodeInvalid, "limit", DefaultDomain},
		{"many dimensions", many, weir.CodeInvalid, "dimensions", "64"},
	} {
		err := set.Resolve(tc.r, new(Plan))
		e, ok := errors.AsType[*weir.Error](err)
		if !ok || e.Code != tc.code || e.Field != tc.field || !strings.Contains(e.Message, tc.text) {
			t.Errorf("%s: %#v", tc.name, err)
		}
	}
}

// TestResolveNativeKeys shows keys whole: they are a contract with stored state.
func TestResolveNativeKeys(t *testing.T) {
	set := compileTexts(t, Options{}, resolveText)
	for _, tc := range []struct{ request, want string }{
		{"tenant=x", "{x}7:default6:tenantgs {x}7:default6:tenantwh {all}7:default3:allws"},
		{"policy=user tenant=x user=u", "{x}7:default4:user22:s19xEUmbrPYJhZ8YosfMVQws"},
		{"policy=eu tenant=x region=eu-1", "{eu-1}7:default2:euws"},
		{"policy=orders tenant=x method=POST path=/v1/orders/7", "{x}7:default6:orders21:POST|PUT /v1/orders/*ws"},
		{"policy=orders tenant=x route=PUT+/v1/orders/:id", "{x}7:default6:orders18:PUT /v1/orders/:idws"},
		{"policy=named route=checkout ip=::1", "{%~0be}7:default5:named22:v-mEQybZ2wr3z77q6ggzOQwm"},
		{"policy=freebies tenant=initech", "{free}7:default8:freebiesws"},
	} {
		var p Plan
		if err := set.Resolve(request(tc.request), &p); err != nil {
			t.Errorf("%s: %v", tc.request, err)
			continue
		}
		var keys []string
		for _, c := range p.Charges {
			keys = append(keys, c.Key)
		}
		if got := strings.Join(keys, " "); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.request, got, tc.want)
		}
	}
}

func TestResolveNativeFailModeAndDeadline(t *testing.T) {
	set := compileTexts(t, Options{}, resolveText)
	for _, tc := range []struct {
		request  string
		fail     FailMode
		deadline time.Duration
	}{
		{"", FailOpen, 0},
		{"tenant=x", FailOpen, 5 * time.Millisecond},
		{"tenant=x user=u", FailLocal, 2 * time.Millisecond},
		{"tenant=x user=u route=checkout ip=::1", FailClosed, 2 * time.Millisecond},
		{"tenant=acme ip=::1", FailOpen, 5 * time.Millisecond}, // watch is a shadow
	} {
		var p Plan
		if err := set.Resolve(request(tc.request), &p); err != nil || p.Fail != tc.fail || p.Deadline != tc.deadline {
			t.Errorf("%s: %v %v %v", tc.request, p.Fail, p.Deadline, err)
		}
	}
}

func TestResolveNativeWithoutDescriptor(t *testing.T) {
	set := compileTexts(t, Options{}, resolveText)
	var p Plan
	if err := set.Resolve(&weir.Request{Domain: DefaultDomain}, &p); err != nil || len(p.Charges) != 1 || len(p.Descriptors) != 1 {
		t.Errorf("%v %v", charges(&p), err)
	}
}

func TestResolveNativeSeveralDescriptors(t *testing.T) {
	set := compileTexts(t, Options{}, resolveText)
	r := request("tenant=x cost=2")
	r.Descriptors = append(r.Descriptors, request("tenant=y cost=3").Descriptors...)
	var p Plan
	if err := set.Resolve(r, &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Charges) != 5 || len(p.Descriptors) != 2 || p.Charges[2].Cost != 5 || p.Uses[5].Charge != 2 || p.Uses[5].Descriptor != 1 {
		t.Errorf("%v %+v", charges(&p), p.Charges)
	}
}

func TestTimes(t *testing.T) {
	for _, tc := range [][3]int64{
		{0, 0, 0},
		{3, 4, 12},
		{math.MaxInt64, 1, math.MaxInt64},
		{math.MaxInt64, 2, math.MaxInt64},
		{math.MaxInt64, 0, 0},
		{1 << 32, 1 << 32, math.MaxInt64},
		{1 << 62, 2, math.MaxInt64},
		{1 << 61, 3, 3 << 61},
	} {
		if got := times(tc[0], tc[1]); got != tc[2] {
			t.Errorf("times(%d, %d) = %d, want %d", tc[0], tc[1], got, tc[2])
		}
	}
}
