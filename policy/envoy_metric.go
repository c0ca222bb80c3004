package policy

import (
	"sync"
	"unicode/utf8"

	"github.com/weirlimit/weir"
)

// maxMetricValue is how many bytes of a request's value a metric key shows. A
// longer value is cut: two of them may then be counted as one.
const maxMetricValue = 64

// AppendMetricKey appends the key under which descriptor i of r, which p was
// resolved from, is counted by value_to_metric and detailed_metric: the rule's
// path with the values that the request sent. It appends nothing when no rule
// matched.
//
// A private value is shown by its pseudonym. The values are the caller's, and so the number of keys is without bound: see
// MetricKeys.
func (p *Plan) AppendMetricKey(dst []byte, r *weir.Request, i int) []byte {
	m := &p.Descriptors[i]
	switch {
	case m.Rule == nil:
		return dst
	case !m.Rule.DetailedMetric && !m.Rule.ValueToMetric:
		return append(dst, m.node.metric...)
	}
	dst = append(dst, m.Rule.Domain...)
	return m.node.appendMetric(dst, p, r.Descriptors[i].Pairs, m.Rule.DetailedMetric)
}

// appendMetric appends the path from the top down to n.
func (n *envoyNode) appendMetric(dst []byte, p *Plan, pairs []weir.Pair, detailed bool) []byte {
	last := len(pairs) - 1
	if n.up != nil {
		dst = n.up.appendMetric(dst, p, pairs[:last], detailed)
	}
	value := n.value // literal, the wildcard as written, or none
	if (detailed || n.valueToMetric) && !n.shares {
		value = cut(pairs[last].Value)
		if n.isFree() && n.hides[len(n.hides)-1] {
			value = p.pseudonym(p.phaseNow().Key, n.key, pairs[last].Value)
		}
	}
	dst = append(append(dst, '.'), n.key...)
	if value != "" {
		dst = append(append(dst, '_'), value...)
	}
	return dst
}

// cut shortens a value between two characters.
func cut(value string) string {
	if len(value) <= maxMetricValue {
		return value
	}
	n := maxMetricValue
	for n > 0 && !utf8.RuneStart(value[n]) {
		n--
	}
	return value[:n]
}

// MetricKeys gives out metric keys, and bounds how many there are: when it is
// full, a key that is not yet known is counted under its rule, without the
// request's values. Safe for concurrent use; the zero value is not valid.
type MetricKeys struct {
	most int
	mu   struct {
		sync.RWMutex
		keys map[string]string
	}
}

// NewMetricKeys makes one for at most most keys with values of requests.
func NewMetricKeys(most int) *MetricKeys {
	k := &MetricKeys{most: most}
	k.mu.keys = map[string]string{}
	return k
}

// Of returns the key of descriptor i of r, which p was resolved from; it is
// empty when no rule matched. It allocates only for keys that are new.
func (k *MetricKeys) Of(p *Plan, r *weir.Request, i int) string {
	m := &p.Descriptors[i]
	switch {
	case m.Rule == nil:
		return ""
	case !m.Rule.DetailedMetric && !m.Rule.ValueToMetric:
		return m.node.metric
	}
	var buf [512]byte
	return k.known(p.AppendMetricKey(buf[:0], r, i), m.node.metric)
}

func (k *MetricKeys) known(text []byte, otherwise string) string {
	k.mu.RLock()
	key, ok := k.mu.keys[string(text)]
	full := len(k.mu.keys) >= k.most
	k.mu.RUnlock()
	switch {
	case ok:
		return key
	case full:
		return otherwise
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if key, ok := k.mu.keys[string(text)]; ok {
		return key
	}
	if len(k.mu.keys) >= k.most {
		return otherwise
	}
	key = string(text)
	k.mu.keys[key] = key
	return key
}
