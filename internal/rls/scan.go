package rls

import (
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/weirlimit/weir/internal/pbwire"
)

// The fields of RateLimitRequest and of what it is made of.
const (
	tagDomain      = 1<<3 | pbwire.Bytes
	tagDescriptors = 2<<3 | pbwire.Bytes
	tagHits        = 3<<3 | pbwire.Varint

	tagEntries      = 1<<3 | pbwire.Bytes // of RateLimitDescriptor
	tagLimit        = 2<<3 | pbwire.Bytes
	tagOwnHits      = 3<<3 | pbwire.Bytes
	tagNegativeHits = 4<<3 | pbwire.Varint

	tagKey   = 1<<3 | pbwire.Bytes // of Entry
	tagValue = 2<<3 | pbwire.Bytes

	tagPerUnit    = 1<<3 | pbwire.Varint // of RateLimitOverride
	tagUnit       = 2<<3 | pbwire.Varint
	tagMultiplier = 3<<3 | pbwire.Bytes

	tagWrapped = 1<<3 | pbwire.Varint // of UInt64Value and UInt32Value
)

// scan takes a RateLimitRequest as it came over the wire: its texts are parts of
// text. It takes what protobuf takes, and texts of any bytes besides: a value is
// often what a client sent, and Envoy would let pass what is refused for it.
func (a *asked) scan(text string) error {
	a.reset()
	r := pbwire.Read(text)
	for r.Next() {
		switch r.Tag {
		case tagDomain:
			a.domain = r.Text()
		case tagDescriptors:
			inner := pbwire.Read(r.Text())
			d := a.add()
			if d == nil {
				d = new(askedDescriptor) // it is refused, but for whatever comes first
			}
			d.scan(&inner)
			r.Within(&inner)
		case tagHits:
			a.hits = uint32(r.Varint())
		default:
			r.Skip()
		}
	}
	return r.Err()
}

func (d *askedDescriptor) scan(r *pbwire.Reader) {
	for r.Next() {
		switch r.Tag {
		case tagEntries:
			d.scanEntry(r)
		case tagLimit:
			d.hasLimit = true
			d.limit.scan(r)
		case tagOwnHits:
			d.hasHits = true
			scanWrapped(r, &d.hits)
		case tagNegativeHits:
			d.refund = r.Varint() != 0
		default:
			r.Skip()
		}
	}
}

func (d *askedDescriptor) scanEntry(outer *pbwire.Reader) {
	var key, value string
	r := pbwire.Read(outer.Text())
	for r.Next() {
		switch r.Tag {
		case tagKey:
			key = r.Text()
		case tagValue:
			value = r.Text()
		default:
			r.Skip()
		}
	}
	outer.Within(&r)
	d.add(key, value)
}

// scan adds to what is there: a message that stands twice is one.
func (l *askedLimit) scan(outer *pbwire.Reader) {
	r := pbwire.Read(outer.Text())
	for r.Next() {
		switch r.Tag {
		case tagPerUnit:
			l.perUnit = uint32(r.Varint())
		case tagUnit:
			l.unit = typev3.RateLimitUnit(r.Varint())
		case tagMultiplier:
			units := uint64(l.units)
			scanWrapped(&r, &units)
			l.units = uint32(units)
		default:
			r.Skip()
		}
	}
	outer.Within(&r)
}

func scanWrapped(outer *pbwire.Reader, v *uint64) {
	r := pbwire.Read(outer.Text())
	for r.Next() {
		if r.Tag == tagWrapped {
			*v = r.Varint()
		} else {
			r.Skip()
		}
	}
	outer.Within(&r)
}
