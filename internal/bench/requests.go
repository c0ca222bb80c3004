package bench

import (
	"fmt"
	"io"
	"strconv"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/loadgen"
	"github.com/weirlimit/weir/internal/reqlist"
)

// Requests are what a plan sends, by number. They are immutable.
type Requests interface {
	// Fill writes request n, whose slices it uses again.
	Fill(n int64, r *weir.Request)
	// encoder returns what appends request n in a codec's form, from any
	// goroutine.
	encoder(c codec) (func(dst []byte, n int64) []byte, error)
}

// Synthetic are requests that differ in a key: with three names, three
// descriptors {name: "key-00000042"}, or three dimensions.
type Synthetic struct {
	Domain string
	Names  []string // of the descriptors' entries
	Cost   int64
	Keys   loadgen.Keys // at most MaxKeys
}

const (
	// MaxKeys is how many different keys there may be: those of eight digits.
	MaxKeys = 100_000_000

	keyPrefix = "key-"
	keyDigits = 8
)

var _, _, _ Requests = (*Synthetic)(nil), (*Sweep)(nil), (*Listed)(nil)

// Fill implements Requests.
func (s *Synthetic) Fill(n int64, r *weir.Request) { s.fill(s.Keys.At(n), r) }

func (s *Synthetic) fill(key uint64, r *weir.Request) {
	value := keyText(key)
	r.Domain, r.Cost, r.Descriptors = s.Domain, s.Cost, r.Descriptors[:0]
	for _, name := range s.Names {
		r.Descriptors = append(r.Descriptors, weir.Descriptor{
			Pairs: []weir.Pair{{Name: name, Value: value}}, HasCost: s.Cost == 0,
		})
	}
}

// encoder encodes once: where the messages of two keys differ are the digits of
// the key.
func (s *Synthetic) encoder(c codec) (func([]byte, int64) []byte, error) {
	zeros, places := keyPlaces(c, s.fill)
	return func(dst []byte, n int64) []byte {
		at := len(dst)
		dst = append(dst, zeros...)
		key := s.Keys.At(n)
		for _, p := range places {
			putDigits(dst[at+p:at+p+keyDigits], key)
		}
		return dst
	}, nil
}

// keyPlaces encodes a request whose keys are 0, and says where their digits are.
func keyPlaces(c codec, fill func(key uint64, r *weir.Request)) (zeros []byte, places []int) {
	var r weir.Request
	fill(0, &r)
	zeros = c(nil, &r)
	fill(MaxKeys-1, &r)
	nines := c(nil, &r)
	for i := 0; i < len(zeros); i++ {
		if zeros[i] != nines[i] {
			places = append(places, i)
			i += keyDigits - 1
		}
	}
	return zeros, places
}

func keyText(key uint64) string {
	var digits [keyDigits]byte
	putDigits(digits[:], key)
	return keyPrefix + string(digits[:])
}

func putDigits(to []byte, n uint64) {
	for i := len(to) - 1; i >= 0; i-- {
		to[i] = '0' + byte(n%10)
		n /= 10
	}
}

// Listed are the requests of a list, again from its start after its end.
type Listed struct{ requests []weir.Request }

// maxListBytes bounds what a list's texts and their encoding take.
const maxListBytes = 512 << 20

// ReadList reads a list as reqlist has it.
func ReadList(from io.Reader) (*Listed, error) {
	l, size := &Listed{}, 0
	err := reqlist.Read(from, func(r *weir.Request) error {
		one := *r
		one.Descriptors = append([]weir.Descriptor(nil), r.Descriptors...)
		l.requests = append(l.requests, one)
		for i := range one.Descriptors {
			for _, p := range one.Descriptors[i].Pairs {
				size += len(p.Name) + len(p.Value) + 64
			}
		}
		if size > maxListBytes {
			return fmt.Errorf("the list takes more than %d MiB of memory", maxListBytes>>20)
		}
		return nil
	})
	if err == nil && len(l.requests) == 0 {
		err = &weir.Error{Code: weir.CodeInvalid, Field: "list", Message: "has no requests"}
	}
	return l, err
}

// Len is how many there are.
func (l *Listed) Len() int { return len(l.requests) }

func (l *Listed) at(n int64) *weir.Request { return &l.requests[n%int64(len(l.requests))] }

// Fill implements Requests.
func (l *Listed) Fill(n int64, r *weir.Request) {
	from := l.at(n)
	r.Domain, r.Cost = from.Domain, from.Cost
	r.Descriptors = append(r.Descriptors[:0], from.Descriptors...)
}

// maxEncoded leaves room for what a gRPC message is sent with in a frame.
const maxEncoded = 16<<10 - 64

// encoder encodes all of the list beforehand.
func (l *Listed) encoder(c codec) (func([]byte, int64) []byte, error) {
	var all []byte
	ends := make([]int, 1, 1+len(l.requests))
	for i := range l.requests {
		all = c(all, &l.requests[i])
		if len(all)-ends[i] > maxEncoded {
			return nil, &weir.Error{
				Code: weir.CodeInvalid, Field: "request " + strconv.Itoa(i+1), Message: "has more than 16 KiB",
			}
		}
		ends = append(ends, len(all))
	}
	return func(dst []byte, n int64) []byte {
		i := int(n % int64(len(l.requests)))
		return append(dst, all[ends[i]:ends[i+1]]...)
	}, nil
}

// oneSet refuses requests that have a name twice: the APIs with dimensions have
// one set of them.
func oneSet(rs Requests) error {
	check := func(i int, r *weir.Request) error {
		seen := map[string]bool{}
		for d := range r.Descriptors {
			for _, p := range r.Descriptors[d].Pairs {
				if seen[p.Name] {
					return &weir.Error{
						Code: weir.CodeInvalid, Field: "request " + strconv.Itoa(i+1),
						Message: "has " + strconv.Quote(p.Name) + " twice", Hint: "only the API rls has several descriptors",
					}
				}
				seen[p.Name] = true
			}
		}
		return nil
	}
	if l, ok := rs.(*Listed); ok {
		for i := range l.requests {
			if err := check(i, &l.requests[i]); err != nil {
				return err
			}
		}
		return nil
	}
	var r weir.Request
	rs.Fill(0, &r)
	return check(0, &r)
}

// Record writes the first n requests as a list, or as many as a list may have,
// and returns how many.
func Record(to io.Writer, rs Requests, n int64) (int, error) {
	w := reqlist.NewWriter(to)
	var r weir.Request
	for i := int64(0); i < n && !w.Full(); i++ {
		rs.Fill(i, &r)
		if err := w.Write(&r); err != nil {
			return w.Count(), err
		}
	}
	return w.Count(), w.Flush()
}
