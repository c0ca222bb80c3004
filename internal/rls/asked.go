package rls

import (
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/weirlimit/weir"
)

// asked is what a request says, however it came in, before anybody has looked
// whether it may say so. It is reused; its texts are those of the request.
type asked struct {
	domain string
	hits   uint32
	// total is how many descriptors there are, of which those beyond
	// MaxDescriptors are not kept.
	total       int
	descriptors []askedDescriptor
}

type askedDescriptor struct {
	entries  int         // how many there are
	pairs    []weir.Pair // the first MaxPairs of them
	refund   bool
	hasHits  bool
	hits     uint64
	hasLimit bool
	limit    askedLimit
}

// askedLimit is a limit that a request brings along.
type askedLimit struct {
	perUnit uint32
	unit    typev3.RateLimitUnit
	units   uint32 // to a window; 0 is 1
}

func (a *asked) reset() {
	a.domain, a.hits, a.total = "", 0, 0
	a.descriptors = a.descriptors[:0]
}

// add returns a further descriptor to be filled, nil when it is one too many.
func (a *asked) add() *askedDescriptor {
	if a.total++; a.total > MaxDescriptors {
		return nil
	}
	n := len(a.descriptors)
	if n == cap(a.descriptors) {
		a.descriptors = append(a.descriptors, askedDescriptor{})
	} else {
		a.descriptors = a.descriptors[:n+1]
	}
	d := &a.descriptors[n]
	*d = askedDescriptor{pairs: d.pairs[:0]}
	return d
}

func (d *askedDescriptor) add(name, value string) {
	if d.entries++; d.entries <= MaxPairs {
		d.pairs = append(d.pairs, weir.Pair{Name: name, Value: value})
	}
}

// read takes a message that protobuf has decoded.
func (a *asked) read(in *pb.RateLimitRequest) {
	a.reset()
	a.domain, a.hits = in.GetDomain(), in.GetHitsAddend()
	for _, from := range in.GetDescriptors() {
		d := a.add()
		if d == nil {
			continue
		}
		for _, e := range from.GetEntries() {
			d.add(e.GetKey(), e.GetValue())
		}
		d.refund = from.GetIsNegativeHits()
		if hits := from.GetHitsAddend(); hits != nil {
			d.hasHits, d.hits = true, hits.GetValue()
		}
		if l := from.GetLimit(); l != nil {
			d.hasLimit, d.limit = true, askedLimit{
				perUnit: l.GetRequestsPerUnit(), unit: l.GetUnit(), units: l.GetUnitMultiplier().GetValue(),
			}
		}
	}
}
