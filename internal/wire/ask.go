package wire

import (
	"fmt"
	"unicode/utf8"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
)

// Asked is the memory of one check on its way out. It is reused: Fill, send,
// Fill again.
type Asked struct {
	Message weirv1.CheckRequest
	// Size is at least as many bytes as the message takes within a batch.
	Size int

	dims []weirv1.Dimension // what Message.Dimensions point to
}

// Bytes that a message takes besides its texts, at most: ten varints of ten
// bytes and their tags, and the tags and lengths of texts.
const (
	fixedSize = 96
	textSize  = 4
)

// Validate returns an *weir.Error for what a server would refuse, or what the
// wire cannot say: one bad text would fail the message of many checks that it
// is sent with.
func Validate(r *weir.Request) error {
	if r.Domain == "" || !fits(r.Domain, MaxNameBytes) {
		return invalid("domain", fmt.Sprintf("has 1 to %d bytes of UTF-8", MaxNameBytes))
	}
	if !fits(r.Policy, MaxNameBytes) {
		return invalid("policy", fmt.Sprintf("has at most %d bytes of UTF-8", MaxNameBytes))
	}
	if len(r.ID) > weir.MaxIDBytes || !utf8.ValidString(r.ID) {
		return invalid("id", fmt.Sprintf("has at most %d bytes of UTF-8", weir.MaxIDBytes))
	}
	if len(r.Descriptors) > 1 {
		return &weir.Error{
			Code: weir.CodeInvalid, Field: "descriptors", Message: "a remote check has one at most",
			Hint: "send one request for each, or use Envoy's protocol",
		}
	}
	if r.Cost < 0 && (len(r.Descriptors) == 0 || !r.Descriptors[0].HasCost) {
		return invalid("cost", "is below 0")
	}
	if len(r.Descriptors) == 0 {
		return nil
	}
	return validateDescriptor(&r.Descriptors[0])
}

func validateDescriptor(d *weir.Descriptor) error {
	switch {
	case d.HasCost && d.Cost < 0:
		return &weir.Error{Code: weir.CodeInvalid, Field: "cost", Message: "is below 0", Hint: "set refund to give units back"}
	case d.Refund && d.Spent:
		return invalid("spent", "units are spent or given back, not both")
	case d.Limit != nil:
		return invalid("limit", "limits are the server's policies', not the request's")
	case len(d.Pairs) > MaxDimensions:
		return invalid("dimensions", fmt.Sprintf("%d are more than %d", len(d.Pairs), MaxDimensions))
	}
	size := 0
	for i := range d.Pairs {
		p := &d.Pairs[i]
		if size += len(p.Name) + len(p.Value); size > MaxTextBytes {
			return invalid("dimensions", tooMuchText)
		}
		if p.Name == "" || !fits(p.Name, MaxNameBytes) || !fits(p.Value, MaxValueBytes) {
			return invalid(fmt.Sprintf("dimensions[%d]", i), fmt.Sprintf("a name has 1 to %d bytes of UTF-8, a value at most %d", MaxNameBytes, MaxValueBytes))
		}
	}
	return nil
}

func fits(text string, most int) bool { return len(text) <= most && utf8.ValidString(text) }

// Fill makes the message that asks r, which is valid.
func (a *Asked) Fill(r *weir.Request, number uint64, timeout weir.Micros, wantCharges bool) {
	m := &a.Message
	m.Domain, m.Policy, m.RequestId, m.Number = r.Domain, r.Policy, r.ID, number
	m.TimeoutUs, m.WantCharges = int64(max(1, timeout)), wantCharges
	m.Dimensions = m.Dimensions[:0]
	a.Size = fixedSize + len(r.Domain) + len(r.Policy) + len(r.ID)
	var d weir.Descriptor
	if len(r.Descriptors) > 0 {
		d = r.Descriptors[0]
	}
	m.Cost, m.Mode = asked(r, &d)
	if a.dims == nil {
		a.dims = make([]weirv1.Dimension, MaxDimensions) // pointed into, so it must not move
	}
	for i := range d.Pairs {
		dim := &a.dims[i]
		dim.Name, dim.Value = d.Pairs[i].Name, d.Pairs[i].Value
		m.Dimensions = append(m.Dimensions, dim)
		a.Size += 3*textSize + len(dim.Name) + len(dim.Value)
	}
}

// asked is the cost and the mode of a request, of which 0 is a peek.
func asked(r *weir.Request, d *weir.Descriptor) (int64, weirv1.Mode) {
	cost := r.Cost
	if d.HasCost {
		cost = d.Cost
		if cost == 0 {
			return 0, weirv1.Mode_MODE_PEEK
		}
	}
	switch {
	case d.Refund:
		return cost, weirv1.Mode_MODE_REFUND
	case d.Spent:
		return cost, weirv1.Mode_MODE_SPENT
	}
	return cost, weirv1.Mode_MODE_CHARGE
}

// Release returns the message that releases r, which is valid.
func Release(r *weir.Request) *weirv1.ReleaseRequest {
	return &weirv1.ReleaseRequest{Domain: r.Domain, Policy: r.Policy, RequestId: r.ID, Dimensions: dimensions(r)}
}

func dimensions(r *weir.Request) (out []*weirv1.Dimension) {
	if len(r.Descriptors) > 0 {
		for _, p := range r.Descriptors[0].Pairs {
			out = append(out, &weirv1.Dimension{Name: p.Name, Value: p.Value})
		}
	}
	return out
}
