package policyfile

import "github.com/weirlimit/weir/policy"

// Parse parses a file of either format. With compat a file of no known format
// is taken for Envoy's, so that what is wrong with it is said in the words that
// users of envoyproxy/ratelimit know.
func Parse(name string, data []byte, compat bool) (*policy.File, []policy.Problem) {
	format, wrong := Detect(name, data)
	if format == Unknown && compat {
		format = Envoy
	}
	switch format {
	case Native:
		f, ps := policy.ParseNative(name, data)
		if f == nil {
			return nil, ps
		}
		return &policy.File{Name: name, Native: f}, ps
	case Envoy:
		f, ps := policy.ParseEnvoy(name, data)
		if f == nil {
			return nil, ps
		}
		return &policy.File{Name: name, Envoy: f}, ps
	}
	return nil, []policy.Problem{*wrong}
}
