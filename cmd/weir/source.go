package main

import "github.com/spf13/pflag"

// sourceAnnotation is where a flag keeps where its value came from, unless that
// is the command line or its default.
const sourceAnnotation = "weir_source"

// noteSource notes that something other than the command line set f.
func noteSource(f *pflag.Flag, source string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[sourceAnnotation] = []string{source}
}

// sourceOf tells where the value of f came from.
func sourceOf(f *pflag.Flag) string {
	switch source := f.Annotations[sourceAnnotation]; {
	case len(source) > 0:
		return source[0]
	case f.Changed:
		return "flag --" + f.Name
	}
	return "default"
}
