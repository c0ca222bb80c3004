package policy

import "github.com/weirlimit/weir"

// Approach has the memory fetched that Resolve needs for r, as far as that can be
// told from the small tables that lead there. It is a hint: who has several requests calls it for
// all of them before the first is resolved, and waits for all of it at once.
func (s *Set) Approach(r *weir.Request) {
	if d := s.domains.find(r.Domain); d != nil && d.envoy != nil && r.Policy == "" {
		d.envoy.approach(r)
	}
}

// approach fetches what the first pair of each descriptor leads to. Where its rules
// are many, that is most often where it ends.
func (d *envoyDomain) approach(r *weir.Request) {
	x := d.first.some.exact
	if d.first.more != nil || x == nil || len(x.places) < farPlaces {
		return
	}
	for i := range r.Descriptors {
		if pairs := r.Descriptors[i].Pairs; len(pairs) > 0 && pairs[0].Name == d.first.key {
			if p := x.likely(pairs[0].Value); p != nil {
				p.fetch()
			}
		}
	}
}

// likely returns the place that has a value, as far as the slots know, or nil.
func (x *exactIndex) likely(value string) *exactPlace {
	hash := hashOf(value)
	_, p := x.seek(hash, x.home(hash))
	return p
}
