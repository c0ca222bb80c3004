package policy

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
)

const shardsText = `
policies:
  - {id: whale, by: tenant, limits: [1003/s burst 2005, 50000/h], plans: {pro: 100/s, max: unlimited}, counter_shards: 4}
  - {id: users, match: {user: "*"}, by: [tenant, user], limits: 40/s, partition: user, counter_shards: 8}
  - {id: all, match: {all: "yes"}, limits: 640/s, counter_shards: 64}
  - {id: plain, match: {plain: "yes"}, by: tenant, limits: 10/s}
`

// TestPartsAddUp: whatever is split into how many parts, they add up to the
// limit, each has a unit, and no two differ by more than one.
func TestPartsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(minShards, key.MaxShard).Draw(t, "parts")
		l := weir.Limit{
			Algorithm: rapid.SampledFrom([]weir.Algorithm{weir.GCRA, weir.TokenBucket, weir.SlidingWindow, weir.FixedWindow}).Draw(t, "algorithm"),
			Count:     rapid.Int64Range(n, weir.MaxCount).Draw(t, "count"), Window: weir.Second,
		}
		if l.Algorithm <= weir.TokenBucket && rapid.Bool().Draw(t, "burst") {
			l.Burst = rapid.Int64Range(n, weir.MaxCount).Draw(t, "burst of")
		}
		count, burst := int64(0), int64(0)
		for i, m := range partMeters(l, n) {
			count, burst = count+m.Limit.Count, burst+m.Limit.Burst
			if least := l.Count / n; m.Limit.Count < least || m.Limit.Count > least+1 || m.Limit.Window != l.Window || m.Limit.Algorithm != l.Algorithm {
				t.Errorf("part %d of %s is %s", i, l, m.Limit)
			}
		}
		if count != l.Count || burst != l.Burst {
			t.Errorf("the parts of %s are %d burst %d", l, count, burst)
		}
	})
}

func shardOf(t *testing.T, name string) uint8 {
	t.Helper()
	k, err := key.Parse(name)
	if err != nil {
		t.Fatalf("key %q: %v", name, err)
	}
	return k.Shard
}

func TestShardsAreChosenEvenly(t *testing.T) {
	set := compileTexts(t, Options{}, shardsText)
	a, b := request("tenant=a"), request("tenant=b plain=yes")
	for name, next := range map[string]func(i int) *weir.Request{
		"alone":      func(int) *weir.Request { return a },
		"in turn":    func(i int) *weir.Request { return []*weir.Request{a, b}[i%2] },
		"one of 4":   func(i int) *weir.Request { return []*weir.Request{a, b, b, b}[i%4] },
		"with an id": func(i int) *weir.Request { r := *a; r.ID = fmt.Sprint("request-", i); return &r },
	} {
		var p Plan
		got := map[uint8]int{}
		const requests = 8000
		for i := range requests {
			r := next(i)
			if err := set.Resolve(r, &p); err != nil {
				t.Fatal(err)
			}
			if r.Descriptors[0].Pairs[0].Value == "a" {
				got[shardOf(t, p.Charges[0].Key)]++
			}
		}
		total := got[1] + got[2] + got[3] + got[4]
		for shard := uint8(1); shard <= 4; shard++ {
			if len(got) != 4 || got[shard]*20 < total*4 || got[shard]*20 > total*6 { // a quarter, within a fifth of it
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}

// TestShardsOfARequest: all windows of a policy are charged to the sub-counter of
// one number, with that one's part of the limit, and the use says the whole.
func TestShardsOfARequest(t *testing.T) {
	set := compileTexts(t, Options{}, shardsText)
	var p Plan
	for range 100 {
		if err := set.Resolve(request("tenant=a user=u all=yes plain=yes"), &p); err != nil {
			t.Fatal(err)
		}
		for i := range p.Uses {
			u := &p.Uses[i]
			c := &p.Charges[u.Charge]
			shard := shardOf(t, c.Key)
			want := map[string]int{"whale": 4, "users": 8, "all": 64}[u.Rule.ID]
			if len(u.Parts) != want || want == 0 && (shard != 0 || c.Meter != u.Meter) {
				t.Errorf("%s: %d parts, shard %d", u.Rule.ID, len(u.Parts), shard)
			}
			if want > 0 && (shard < 1 || int(shard) > want || c.Meter != u.Parts[shard-1]) {
				t.Errorf("%s: charged to %q under %s", u.Rule.ID, c.Key, c.Meter.Limit)
			}
		}
		if key.Tag(p.Charges[0].Key) != key.Tag(p.Charges[1].Key) {
			t.Errorf("two windows in two slots: %q, %q", p.Charges[0].Key, p.Charges[1].Key)
		}
	}
	if u := p.Uses[0]; u.Meter.Limit.String() != "1003/s burst 2005" || u.Parts[0].Limit.String() != "251/s burst 502" || u.Parts[3].Limit.String() != "250/s burst 501" {
		t.Errorf("use %s, parts %s to %s", u.Meter.Limit, u.Parts[0].Limit, u.Parts[3].Limit)
	}
	if err := set.Resolve(request("tenant=a plan=max"), &p); err != nil || len(p.Charges) != 0 {
		t.Errorf("unlimited: %v, %v", charges(&p), err)
	}
}

// TestSameIDSameShard: a replay and a refund meet the sub-counter of the check.
func TestSameIDSameShard(t *testing.T) {
	set := compileTexts(t, Options{}, shardsText)
	var first, again Plan
	again.Turn = 12345
	for i := range 50 {
		id := fmt.Sprint(" id=", i)
		if err := set.Resolve(request("tenant=a"+id), &first); err != nil {
			t.Fatal(err)
		}
		if err := set.Resolve(request("tenant=a refund"+id), &again); err != nil {
			t.Fatal(err)
		}
		if first.Charges[0].Key != again.Charges[0].Key {
			t.Errorf("%q, then %q", first.Charges[0].Key, again.Charges[0].Key)
		}
	}
}

// fewer overrides the limits of a tenant.
type fewer struct{ limits []*weir.Meter }

func (f fewer) Limits(_, policy string, values []string, _ weir.Micros) ([]*weir.Meter, bool) {
	return f.limits, policy == "whale" && values[0] == "small"
}

func TestOverridesAreSplitToo(t *testing.T) {
	for limit, want := range map[string]string{"9/s": "3/s of 4", "3/s": "1/s of 3", "1/s": "1/s of 0"} {
		l, err := weir.ParseLimit(limit)
		if err != nil {
			t.Fatal(err)
		}
		set := compileTexts(t, Options{Overrides: fewer{[]*weir.Meter{weir.MustMeter(l)}}}, shardsText)
		var p Plan
		if err := set.Resolve(request("tenant=small"), &p); err != nil {
			t.Fatal(err)
		}
		first := p.Uses[0].Meter
		if len(p.Uses[0].Parts) > 0 {
			first = p.Uses[0].Parts[0]
		}
		if got := fmt.Sprintf("%s of %d", first.Limit, len(p.Uses[0].Parts)); got != want {
			t.Errorf("%s: %s, want %s", limit, got, want)
		}
	}
}

func TestSplittingDoesNotAllocate(t *testing.T) {
	set := compileTexts(t, Options{}, shardsText)
	r := request("tenant=a all=yes")
	var p Plan
	if n := testing.AllocsPerRun(1000, func() {
		if err := set.Resolve(r, &p); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSplitterForgets: limits of overrides that came and went are not kept.
func TestSplitterForgets(t *testing.T) {
	var s splitter
	for i := range int64(maxParted + 10) {
		if len(s.parts(weir.Limit{Algorithm: weir.GCRA, Count: i%weir.MaxCount + 2, Window: weir.Second}, 2)) != 2 {
			t.Fatal("not split")
		}
		if i%512 != 0 {
			continue
		}
		if n := len(*s.known.Load()); n > maxParted {
			t.Fatalf("%d remembered", n)
		}
	}
	if n := len(*s.known.Load()); n > 10 {
		t.Errorf("%d remembered", n)
	}
}

func TestSubCharges(t *testing.T) {
	set := compileTexts(t, Options{}, shardsText)
	var p Plan
	if err := set.Resolve(request("tenant=a"), &p); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	used := int64(0)
	for _, c := range SubCharges(&p.Charges[0], p.Uses[0].Parts) {
		seen[c.Key], used = true, used+c.Meter.Limit.Count
	}
	if len(seen) != 4 || used != 1003 || !seen[p.Charges[0].Key] {
		t.Errorf("%d sub-counters of %d: %v", len(seen), used, seen)
	}
}

func TestExplainShowsShardsAndLease(t *testing.T) {
	set := compileTexts(t, Options{}, shardsText+"  - {id: leased, by: tenant, limits: 500/s, lease: auto}\n")
	text := Explain(set, request("tenant=a")).Text()
	for _, want := range []string{"a}7:default5:whalegs, one of 4\n", "key {a}7:default6:leasedws, lease auto\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
