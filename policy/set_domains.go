package policy

// fewDomains are compared one by one, by their last bytes first, which is quicker
// than a hash: names mostly begin alike.
const fewDomains = 16

// domainIndex finds the domain of a request, in both formats by one look.
type domainIndex struct {
	few  []domain
	many map[string]*domain // nil where few will do
}

// domain is what a domain has; one of the two at least.
type domain struct {
	name   string
	envoy  *envoyDomain
	native *nativeDomain
}

func newDomainIndex(envoy map[string]*envoyDomain, native map[string]*nativeDomain) domainIndex {
	all := make(map[string]*domain, len(envoy)+len(native))
	for name, d := range envoy {
		all[name] = &domain{name: name, envoy: d}
	}
	for name, d := range native {
		if all[name] == nil {
			all[name] = &domain{name: name}
		}
		all[name].native = d
	}
	if len(all) > fewDomains {
		return domainIndex{many: all}
	}
	var x domainIndex
	for _, d := range all {
		x.few = append(x.few, *d)
	}
	return x
}

// find returns the domain of that name, or nil.
func (x *domainIndex) find(name string) *domain {
	if x.many != nil {
		return x.many[name]
	}
	for i := range x.few {
		if of := x.few[i].name; len(of) == len(name) && (of == "" || of[len(of)-1] == name[len(name)-1] && of == name) {
			return &x.few[i]
		}
	}
	return nil
}
