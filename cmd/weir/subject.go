package main

import (
	"strings"

	"github.com/spf13/pflag"
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
)

// subjectFlags say what a request is about, in Envoy's words or in Weir's own.
type subjectFlags struct {
	domain      string
	descriptors []string
	policy      string
	dimensions  []string
	hits        int64
	id          string
}

// subject is a request, and which of the two APIs it is for.
type subject struct {
	weir.Request
	native bool
}

// register adds the flags; their variables begin with prefix.
func (f *subjectFlags) register(flags *pflag.FlagSet, prefix string) {
	flags.StringVar(&f.domain, "domain", "",
		"`domain` of the policies; with --dimension "+policy.DefaultDomain+" if empty")
	flags.StringArrayVar(&f.descriptors, "descriptor", nil,
		"entries `k=v,k=v` of one Envoy descriptor; repeat it for several descriptors")
	flags.StringVar(&f.policy, "policy", "", "`id` of the only policy to apply; all that match if empty")
	flags.StringArrayVar(&f.dimensions, "dimension", nil,
		"what is known of the request, `k=v`; repeat it for several, or use commas")
	flags.Int64Var(&f.hits, "hits", 1, "`units` to charge; 0 only looks")
	flags.StringVar(&f.id, "request-id", "", "`id` of the request, which limits of concurrency need")
	for _, name := range []string{"domain", "descriptor", "policy", "dimension", "hits", "request-id"} {
		fromEnv(flags, name, prefix+strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
}

// maxHits is what Envoy's hits_addend holds.
const maxHits = 1<<32 - 1

// parse turns the flags into a request.
func (f *subjectFlags) parse() (*subject, error) {
	own := f.policy != "" || len(f.dimensions) > 0 || f.id != ""
	switch {
	case own && len(f.descriptors) > 0:
		return nil, usage("give --descriptor for Envoy's API, or --policy and --dimension for Weir's own",
			"--descriptor does not go with --policy, --dimension or --request-id")
	case !own && len(f.descriptors) == 0:
		return nil, usage("for example --dimension tenant=acme, or --domain api --descriptor tenant=acme",
			"what is the request about?")
	case f.domain == "" && !own:
		return nil, usage("for example --domain api", "--domain: is empty, and a descriptor belongs to a domain")
	case f.hits < 0:
		return nil, usage("use 0 to look without charging", "--hits: %d is below 0", f.hits)
	case f.hits > maxHits:
		return nil, usage("", "--hits: %d is above %d", f.hits, maxHits)
	}
	s := &subject{native: own}
	s.Domain, s.Policy, s.ID, s.Cost = f.domain, f.policy, f.id, f.hits
	if own {
		return s, f.dimensionsInto(s)
	}
	for _, text := range f.descriptors {
		pairs, err := parsePairs("descriptor", text)
		if err != nil {
			return nil, err
		}
		s.add(pairs)
	}
	return s, nil
}

// dimensionsInto makes s a native request: one descriptor of all dimensions.
func (f *subjectFlags) dimensionsInto(s *subject) error {
	if s.Domain == "" {
		s.Domain = policy.DefaultDomain
	}
	var all []weir.Pair
	for _, text := range f.dimensions {
		pairs, err := parsePairs("dimension", text)
		if err != nil {
			return err
		}
		all = append(all, pairs...)
	}
	s.add(all)
	return nil
}

// add adds a descriptor. Of the request's cost 0 would mean 1, of the
// descriptor's own it means to look.
func (s *subject) add(pairs []weir.Pair) {
	s.Descriptors = append(s.Descriptors, weir.Descriptor{Pairs: pairs, HasCost: s.Cost == 0})
}

// parsePairs reads k=v,k=v. A backslash takes the meaning of what follows it: a
// comma in a name or value, '=' in a name, a backslash in either.
func parsePairs(flag, text string) ([]weir.Pair, error) {
	var pairs []weir.Pair
	for rest, more := text, true; more; {
		var pair weir.Pair
		var named bool
		pair, rest, named, more = cutPair(rest)
		if !named || pair.Name == "" {
			return nil, usage("for example --"+flag+" tenant=acme", "--%s %q: %q is not name=value", flag, text, pair.Name)
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

// cutPair reads the pair that text begins with; without an '=' all of it is the
// name. more tells whether a comma, and so another pair, follows.
func cutPair(text string) (pair weir.Pair, rest string, named, more bool) {
	var part strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			c = text[i]
		case c == '=' && !named:
			pair.Name, named = part.String(), true
			part.Reset()
			continue
		case c == ',':
			rest, more = text[i+1:], true
			i = len(text)
			continue
		}
		part.WriteByte(c)
	}
	if named {
		pair.Value = part.String()
	} else {
		pair.Name = part.String()
	}
	return pair, rest, named, more
}

// pairsText writes pairs as parsePairs reads them.
func pairsText(pairs []weir.Pair) string {
	var b strings.Builder
	for i, p := range pairs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(escapePair.Replace(p.Name))
		b.WriteByte('=')
		b.WriteString(escapeValue.Replace(p.Value))
	}
	return b.String()
}

var (
	escapePair  = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `=`, `\=`)
	escapeValue = strings.NewReplacer(`\`, `\\`, `,`, `\,`)
)
