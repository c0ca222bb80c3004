package policy

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
	"github.com/weirlimit/weir/internal/pseudonym"
)

// turn is when the second salt of testRing comes into force.
const turn = 1_800_000_000 * weir.Second

func testRing(t testing.TB) *pseudonym.Ring {
	t.Helper()
	r, err := pseudonym.New(pseudonym.Config{
		Salts: []pseudonym.Salt{
			{ID: "old", From: turn - weir.Day, Secret: pseudonym.Secret{1}}, {ID: "new", From: turn, Secret: pseudonym.Secret{2}},
		},
		Slots: pseudonym.Secret{3},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const privateText = `
policies:
  - {id: ip, by: ip, limits: [5/s, 100/h, 1000/10d], on_failure: open}
  - {id: user, by: [tenant, user], limits: 7/s, on_failure: open}
  - {id: both, by: [ip, user, route], partition: user, limits: 9/m burst 30, on_failure: open}
  - {id: tenant, by: tenant, limits: 8/s, on_failure: open}
  - {id: office, match: {ip: "203.0.113.*"}, by: [tenant, ip], limits: 5 concurrency 30s, on_failure: open}
`

const privateWords = "tenant=acme ip=203.0.113.7 user=ann route=/x id=1"

// resolveAt resolves a request at an instant that counts from the rotation.
func resolveAt(t testing.TB, s *Set, r *weir.Request, at weir.Micros) *Plan {
	t.Helper()
	p := &Plan{Now: turn + at, Ring: testRing(t)}
	if err := s.Resolve(r, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPrivateValuesAreNotInKeys: of private values keys have the pseudonym, of
// others the value; what matches sees the values themselves.
func TestPrivateValuesAreNotInKeys(t *testing.T) {
	var h pseudonym.Hasher
	h.Use(testRing(t))
	name := func(dimension, value string) string { return "22:" + string(h.Append(nil, 0, dimension, value)) }
	tag := func(dimension, value string) string { return fmt.Sprintf("{%%~%03x}", h.Slot(dimension, value)) }
	ip, user := name("ip", "203.0.113.7"), name("user", "ann")
	want := []string{
		tag("ip", "203.0.113.7") + "7:default2:ip" + ip + "ws",
		tag("ip", "203.0.113.7") + "7:default2:ip" + ip + "wh",
		tag("ip", "203.0.113.7") + "7:default2:ip" + ip + "w10d",
		"{acme}7:default4:user" + user + "ws",
		tag("user", "ann") + "7:default4:both" + user + ip + "2:/xgm",
		"{acme}7:default6:tenantws",
		"{acme}7:default6:office" + ip + "c30s",
	}
	set := compileTexts(t, Options{}, privateText)
	got := keysOfPlan(resolveAt(t, set, request(privateWords), -weir.Hour))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var p Plan
	if err := set.ResolveRelease(request(privateWords), &p); err != nil || len(p.Charges) != 1 {
		t.Fatal(err, p.Charges)
	}
	if k := p.Charges[0].Key; strings.Contains(k, "203.0.113.7") {
		t.Errorf("a release names %q", k)
	}
}

func TestPrivateList(t *testing.T) {
	for _, tc := range []struct {
		private []string
		ip, api bool
	}{{nil, true, false}, {[]string{}, false, false}, {[]string{"tenant"}, false, true}} {
		set := compileTexts(t, Options{Private: tc.private}, privateText)
		p := resolveAt(t, set, request(privateWords), 0)
		keys := strings.Join(keysOfPlan(p), "\n")
		if hidden := !strings.Contains(keys, "203.0.113.7"); hidden != tc.ip {
			t.Errorf("%q: addresses hidden %v", tc.private, hidden)
		}
		if hidden := !strings.Contains(keys, "acme"); hidden != tc.api {
			t.Errorf("%q: tenants hidden %v", tc.private, hidden)
		}
	}
	one, other := compileTexts(t, Options{}, privateText), compileTexts(t, Options{Private: []string{"x"}}, privateText)
	if one.Version() == other.Version() {
		t.Error("sets that name counters otherwise have one version")
	}
}

// TestTwinsAroundARotation: the two names trade places, and stay in one slot;
// how long the old one is looked at depends on the window.
func TestTwinsAroundARotation(t *testing.T) {
	set := compileTexts(t, Options{}, privateText)
	before := resolveAt(t, set, request(privateWords), -2*weir.Minute)
	after := resolveAt(t, set, request(privateWords), weir.Month)
	const none, next, last, old = weir.TwinNone, weir.TwinNext, weir.TwinLast, weir.TwinOld
	for _, tc := range []struct {
		at   weir.Micros
		want [7]weir.Twinning // of the charges, in order: windows of s, h, 10d, s, m, -, 30s
	}{
		{-2 * weir.Minute, [7]weir.Twinning{}},
		{-weir.Minute, [7]weir.Twinning{next, next, next, next, next, none, next}},
		{0, [7]weir.Twinning{last, last, last, last, last, none, last}},
		{weir.Minute, [7]weir.Twinning{old, old, old, old, old, none, old}},
		{20 * weir.Minute, [7]weir.Twinning{none, old, old, none, none, none, none}},
		{3 * weir.Hour, [7]weir.Twinning{none, none, old, none, none, none, none}},
		{weir.Month, [7]weir.Twinning{}},
	} {
		p := resolveAt(t, set, request(privateWords), tc.at)
		for i := range p.Charges {
			c := &p.Charges[i]
			name, other := after.Charges[i].Key, before.Charges[i].Key
			if tc.at < 0 {
				name, other = other, name
			}
			if tc.want[i] == none {
				other = ""
			}
			if c.Key != name || c.Twin != other || c.Twinning != tc.want[i] {
				t.Errorf("%v, %s: %+v, want twinning %d", tc.at, c.Meter.Limit, c, tc.want[i])
			}
			if c.Twin != "" && key.Tag(c.Twin) != key.Tag(c.Key) {
				t.Errorf("%q and %q are in two slots", c.Key, c.Twin)
			}
		}
	}
}

// TestOverridesSeeValues: who gave an address more knows the address.
func TestOverridesSeeValues(t *testing.T) {
	seen := seenValues{}
	resolveAt(t, compileTexts(t, Options{Overrides: seen}, privateText), request(privateWords), 0)
	if !seen["both 203.0.113.7 ann /x"] {
		t.Errorf("overrides were asked for %v", seen)
	}
}

type seenValues map[string]bool

func (s seenValues) Limits(_, policy string, values []string, _ weir.Micros) ([]*weir.Meter, bool) {
	s[policy+" "+strings.Join(values, " ")] = true
	return nil, false
}

func TestHorizons(t *testing.T) {
	for text, want := range map[string]weir.Micros{
		"5/h": weir.Hour, "7 concurrency 30s": 30 * weir.Second, "60/m burst 600": 600 * weir.Second,
		"3/s burst 3000": 1000 * weir.Second,
	} {
		l, err := weir.ParseLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		got := horizonOf(weir.MustMeter(l), weir.Enforce)
		if got < want || got > want+weir.Second {
			t.Errorf("%s: %v, want %v and no microsecond less", text, got, want)
		}
	}
	m := weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 1, Window: weir.Second, Burst: 1})
	if got := horizonOf(m, weir.Always); got < weir.Micros(m.UsedCap)*weir.Second {
		t.Errorf("what counts past the limit drains after %v", got)
	}
	if longest, of := compileTexts(t, Options{}, privateText).LongestPrivate(); longest != 10*weir.Day || of.ID != "ip" {
		t.Errorf("the longest is %v of %v", longest, of)
	}
	if _, of := compileTexts(t, Options{Private: []string{}}, privateText).LongestPrivate(); of != nil {
		t.Errorf("nothing is private, and %v is", of.ID)
	}
}

// TestExplainHidesToo: an explanation without a ring has keys, and none of them
// shows a value.
func TestExplainHidesToo(t *testing.T) {
	set := compileTexts(t, Options{}, privateText)
	for _, e := range []Explanation{
		Explain(set, request(privateWords)),
		ExplainBy(set, request(privateWords), &Plan{Now: turn, Ring: testRing(t)}),
	} {
		if len(e.Charges) != 7 {
			t.Fatalf("%+v", e)
		}
		for _, c := range e.Charges {
			if strings.Contains(c.Key+c.Twin, "203.0.113.7") || strings.Contains(c.Key+c.Twin, "ann") {
				t.Errorf("the key %s, the twin %s", c.Key, c.Twin)
			}
		}
	}
	e := ExplainBy(set, request(privateWords), &Plan{Now: turn, Ring: testRing(t)})
	if c := e.Charges[0]; c.Twinning != weir.TwinLast || !strings.Contains(e.Text(), "key "+c.Key+" or "+c.Twin+"\n") {
		t.Errorf("%+v in\n%s", c, e.Text())
	}
}

func TestPrivateResolveAllocatesNothing(t *testing.T) {
	set, r := compileTexts(t, Options{}, privateText), request(privateWords)
	for _, at := range []weir.Micros{-weir.Hour, -weir.Second, weir.Second, weir.Hour, weir.Month} {
		p := Plan{Now: turn + at, Ring: testRing(t)}
		ask := func() {
			if err := set.Resolve(r, &p); err != nil {
				t.Fatal(err)
			}
		}
		ask()
		if n := testing.AllocsPerRun(100, ask); n != 0 {
			t.Errorf("at %v: %v allocations", at, n)
		}
	}
}

// BenchmarkResolvePrivate is a limit by address: as it was, with its pseudonym,
// and while the salts change.
func BenchmarkResolvePrivate(b *testing.B) {
	const text = "policies: [{id: ip, by: ip, limits: 5/s, on_failure: open}]"
	for _, bc := range []struct {
		name    string
		private []string
		at      weir.Micros
	}{{"plain", []string{}, 0}, {"pseudonym", nil, -weir.Hour}, {"twins", nil, 0}} {
		b.Run(bc.name, func(b *testing.B) {
			set := compileTexts(b, Options{Private: bc.private}, text)
			r, p := request("ip=203.0.113.7"), Plan{Now: turn + bc.at, Ring: testRing(b)}
			b.ReportAllocs()
			for b.Loop() {
				if err := set.Resolve(r, &p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
