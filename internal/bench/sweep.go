package bench

import "github.com/weirlimit/weir"

// Sweep are requests that ask for every key of a Synthetic once, in order: who
// measures what a counter costs has them all there before. It is for the API rls:
// a request has a descriptor for each of its keys.
type Sweep struct {
	Domain string
	Name   string // of the descriptors' entries
	Count  uint64 // keys, at most MaxKeys
	Each   int    // keys of a request; 0 is 1
}

func (s *Sweep) each() uint64 { return uint64(max(s.Each, 1)) }

// Calls is how many requests ask for all.
func (s *Sweep) Calls() int64 { return int64((s.Count + s.each() - 1) / s.each()) }

// key is the i-th of request n. The last request begins again.
func (s *Sweep) key(n int64, i uint64) uint64 { return (uint64(n)*s.each() + i) % max(s.Count, 1) }

// Fill implements Requests.
func (s *Sweep) Fill(n int64, r *weir.Request) {
	s.fill(r, func(i uint64) uint64 { return s.key(n, i) })
}

func (s *Sweep) fill(r *weir.Request, key func(i uint64) uint64) {
	r.Domain, r.Cost, r.Descriptors = s.Domain, 1, r.Descriptors[:0]
	for i := range s.each() {
		r.Descriptors = append(r.Descriptors, weir.Descriptor{Pairs: []weir.Pair{{Name: s.Name, Value: keyText(key(i))}}})
	}
}

func (s *Sweep) encoder(c codec) (func([]byte, int64) []byte, error) {
	zeros, places := keyPlaces(c, func(key uint64, r *weir.Request) {
		s.fill(r, func(uint64) uint64 { return key })
	})
	return func(dst []byte, n int64) []byte {
		at := len(dst)
		dst = append(dst, zeros...)
		for i, p := range places {
			putDigits(dst[at+p:at+p+keyDigits], s.key(n, uint64(i)))
		}
		return dst
	}, nil
}
