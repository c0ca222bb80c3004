package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// notShown stands for a secret that is set.
const notShown = "(set, not shown)"

// peerVariable is a variable of envoyproxy/ratelimit that is set and that no flag
// has its value from.
type peerVariable struct {
	Variable string `json:"variable"`
	Value    string `json:"value,omitempty"`
	Hidden   bool   `json:"hidden,omitempty"`    // the value, or a part of it, is not shown
	NoEffect string `json:"no_effect,omitempty"` // why, if it has none
}

func (v *peerVariable) text() string {
	if v.Value == "" {
		return notShown
	}
	return v.Value
}

// listPeer lists the variables that p took or ignored, but those that are named
// as the source of a flag.
func listPeer(p *peerSettings, flags *pflag.FlagSet, lookup func(string) (string, bool)) []peerVariable {
	told := map[string]bool{}
	flags.VisitAll(func(f *pflag.Flag) {
		if name, ok := strings.CutPrefix(sourceOf(f), "variable "); ok {
			told[name] = true
		}
	})
	out := []peerVariable{}
	for _, name := range slices.Sorted(slices.Values(slices.Concat(p.used, p.ignored))) {
		if told[name] {
			continue
		}
		v := peerVariable{Variable: name, NoEffect: peerIgnored[name]}
		if by := p.outweighs(name, lookup); by != "" {
			v.NoEffect = by + " wins"
		}
		if strings.HasSuffix(name, "_AUTH") {
			v.Hidden = true
		} else {
			value, _ := lookup(name)
			v.Value, v.Hidden = redact(value, false)
		}
		out = append(out, v)
	}
	return out
}

// outweighs is what a variable yields to, "" for nothing.
func (p *peerSettings) outweighs(name string, lookup func(string) (string, bool)) string {
	for _, n := range []secretNames{redisSecrets, sentinelSecrets} {
		for _, own := range []string{n.user, n.password, n.file} {
			if v, _ := lookup(own); v != "" && name == n.peer {
				return "variable " + own
			}
		}
	}
	return p.outweighed[name]
}
