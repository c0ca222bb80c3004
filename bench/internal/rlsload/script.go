package rlsload

import (
	"encoding/binary"
	"fmt"
)

// Script is requests as DATA frames, ready but for the stream's number. It may
// be used by several goroutines at once.
type Script interface {
	// append adds the frame of call i on a stream. The script begins again when
	// it is over.
	append(dst []byte, i uint64, stream uint32) []byte
}

// prefixLen is of the five bytes before a gRPC message: not compressed, length.
const prefixLen = 5

// dataFrame is the request as a DATA frame that ends its stream, stream 0.
func dataFrame(r Request) []byte {
	msg := r.message()
	n := prefixLen + len(msg)
	b := appendFrameHeader(nil, n, frameData, flagEndStream, 0)
	b = binary.BigEndian.AppendUint32(append(b, 0), uint32(len(msg)))
	return append(b, msg...)
}

// recorded is the script of a recording.
type recorded struct {
	data []byte
	ends []int // of the frames in data
}

// NewScript encodes a recording, which has at least one request.
func NewScript(r Recording) (Script, error) {
	if len(r) == 0 {
		return nil, fmt.Errorf("a recording without requests")
	}
	s := &recorded{ends: make([]int, 0, len(r))}
	for _, req := range r {
		s.data = append(s.data, dataFrame(req)...)
		s.ends = append(s.ends, len(s.data))
	}
	return s, nil
}

func (s *recorded) append(dst []byte, i uint64, stream uint32) []byte {
	n := int(i % uint64(len(s.ends)))
	start := 0
	if n > 0 {
		start = s.ends[n-1]
	}
	at := len(dst)
	dst = append(dst, s.data[start:s.ends[n]]...)
	setStream(dst[at:], stream)
	return dst
}

// Keys are numbered values of one key: more than a recording could hold.
type Keys struct {
	Domain, Key  string
	First, Count uint64 // the numbers from First on, so many
	// Seed, when not 0, asks for them in an order as good as random, one that it
	// determines; else one after the other.
	Seed uint64
	// Batch is how many a call asks for, a descriptor each; 0 is 1. Whoever fills
	// a server with keys is done sooner.
	Batch int
}

// numbered is the script of Keys.
type numbered struct {
	Keys
	frame []byte // its last bytes are a number
	apart int    // bytes between the numbers of two descriptors
}

// digits of a number, with zeroes before it: a frame has one length.
const digits = 9

// Script encodes the requests.
func (k Keys) Script() Script {
	k.Count, k.Batch = max(k.Count, 1), max(k.Batch, 1)
	r := Request{Domain: k.Domain}
	for range k.Batch {
		r.Descriptors = append(r.Descriptors, Descriptor{{k.Key, Number(0)}})
	}
	frame := dataFrame(r)
	r.Descriptors = append(r.Descriptors, r.Descriptors[0])
	return &numbered{k, frame, len(dataFrame(r)) - len(frame)}
}

// Calls is how many ask for every key once.
func (k Keys) Calls() uint64 {
	batch := uint64(max(k.Batch, 1))
	return (k.Count + batch - 1) / batch
}

// Number is a value as Keys asks for it.
func Number(n uint64) string { return fmt.Sprintf("t%0*d", digits, n) }

func (s *numbered) append(dst []byte, i uint64, stream uint32) []byte {
	at := len(dst)
	dst = append(dst, s.frame...)
	setStream(dst[at:], stream)
	for j := range s.Batch {
		n := i*uint64(s.Batch) + uint64(j)
		if s.Seed != 0 {
			n = mix(n ^ mix(s.Seed))
		}
		end := len(dst) - (s.Batch-1-j)*s.apart
		putNumber(dst[end-digits:end], s.First+n%s.Count)
	}
	return dst
}

func putNumber(b []byte, n uint64) {
	for p := len(b) - 1; p >= 0; p-- {
		b[p] = byte('0' + n%10)
		n /= 10
	}
}

// mix spreads a number over all 64 bits (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
