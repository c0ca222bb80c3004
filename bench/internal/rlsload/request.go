package rlsload

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// Request is one call of ShouldRateLimit. It has a domain and a descriptor.
type Request struct {
	Domain      string
	Descriptors []Descriptor
	Hits        uint32 // 0 stands for 1, and is not sent
}

// Descriptor is the entries of one, in order.
type Descriptor []Entry

// Entry is a key and its value.
type Entry struct{ Key, Value string }

// The fields of RateLimitRequest, RateLimitDescriptor and its Entry.
const (
	requestDomain      = 1
	requestDescriptors = 2
	requestHits        = 3
	descriptorEntries  = 1
	entryKey           = 1
	entryValue         = 2
)

// message is the request in protobuf's encoding.
func (r Request) message() []byte {
	b := appendText(nil, requestDomain, r.Domain)
	for _, d := range r.Descriptors {
		var descriptor []byte
		for _, e := range d {
			entry := appendText(nil, entryKey, e.Key)
			entry = appendText(entry, entryValue, e.Value)
			descriptor = appendBytes(descriptor, descriptorEntries, entry)
		}
		b = appendBytes(b, requestDescriptors, descriptor)
	}
	if r.Hits > 0 {
		b = protowire.AppendTag(b, requestHits, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(r.Hits))
	}
	return b
}

func appendText(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}
