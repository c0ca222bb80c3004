package redisstore

import (
	"bytes"
	"io"

	"github.com/weirlimit/weir"
)

// answer is one reply of a server, in the memory of the one before. Its values
// are parts of what has arrived, and are good until the next.
type answer struct {
	buf    []byte
	at     int // what is before it is understood
	left   int // values that are still to come; -1 before the first line
	values []value
}

// value is one of an answer's. A text is buf[at : at+n], a number is n.
type value struct {
	kind byte // '$', ':' or '_'
	at   int
	n    int64
}

const (
	firstBuffer = 16 << 10
	keptBuffer  = 1 << 20 // of an answer that was larger, the memory is given back
	maxAnswer   = 1 << 30
	maxLine     = 64 << 10 // of an error's text; all others are short
	maxValues   = 2 * maxKeysHard
)

// replyError is an error that the server answered.
type replyError string

func (e replyError) Error() string { return string(e) }

var errMalformed = &weir.Error{Code: weir.CodeProtocol, Message: "redis: the answer is not understood"}

func (a *answer) reset() {
	if cap(a.buf) > keptBuffer {
		a.buf = nil
	}
	a.buf, a.at, a.left, a.values = a.buf[:0], 0, -1, a.values[:0]
}

// text returns the i-th value; false if it is none.
func (a *answer) text(i int) ([]byte, bool) {
	v := &a.values[i]
	if v.kind != '$' {
		return nil, false
	}
	return a.buf[v.at : v.at+int(v.n)], true
}

// number returns the i-th value; false if it is none.
func (a *answer) number(i int) (int64, bool) {
	v := &a.values[i]
	return v.n, v.kind == ':'
}

// forget makes the i-th value none.
func (a *answer) forget(i int) { a.values[i] = value{kind: '_'} }

// evenHead is before the values of an answer of n values of one size, which is one
// text: that size and three numbers.
const evenHead = 1 + 7 + 4 + 4

// spread has an answer that is one text be the list that it stands for: its values,
// and then the numbers. One that is none is left as it is.
func (a *answer) spread(n int) {
	b, ok := a.text(0)
	if !ok || len(b) < evenHead || len(b) != evenHead+n*int(b[0]) {
		return
	}
	at, size := a.values[0].at+evenHead, int(b[0])
	a.values = a.values[:0]
	for range n {
		a.values = append(a.values, value{kind: '$', at: at, n: int64(size)})
		at += size
	}
	a.values = append(a.values, value{kind: ':', n: be(b[1:8])}, value{kind: ':', n: be(b[8:12])}, value{kind: ':', n: be(b[12:16])})
}

// readFrom reads one reply, and nothing after it. Memory grows with what has
// arrived, not with what is announced.
func (a *answer) readFrom(r io.Reader) error {
	a.reset()
	for {
		whole, err := a.scan()
		if err != nil {
			return err
		}
		if whole {
			if a.at != len(a.buf) {
				return errMalformed // nobody has asked for more
			}
			return nil
		}
		if len(a.buf) == cap(a.buf) {
			if len(a.buf) >= maxAnswer {
				return errMalformed
			}
			grown := make([]byte, len(a.buf), max(firstBuffer, 2*cap(a.buf)))
			copy(grown, a.buf)
			a.buf = grown
		}
		n, err := r.Read(a.buf[len(a.buf):cap(a.buf)])
		a.buf = a.buf[:len(a.buf)+n]
		if n == 0 && err != nil {
			return err
		}
	}
}

// scan goes on with what has arrived, and tells whether that is all. An answer
// is one value or a list of them; an error is returned as one.
func (a *answer) scan() (whole bool, err error) {
	for a.left != 0 {
		rest := a.buf[a.at:]
		if len(rest) < 3 { // the least that a line has
			return false, nil
		}
		end := lineEnd(rest)
		if end < 0 {
			if len(rest) > maxLine {
				return false, errMalformed
			}
			return false, nil
		}
		if end < 2 || rest[end-1] != '\r' {
			return false, errMalformed
		}
		kind, line := rest[0], rest[1:end-1]
		next := a.at + end + 1
		switch kind {
		case '$', ':':
			n, ok := decimal(line)
			if !ok {
				return false, errMalformed
			}
			v := value{kind: kind, at: next, n: n}
			switch {
			case kind == ':':
			case n < 0:
				v = value{kind: '_'}
			case n > maxAnswer:
				return false, errMalformed
			default:
				next += int(n) + 2
				if next > len(a.buf) {
					return false, nil
				}
			}
			a.put(v)
		case '*':
			n, ok := decimal(line)
			if !ok || a.left >= 0 || n < 0 || n > maxValues {
				return false, errMalformed
			}
			a.left = int(n)
		case '+', '_':
			a.put(value{kind: '_'})
		case '-':
			if a.left >= 0 {
				return false, errMalformed
			}
			return false, replyError(line)
		default:
			return false, errMalformed
		}
		a.at = next
	}
	return true, nil
}

// lineEnd is where the first line of b ends, or -1. Most are of some bytes.
func lineEnd(b []byte) int {
	for i, c := range b[:min(len(b), 8)] {
		if c == '\n' {
			return i
		}
	}
	return bytes.IndexByte(b, '\n')
}

// put adds a value to the list, or is the answer itself.
func (a *answer) put(v value) {
	a.values = append(a.values, v)
	a.left = max(0, a.left-1)
}

// decimal reads a number of at most 18 digits.
func decimal(b []byte) (n int64, ok bool) {
	minus := len(b) > 0 && b[0] == '-'
	if minus {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		c -= '0'
		if c > 9 {
			return 0, false
		}
		n = 10*n + int64(c)
	}
	if minus {
		n = -n
	}
	return n, true
}
