package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// Compile makes a Set of files that were parsed without errors, in the order
// given: where Envoy files share a domain, wildcards are tried in that order.
//
// A file that cannot stand beside the others is left out and the rest applies;
// the problems name it. With Options.EnvoyCompat an error gives no set at all.
// The same files and options give an equal set.
func Compile(files []*File, o Options) (*Set, []Problem) {
	envoy, memory, problems := compileEnvoy(files, o)
	native, more := compileNative(files, o)
	s := &Set{version: versionOf(files, o), envoy: envoy, native: native, domains: newDomainIndex(envoy, native), memory: memory}
	problems = slices.Concat(problems, more, hiddenDomains(s, files))
	SortProblems(problems)
	if o.EnvoyCompat && HasErrors(problems) {
		return nil, problems
	}
	s.number()
	return s, problems
}

// number gives the rules their index: Envoy's first, domain by domain.
func (s *Set) number() {
	add := func(r *Rule) {
		r.Index = int32(len(s.rules))
		s.rules = append(s.rules, r)
	}
	for _, name := range slices.Sorted(maps.Keys(s.envoy)) {
		for _, r := range s.envoy[name].rules {
			add(r)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.native)) {
		for _, r := range s.native[name].allRules() {
			add(r)
		}
	}
}

// versionBytes of a SHA-256 name a version: 2^-48 is chance enough among the
// versions one deployment ever sees, and short enough for a metric's label.
const versionBytes = 6

func versionOf(files []*File, o Options) string {
	h := sha256.New()
	for _, f := range files {
		var sum [sha256.Size]byte
		switch {
		case f.Envoy != nil:
			sum = f.Envoy.sum
		case f.Native != nil:
			sum = f.Native.digest()
		default:
			continue
		}
		h.Write(sum[:])
	}
	h.Write(fmt.Append(nil, o.EnvoyCompat, o.MergeDomains, o.EnvoyShadow, o.EnvoyQuota))
	if o.Lease {
		h.Write([]byte("lease"))
	}
	if o.Private != nil {
		h.Write(fmt.Appendf(nil, "%q", o.Private))
	}
	return hex.EncodeToString(h.Sum(nil)[:versionBytes])
}

// hiddenDomains warns of domains that are written in both formats: requests
// that name no policy are subject to the Envoy rules alone.
func hiddenDomains(s *Set, files []*File) []Problem {
	var problems []Problem
	for _, f := range files {
		if f.Envoy == nil || s.native[f.Envoy.Domain] == nil {
			continue
		}
		problems = append(problems, Problem{
			At: f.Envoy.At, Warning: true, Code: "domain-in-two-formats",
			Message: "domain '" + f.Envoy.Domain + "' is also that of native policies",
			Hint:    "requests that name no policy meet only the descriptors of this file; give the policies a domain of their own",
		})
	}
	return problems
}
