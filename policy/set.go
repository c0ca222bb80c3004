package policy

import (
	"github.com/weirlimit/weir"
)

// Options says how files are compiled.
type Options struct {
	// EnvoyCompat counts as envoyproxy/ratelimit does: every descriptor counts,
	// denied or not, in shadow or not, in fixed windows; and one bad file rejects
	// the load.
	EnvoyCompat bool
	// EnvoyShadow and EnvoyQuota put every Envoy rule in shadow_mode, or in
	// quota_mode, whatever it says.
	EnvoyShadow, EnvoyQuota bool
	// MergeDomains lets several Envoy files share a domain.
	MergeDomains bool
	// Private names the dimensions, and in Envoy's format the entries, whose
	// values become pseudonyms before they become part of a key; nil is
	// DefaultPrivate. Matching sees the values themselves.
	Private []string
	// Lease is what lease: auto says of policies that do not say, and can be
	// leased. Envoy's rules have no other way to it.
	Lease bool
	// Overrides are asked for native limits first; nil for none.
	Overrides Overrides
}

// File is one parsed file: of exactly one format.
type File struct {
	Name   string
	Envoy  *EnvoyFile
	Native *NativeFile
}

// Set is a compiled set of rules. It is immutable.
type Set struct {
	version string
	envoy   map[string]*envoyDomain
	native  map[string]*nativeDomain
	domains domainIndex // the same
	rules   []*Rule
	memory  []byte // see Advise
}

// Rules returns all rules, by their Index. The slice and the rules are not to
// be changed.
func (s *Set) Rules() []*Rule { return s.rules }

// Advise calls advise with the memory that decisions read here and there, where
// that is large: for a hint to the system, which leaves it as it is.
func (s *Set) Advise(advise func(memory []byte)) {
	if len(s.memory) > 0 {
		advise(s.memory)
	}
}

// Version names the set's contents: the same files give the same version.
func (s *Set) Version() string { return s.version }

// Resolve fills p with what r is to be charged. A request that nothing applies
// to has an empty plan. The error is an *weir.Error: CodeInvalid for a request
// that cannot be right, CodePolicyNotFound for a policy that does not exist.
func (s *Set) Resolve(r *weir.Request, p *Plan) error {
	p.Reset()
	if d := s.domains.find(r.Domain); d != nil {
		if d.envoy != nil && r.Policy == "" {
			return d.envoy.resolve(r, p)
		}
		if d.native != nil {
			return d.native.resolve(r, p)
		}
	}
	if r.Policy != "" {
		return &weir.Error{Code: weir.CodePolicyNotFound, Field: "policy", Message: "there is no policy " + r.Policy}
	}
	for range r.Descriptors {
		p.Descriptors = append(p.Descriptors, Matched{})
	}
	return nil
}
