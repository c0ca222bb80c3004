package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirlimit/weir"
)

// overrideID is the id of the rule behind limits that requests bring along. No
// descriptor has it: in theirs a '%' is written %25.
const overrideID = "%override"

// compileEnvoy compiles the Envoy files among files, by domain. A file that
// cannot stand beside those before it is left out; its problems name it. The memory
// is what most decisions read.
func compileEnvoy(files []*File, o Options) (map[string]*envoyDomain, []byte, []Problem) {
	c := &envoyCompiler{compat: o.EnvoyCompat, shadow: o.EnvoyShadow, quota: o.EnvoyQuota, lease: o.Lease, byDefault: weir.SlidingWindow, private: o.private(), meters: map[weir.Limit]*weir.Meter{}, lists: map[*weir.Meter][]*weir.Meter{}}
	if o.EnvoyCompat {
		c.byDefault = weir.FixedWindow
	}
	domains := c.group(files, o.MergeDomains)
	values := 0
	for _, files := range domains {
		for _, f := range files {
			values += countValues(f.Descriptors)
		}
	}
	places := make([]exactPlace, values)
	c.room = places
	compiled := make(map[string]*envoyDomain, len(domains))
	for _, name := range slices.Sorted(maps.Keys(domains)) {
		compiled[name] = c.domain(name, domains[name])
	}
	return compiled, bytesOf(places), c.problems
}

type envoyCompiler struct {
	compat    bool
	shadow    bool // all rules
	quota     bool // all rules that can be
	lease     bool // Options.Lease
	byDefault weir.Algorithm
	private   []string
	meters    map[weir.Limit]*weir.Meter // one per limit, however many rules have it
	lists     map[*weir.Meter][]*weir.Meter
	room      []exactPlace // for all values of all domains: side by side, they take few pages
	problems  []Problem
}

func (c *envoyCompiler) warn(at Position, code, message, hint string) {
	c.problems = append(c.problems, Problem{At: at, Warning: true, Code: code, Message: message, Hint: hint})
}

// group sorts files by domain and leaves out those that contradict others.
func (c *envoyCompiler) group(files []*File, merge bool) map[string][]*EnvoyFile {
	domains := map[string][]*EnvoyFile{}
	tops := map[string]map[string]*EnvoyDescriptor{} // of each domain, by composite
	for _, f := range files {
		if f.Envoy == nil {
			continue
		}
		name, had := f.Envoy.Domain, domains[f.Envoy.Domain]
		if len(had) > 0 && !merge {
			c.problems = append(c.problems, Problem{
				At: f.Envoy.At, Code: "duplicate-domain",
				Message: fmt.Sprintf("duplicate domain '%s' in config file", name),
				Hint:    "it is also in " + had[0].Name + "; join the two, or give --merge-domains or MERGE_DOMAIN_CONFIG=true",
			})
			continue
		}
		if tops[name] == nil {
			tops[name] = map[string]*EnvoyDescriptor{}
		}
		if merge && !c.fits(f.Envoy, tops[name]) {
			continue
		}
		domains[name] = append(had, f.Envoy)
	}
	return domains
}

// fits tells whether a file of a shared domain repeats nothing of the others,
// and adds it to top if so.
func (c *envoyCompiler) fits(f *EnvoyFile, top map[string]*EnvoyDescriptor) bool {
	fits := true
	for i := range f.Descriptors {
		d := &f.Descriptors[i]
		if first := top[d.composite()]; first != nil {
			c.problems = append(c.problems, duplicateDescriptor(d, f.Domain+"."+d.composite(), first))
			fits = false
		}
	}
	if fits {
		for i := range f.Descriptors {
			top[f.Descriptors[i].composite()] = &f.Descriptors[i]
		}
	}
	return fits
}

// domain builds the tree of one domain.
func (c *envoyCompiler) domain(name string, files []*EnvoyFile) *envoyDomain {
	b := &envoyBuilder{
		envoyCompiler: c,
		domain:        &envoyDomain{name: name, top: envoyLevel{}, private: c.private},
		names:         map[string]int32{}, words: map[string]*string{},
	}
	for _, f := range files {
		for i := range f.Descriptors {
			b.add(b.domain.top, nil, &f.Descriptors[i], name)
		}
	}
	b.finish(b.domain.top)
	b.tellApart()
	b.domain.first = b.compile(b.domain.top)
	for i, n := range b.nodes {
		b.domain.rules[i] = n.rule // where it is now
	}
	b.checkReplaces()
	b.addOverride()
	return b.domain
}

// meter returns the meter of a limit that was checked when it was read.
func (c *envoyCompiler) meter(l *EnvoyLimit) *weir.Meter {
	limit := l.limit(c.byDefault)
	if m := c.meters[limit]; m != nil {
		return m
	}
	m, err := weir.NewMeter(limit)
	if err != nil {
		c.problems = append(c.problems, Problem{At: l.At, Code: "bad-limit", Message: err.Error()})
		return nil
	}
	c.meters[limit] = m
	return m
}

// rule makes the rule of a node that has one. Its id comes later.
func (c *envoyCompiler) rule(domain string, d *EnvoyDescriptor) *Rule {
	r := &Rule{
		Domain: domain, Name: d.Name, At: d.At,
		Unlimited: d.Unlimited, Quota: d.Quota || c.quota && len(d.Limits) == 1, Replaces: d.Replaces,
		Metadata: d.Metadata, DetailedMetric: d.DetailedMetric, CountsAll: c.compat,
	}
	switch {
	case d.Shadow || c.shadow:
		r.Mode = weir.Shadow
	case c.compat:
		r.Mode = weir.Always
	}
	for i := range d.Limits {
		l := &d.Limits[i]
		if l.Requests == 0 {
			r.Denies, r.Zero = true, l.limit(c.byDefault)
			continue
		}
		if m := c.meter(l); m != nil {
			r.Windows = append(r.Windows, m)
		}
	}
	if r.Denies {
		r.Windows = nil // what never passes need not be counted
	}
	if len(r.Windows) == 1 { // one list for all rules with this limit: it is in the cache
		m := r.Windows[0]
		if c.lists[m] == nil {
			c.lists[m] = r.Windows
		}
		r.Windows = c.lists[m]
	}
	r.Lease = c.lease && leasesEnvoy(r)
	return r
}

// leasesEnvoy tells whether a rule's units may be taken ahead where the server's
// default says so: those of a rule that denies by itself, and counts what it
// admits only.
func leasesEnvoy(r *Rule) bool {
	if r.Mode != weir.Enforce || r.Quota || len(r.Windows) == 0 {
		return false
	}
	return !slices.ContainsFunc(r.Windows, func(m *weir.Meter) bool { return !leasable(m.Limit.Algorithm) })
}

// escapeID keeps ids of descriptors apart from those that Weir makes.
func escapeID(path string) string { return strings.ReplaceAll(path, "%", "%25") }
