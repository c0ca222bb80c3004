package policy

import (
	"reflect"
	"testing"

	"github.com/weirlimit/weir"
)

func TestResolveRelease(t *testing.T) {
	set := compileTexts(t, Options{}, resolveText)
	var p Plan
	if err := set.ResolveRelease(request("tenant=acme slots=yes quiet=yes ip=::1 id=1 cost=0"), &p); err != nil {
		t.Fatal(err)
	}
	want := []string{"busy 5 concurrency 30s x1 refund", "busy-shadow 2 concurrency m x1 refund"}
	if got := charges(&p); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var check Plan
	if err := set.Resolve(request("tenant=acme slots=yes ip=::1 id=1"), &check); err != nil {
		t.Fatal(err)
	}
	if last := check.Charges[len(check.Charges)-1]; last.Key != p.Charges[0].Key {
		t.Errorf("a check takes a place at %q, a release gives one back at %q", last.Key, p.Charges[0].Key)
	}
	for words, code := range map[string]weir.Code{"tenant=x": weir.CodeInvalid, "policy=nope id=1": weir.CodePolicyNotFound} {
		if err := set.ResolveRelease(request(words), &p); weir.CodeOf(err) != code {
			t.Errorf("%s: %v", words, err)
		}
	}
	nowhere := request("tenant=x id=1")
	nowhere.Domain = "nowhere"
	if err := set.ResolveRelease(nowhere, &p); err != nil || len(p.Charges) != 0 {
		t.Errorf("%v %v", p.Charges, err)
	}
}

// fixedOverrides overrides policy tenant for tenant vip between 100 and 200.
type fixedOverrides struct{ meter *weir.Meter }

func (o fixedOverrides) Limits(domain, policy string, values []string, now weir.Micros) ([]*weir.Meter, bool) {
	if domain != DefaultDomain || policy != "tenant" || len(values) != 1 || values[0] != "vip" || now < 100 || now >= 200 {
		return nil, false
	}
	return []*weir.Meter{o.meter}, true
}

// TestOverridesComeFirst holds the order: the counter's own limits, its plan's,
// the policy's.
func TestOverridesComeFirst(t *testing.T) {
	meter := weir.MustMeter(weir.Limit{Algorithm: weir.SlidingWindow, Count: 777, Window: weir.Second})
	set := compileTexts(t, Options{Overrides: fixedOverrides{meter}}, resolveText)
	p := Plan{}
	for _, tc := range []struct {
		now     weir.Micros
		request string
		want    string
	}{
		{99, "tenant=vip", "tenant 100/s burst 200 x1"},
		{100, "tenant=vip", "tenant 777/s x1"},
		{199, "tenant=vip plan=pro", "tenant 777/s x1"},
		{200, "tenant=vip plan=pro", "tenant 9/s x1"},
		{150, "tenant=x", "tenant 100/s burst 200 x1"},
	} {
		p.Now = tc.now
		if err := set.Resolve(request(tc.request), &p); err != nil || charges(&p)[0] != tc.want {
			t.Errorf("%s at %d: %v %v", tc.request, tc.now, charges(&p), err)
		}
	}
}

// TestReleaseAfterAChangeOfPlan gives a place back that was taken under another
// plan, whose timeout, and so whose counter, was another.
func TestReleaseAfterAChangeOfPlan(t *testing.T) {
	set := compileTexts(t, Options{}, "policies: [{id: a, by: tenant, limits: 2 concurrency 30s, plans: {pro: [9/s, 5 concurrency m], max: 7 concurrency m}}]")
	var p Plan
	if err := set.ResolveRelease(request("tenant=x plan=pro id=1"), &p); err != nil {
		t.Fatal(err)
	}
	want := []string{"a 2 concurrency 30s x1 refund", "a 5 concurrency m x1 refund"}
	if got := charges(&p); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
