package wire

import (
	"fmt"
	"time"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
)

// Bounds on a request, as the .proto promises them.
const (
	MaxDimensions = 16
	MaxNameBytes  = 256     // of a domain, a policy's id, a dimension's name
	MaxValueBytes = 4 << 10 // of a dimension: a path is one
	// MaxTextBytes bounds the names and values of a check together: each check
	// fits a message of the 64 KiB that a server takes.
	MaxTextBytes = 32 << 10
	MaxChecks    = 1024 // of one message of a stream
)

var tooMuchText = fmt.Sprintf("names and values have more than %d bytes together", MaxTextBytes)

// Dimensioned is what the requests of this API have in common.
type Dimensioned interface {
	GetDomain() string
	GetPolicy() string
	GetDimensions() []*weirv1.Dimension
}

// Subject translates what a request is about into out, reusing its memory.
func Subject(in Dimensioned, out *weir.Request) *weir.Error {
	if in.GetDomain() == "" || len(in.GetDomain()) > MaxNameBytes {
		return invalid("domain", fmt.Sprintf("has 1 to %d bytes", MaxNameBytes))
	}
	if len(in.GetPolicy()) > MaxNameBytes {
		return invalid("policy", fmt.Sprintf("has at most %d bytes", MaxNameBytes))
	}
	dims := in.GetDimensions()
	if len(dims) > MaxDimensions {
		return invalid("dimensions", fmt.Sprintf("%d are more than %d", len(dims), MaxDimensions))
	}
	if len(out.Descriptors) != 1 {
		out.Descriptors = make([]weir.Descriptor, 1)
	}
	pairs, size := out.Descriptors[0].Pairs[:0], 0
	for i, d := range dims {
		if size += len(d.GetName()) + len(d.GetValue()); size > MaxTextBytes {
			return invalid("dimensions", tooMuchText)
		}
		if d.GetName() == "" || len(d.GetName()) > MaxNameBytes || len(d.GetValue()) > MaxValueBytes {
			return invalid(fmt.Sprintf("dimensions[%d]", i), fmt.Sprintf("a name has 1 to %d bytes, a value at most %d", MaxNameBytes, MaxValueBytes))
		}
		for j := range pairs {
			if pairs[j].Name == d.GetName() {
				return invalid(fmt.Sprintf("dimensions[%d].name", i), "stands twice: "+d.GetName())
			}
		}
		pairs = append(pairs, weir.Pair{Name: d.GetName(), Value: d.GetValue()})
	}
	*out = weir.Request{Domain: in.GetDomain(), Policy: in.GetPolicy(), Descriptors: out.Descriptors}
	out.Descriptors[0] = weir.Descriptor{Pairs: pairs}
	return nil
}

// Check translates a check; received is when it came in.
func Check(in *weirv1.CheckRequest, out *weir.Request, received time.Time) *weir.Error {
	if err := Subject(in, out); err != nil {
		return err
	}
	switch {
	case in.GetCost() < 0:
		return invalid("cost", fmt.Sprintf("%d is below 0", in.GetCost()))
	case in.GetTimeoutUs() < 0:
		return invalid("timeout_us", fmt.Sprintf("%d is below 0", in.GetTimeoutUs()))
	case len(in.GetRequestId()) > weir.MaxIDBytes:
		return invalid("request_id", fmt.Sprintf("has at most %d bytes", weir.MaxIDBytes))
	}
	out.ID, out.Cost = in.GetRequestId(), max(1, in.GetCost())
	if us := in.GetTimeoutUs(); us > 0 {
		out.Deadline = received.Add(weir.Micros(us).Duration())
	}
	switch in.GetMode() {
	case weirv1.Mode_MODE_CHARGE:
	case weirv1.Mode_MODE_PEEK:
		out.Descriptors[0].HasCost = true // of 0: look, and charge nothing
	case weirv1.Mode_MODE_REFUND:
		out.Descriptors[0].Refund = true
	case weirv1.Mode_MODE_SPENT:
		out.Descriptors[0].Spent = true
	default:
		return invalid("mode", "no such mode: "+in.GetMode().String())
	}
	return nil
}

func invalid(field, message string) *weir.Error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message}
}
