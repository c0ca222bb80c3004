package main

import "github.com/spf13/pflag"

// leaseDefault says whether policies are leased that do not say themselves.
type leaseDefault struct{ word string }

func (f *leaseDefault) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.word, "lease", "off", "whether units of policies that do not say may be taken ahead: `auto` or off")
	fromEnv(flags, "lease", "WEIR_LEASE")
}

func (f *leaseDefault) auto() (bool, error) {
	switch f.word {
	case "auto":
		return true, nil
	case "off":
		return false, nil
	}
	return false, usage("use auto or off", "--lease: unknown word %q", f.word)
}
