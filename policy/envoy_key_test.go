package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
)

// TestEnvoyKeys shows the names of counters: what decides the slot, and what
// tells counters of one rule apart.
func TestEnvoyKeys(t *testing.T) {
	s := envoySet(t, Options{}, `
domain: d
descriptors:
  - key: generic_key
    value: api
    rate_limit: {unit: second, requests_per_unit: 1}
    descriptors:
      - key: tenant
        rate_limit: {unit: minute, requests_per_unit: 1}
        descriptors:
          - key: path
            value: /v1/*
            rate_limit: {unit: hour, requests_per_unit: 1}
          - key: path
            value: /v2/*
            share_threshold: true
            rate_limit: {unit: hour, requests_per_unit: 1}
            descriptors:
              - key: user
                rate_limit: {unit: day, requests_per_unit: 1}
  - key: shared
    value: a*
    share_threshold: true
    rate_limit: {unit: second, requests_per_unit: 1}
`)
	for _, tc := range []struct{ name, ask, want, scope string }{
		{"all literal: the descriptor", "generic_key=api", "{generic_key_api}1:d15:generic_key_apiws", ""},
		{"a leading literal is no partition", "generic_key=api,tenant=acme", "{acme}1:d22:generic_key_api.tenantwm", "tenant"},
		{"a second free value", "generic_key=api,tenant=acme,path=/v1/x", "{acme}1:d33:generic_key_api.tenant.path_/v1/*5:/v1/xwh", "tenant,path"},
		{"the pattern for what it matches", "generic_key=api,tenant=acme,path=/v2/x", "{acme}1:d33:generic_key_api.tenant.path_/v2/*wh", "tenant"},
		{"behind a pattern", "generic_key=api,tenant=acme,path=/v2/x,user=bob", "{acme}1:d38:generic_key_api.tenant.path_/v2/*.user22:nNyWp8b8fLAXhJZJK4s3SQwd", "tenant,user"},
		{"only a pattern", "shared=abc", "{shared_a*}1:d9:shared_a*ws", ""},
		{"an empty value", "generic_key=api,tenant=", "{%}1:d22:generic_key_api.tenantwm", "tenant"},
		{"a value of braces", "generic_key=api,tenant=}{", "{%7D{}1:d22:generic_key_api.tenantwm", "tenant"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := resolved(t, s, envoyAsk(tc.ask))
			got := keysOfPlan(p)
			if len(got) != 1 || got[0] != tc.want {
				t.Errorf("%s gives %q, want %q", tc.ask, got, tc.want)
			}
			if scope := p.Descriptors[0].Rule.Scope; scope != tc.scope {
				t.Errorf("scope %q, want %q", scope, tc.scope)
			}
		})
	}
}

// TestEnvoyProbedCollision: joined with '_', these are one counter.
func TestEnvoyProbedCollision(t *testing.T) {
	s := envoySet(t, Options{}, `
domain: d
descriptors:
  - key: a
    rate_limit: {unit: second, requests_per_unit: 1}
    descriptors:
      - key: c
        rate_limit: {unit: second, requests_per_unit: 1}
`)
	p := resolved(t, s, envoyAsk("a=b_c_d", "a=b,c=d"))
	if len(p.Charges) != 2 || p.Charges[0].Key == p.Charges[1].Key {
		t.Errorf("(a, b_c_d) and (a, b), (c, d) are charged as %q", keysOfPlan(p))
	}
}

// TestEnvoyIDs: paths that are written alike have ids of their own.
func TestEnvoyIDs(t *testing.T) {
	s := envoySet(t, Options{}, `
domain: d
descriptors:
  - {key: a.b, rate_limit: &l {unit: second, requests_per_unit: 1}}
  - {key: a, rate_limit: *l, descriptors: [{key: b, rate_limit: *l}, {key: c.d, rate_limit: *l}]}
  - {key: 100%, rate_limit: *l}
  - {key: a%2Eb, rate_limit: *l}
  - {key: "%override", rate_limit: *l}
`)
	var got []string
	for _, r := range s.Rules() {
		got = append(got, r.ID)
	}
	want := "a%2Eb a a.b a.c.d 100%25 a%252Eb %25override %override"
	if strings.Join(got, " ") != want {
		t.Errorf("ids are %s, want %s", strings.Join(got, " "), want)
	}
}

// counter is what a request should be counted as: the node, by its place in the
// file, and the values that its counters differ by.
type counter struct {
	place  string
	values string
}

// envoyOracle walks the file as the documentation reads.
func envoyOracle(ds []EnvoyDescriptor, of []weir.Pair) (c counter, ok bool) {
	for i := range of {
		j := envoyOraclePick(ds, of[i])
		if j < 0 {
			return c, false
		}
		d := &ds[j]
		c.place += fmt.Sprintf("/%d", j)
		if d.Value == "" || strings.Contains(d.Value, "*") && !d.ShareThreshold {
			c.values += fmt.Sprintf("/%q", of[i].Value)
		}
		if i == len(of)-1 {
			return c, len(d.Limits) > 0
		}
		ds = d.Descriptors
	}
	return c, false
}

func envoyOraclePick(ds []EnvoyDescriptor, of weir.Pair) int {
	pick := func(fits func(d EnvoyDescriptor) bool) int {
		return slices.IndexFunc(ds, func(d EnvoyDescriptor) bool { return d.Key == of.Name && fits(d) })
	}
	if i := pick(func(d EnvoyDescriptor) bool { return d.Value != "" && d.Value == of.Value }); i >= 0 {
		return i
	}
	if i := pick(func(d EnvoyDescriptor) bool {
		return strings.Contains(d.Value, "*") && matchesNaively(d.Value, of.Value)
	}); i >= 0 {
		return i
	}
	return pick(func(d EnvoyDescriptor) bool { return d.Value == "" })
}

var (
	genEnvoyKey   = rapid.SampledFrom([]string{"a", "b", "a_b", "a.b"})
	genEnvoyValue = rapid.SampledFrom([]string{"", "x", "y", "x_y", "a", "b", "x.a", "x*", "*y", "}", "%", "1:x"})
)

func genEnvoyDescriptors(t *rapid.T, depth int) []EnvoyDescriptor {
	n := rapid.IntRange(0, 5).Draw(t, "siblings")
	var ds []EnvoyDescriptor
	had := map[string]bool{}
	for range n {
		d := EnvoyDescriptor{Key: genEnvoyKey.Draw(t, "key"), Value: genEnvoyValue.Draw(t, "value")}
		if had[d.composite()] {
			continue
		}
		had[d.composite()] = true
		d.ShareThreshold = strings.Contains(d.Value, "*") && rapid.Bool().Draw(t, "share")
		if rapid.IntRange(0, 3).Draw(t, "limited") > 0 {
			d.Limits = []EnvoyLimit{{Requests: 1, Window: weir.Second}}
		}
		if depth > 1 {
			d.Descriptors = genEnvoyDescriptors(t, depth-1)
		}
		ds = append(ds, d)
	}
	return ds
}

// genEnvoyPairs makes a descriptor: half the time along a path of the tree.
func genEnvoyPairs(t *rapid.T, ds []EnvoyDescriptor) []weir.Pair {
	if rapid.Bool().Draw(t, "anything") {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) weir.Pair {
			return weir.Pair{Name: genEnvoyKey.Draw(t, "name"), Value: genEnvoyValue.Draw(t, "value")}
		}), 0, 3).Draw(t, "pairs")
	}
	var ps []weir.Pair
	for len(ds) > 0 {
		d := ds[rapid.IntRange(0, len(ds)-1).Draw(t, "which")]
		value := strings.ReplaceAll(d.Value, "*", rapid.SampledFrom([]string{"", "1"}).Draw(t, "star"))
		if d.Value == "" {
			value = rapid.SampledFrom([]string{"1", "2"}).Draw(t, "any")
		}
		ps, ds = append(ps, weir.Pair{Name: d.Key, Value: value}), d.Descriptors
	}
	return ps
}

// TestEnvoyAgainstOracle: rules are found as documented, and two requests share
// a counter when, and only when, the rule says so.
func TestEnvoyAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &EnvoyFile{Domain: "d", Descriptors: genEnvoyDescriptors(t, 3)}
		s, _ := Compile([]*File{{Envoy: f}}, Options{})
		names := map[string]counter{} // by key
		keys := map[counter]string{}
		for range 20 {
			of := genEnvoyPairs(t, f.Descriptors)
			var p Plan
			if err := s.Resolve(&weir.Request{Domain: "d", Descriptors: []weir.Descriptor{{Pairs: of}}}, &p); err != nil {
				t.Fatal(err)
			}
			want, ok := envoyOracle(f.Descriptors, of)
			if ok != (len(p.Charges) == 1) {
				t.Fatalf("%v: %d charges, matched %v", of, len(p.Charges), ok)
			}
			if !ok {
				continue
			}
			k := strings.Clone(p.Charges[0].Key)
			if had, ok := names[k]; ok && had != want {
				t.Fatalf("%v and %v share %q", had, want, k)
			}
			if had, ok := keys[want]; ok && had != k {
				t.Fatalf("%v has the keys %q and %q", want, had, k)
			}
			names[k], keys[want] = want, k
		}
	})
}

// TestEnvoyKeysParse: every key is one that package key reads back.
func TestEnvoyKeysParse(t *testing.T) {
	s := envoySet(t, Options{}, tree)
	long := strings.Repeat("v", 1000)
	for _, ask := range []string{"exact=a", "exact=" + long, "outer=z,inner=only", "outer=x,inner=" + long} {
		for _, k := range keysOfPlan(resolved(t, s, envoyAsk(ask))) {
			if _, err := key.Parse(k); err != nil {
				t.Errorf("%q: %v", k, err)
			}
			if len(k) > 256 {
				t.Errorf("%q has %d bytes", k, len(k))
			}
		}
	}
}
