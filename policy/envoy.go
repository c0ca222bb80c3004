package policy

import (
	"crypto/sha256"

	"github.com/weirlimit/weir"
)

// EnvoyFile is a file of envoyproxy/ratelimit's format: what was written,
// checked, and nothing more. It is not changed after it was parsed.
//
//	domain: api
//	descriptors:
//	  - key: tenant                      # one counter per tenant
//	    rate_limit:
//	      unit: minute
//	      requests_per_unit: 3000
//	    rate_limits:                     # Weir's: more limits on the same node
//	      - {unit: second, requests_per_unit: 100, burst: 200}
//	    descriptors:
//	      - key: path
//	        value: /reports/*            # '*' is any number of characters
//	        rate_limit:
//	          unit: second
//	          unit_multiplier: 30        # Weir's: 5 per 30 seconds
//	          requests_per_unit: 5
//	          algorithm: fixed_window    # Weir's: instead of the default
//
// A limit counts in a sliding window, with burst it is gcra, and with
// Options.EnvoyCompat and no word of its own a fixed window.
//
// A key is compared with a key and a value with a value. The service this
// format comes from joins the two with '_' first, so that there a bare key a_b
// also matches the entry (a, b), and a '*' within a key is a wildcard over both.
type EnvoyFile struct {
	Name        string
	Domain      string
	At          Position // of the domain
	Descriptors []EnvoyDescriptor

	sum [sha256.Size]byte // of the file's bytes
}

// EnvoyDescriptor is one node of the tree.
type EnvoyDescriptor struct {
	Key   string
	Value string // empty: any value, a counter each
	At    Position

	// Limits are rate_limit and then rate_limits; all must admit. A node with
	// neither limits nor descriptors lets through what it matches.
	Limits    []EnvoyLimit
	Unlimited bool
	Name      string // for Replaces of other nodes, and for the answer
	Replaces  []string

	Shadow         bool
	Quota          bool
	DetailedMetric bool
	ValueToMetric  bool
	ShareThreshold bool           // what a wildcard matches shares one counter
	Metadata       map[string]any // nil, bool, int64, uint64, float64, string, []any, map[string]any

	Descriptors []EnvoyDescriptor
}

// EnvoyLimit is one window of a node.
type EnvoyLimit struct {
	Requests  int64 // 0 denies everything
	Window    weir.Micros
	Algorithm weir.Algorithm // 0: not written
	Burst     int64          // 0: not written
	At        Position
}

// Bounds on an Envoy file. They are far above what is written by hand, and keep
// a hostile or broken file from taking the process with it.
const (
	maxEnvoyBytes = 10_000_000 - 1
	maxEnvoyMarks = 3 << 20 // a bound on YAML values, of some 200 bytes each while a file is read
	maxEnvoyDepth = 32      // levels of descriptors
	maxYAMLDepth  = 64      // maps within maps, in descriptors or in metadata
	maxAliased    = 1e6     // fields read through YAML aliases
	// A request of 16 descriptors, the most an edge lets in, can then never
	// need more charges than one entry holds.
	maxEnvoyLimits = weir.MaxCharges / 16
)

// limited tells whether the node is a rule rather than a passage or a whitelist.
func (d *EnvoyDescriptor) limited() bool { return d.Unlimited || len(d.Limits) > 0 }

// composite is the node's name among its siblings.
func (d *EnvoyDescriptor) composite() string {
	if d.Value == "" {
		return d.Key
	}
	return d.Key + "_" + d.Value
}

// limit is l as the engine counts it.
func (l *EnvoyLimit) limit(byDefault weir.Algorithm) weir.Limit {
	a := l.Algorithm
	switch {
	case a != 0:
	case l.Burst != 0:
		a = weir.GCRA
	default:
		a = byDefault
	}
	return weir.Limit{Algorithm: a, Count: l.Requests, Window: l.Window, Burst: l.Burst}
}
