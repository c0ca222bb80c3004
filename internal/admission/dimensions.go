package admission

import (
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/weirlimit/weir"
)

// Field makes a dimension of a field that a caller sends.
type Field struct {
	Dimension string
	Kind      string // such as header field
	Name      string
}

// Append appends the dimension to dst, if the field has a value. One that is
// there twice is an error, as is a value that is no text.
func (f *Field) Append(dst []weir.Pair, values []string) ([]weir.Pair, error) {
	switch {
	case len(values) == 0 || len(values) == 1 && values[0] == "":
		return dst, nil
	case len(values) > 1:
		return dst, Invalid(f.Dimension, "the "+f.Kind+" "+f.Name+" is there twice", "send it once")
	case !utf8.ValidString(values[0]):
		return dst, Invalid(f.Dimension, "the "+f.Kind+" "+f.Name+" is not UTF-8", "encode it as UTF-8")
	}
	return append(dst, weir.Pair{Name: f.Dimension, Value: values[0]}), nil
}

// Text makes UTF-8 of a value that is to count whatever its bytes are.
func Text(value string) string {
	if utf8.ValidString(value) {
		return value
	}
	return strings.ToValidUTF8(value, "\uFFFD")
}

// Add appends a dimension unless one of the first n has its name.
func Add(pairs []weir.Pair, n int, name, value string) []weir.Pair {
	for i := range n {
		if pairs[i].Name == name {
			return pairs
		}
	}
	return append(pairs, weir.Pair{Name: name, Value: value})
}

// Network returns what an address counts by: an IPv4 address by itself, an IPv6
// address by its /64, which is what a customer of a network is given. It is
// empty for no address.
func Network(addr netip.Addr) string {
	if !addr.IsValid() {
		return ""
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	prefix, _ := addr.Prefix(64) // an IPv6 address has as many
	return prefix.String()
}
