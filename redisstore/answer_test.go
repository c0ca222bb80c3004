package redisstore

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/weirlimit/weir"
)

func TestAnswer(t *testing.T) {
	long := strings.Repeat("x", 3*firstBuffer)
	for _, tc := range []struct {
		in   string
		want string // the values, as told apart below
		err  error
	}{
		{in: ":17\r\n", want: ":17"},
		{in: ":-3\r\n", want: ":-3"},
		{in: "$3\r\nabc\r\n", want: "$abc"},
		{in: "$0\r\n\r\n", want: "$"},
		{in: "$-1\r\n", want: "_"},
		{in: "_\r\n", want: "_"},
		{in: "+OK\r\n", want: "_"},
		{in: "*0\r\n", want: ""},
		{in: "*4\r\n$4\r\n\r\n\x00$\r\n$-1\r\n:1700000000000000\r\n:0\r\n", want: "$\r\n\x00$|_|:1700000000000000|:0"},
		{in: "*2\r\n$49152\r\n" + long + "\r\n:1\r\n", want: "$" + long + "|:1"},
		{in: "-NOSCRIPT No matching script.\r\n", err: replyError("NOSCRIPT No matching script.")},
		{in: "", err: io.EOF},
		{in: "*1\r\n", err: io.EOF},
		{in: "$3\r\nabc\r", err: io.EOF},
		{in: ":1\n", err: errMalformed},
		{in: "*1\r\n*1\r\n:1\r\n", err: errMalformed},
		{in: "*1\r\n-ERR inside\r\n", err: errMalformed},
		{in: "*-1\r\n", err: errMalformed},
		{in: "*999999999\r\n", err: errMalformed},
		{in: "$99999999999\r\n", err: errMalformed},
		{in: "$99999999999999999999\r\n", err: errMalformed},
		{in: ":1x\r\n", err: errMalformed},
		{in: ":\r\n", err: errMalformed},
		{in: "HTTP/1.1 400 Bad Request\r\n", err: errMalformed},
		{in: strings.Repeat("-", 3*maxLine), err: errMalformed},
	} {
		var a answer
		for how, r := range map[string]io.Reader{
			"at once":      strings.NewReader(tc.in),
			"byte by byte": iotest.OneByteReader(strings.NewReader(tc.in)),
			"with its end": iotest.DataErrReader(strings.NewReader(tc.in)),
		} {
			err := a.readFrom(r)
			if tc.err != nil {
				if !errors.Is(err, tc.err) {
					t.Errorf("%.40q %s: error %v, want %v", tc.in, how, err, tc.err)
				}
				continue
			}
			if got := told(&a); err != nil || got != tc.want {
				t.Errorf("%.40q %s: %.40q, %v, want %.40q", tc.in, how, got, err, tc.want)
			}
		}
	}
}

// Who sends more than was asked for is not understood, once it has arrived.
func TestAnswerAndMore(t *testing.T) {
	var a answer
	if err := a.readFrom(strings.NewReader(":1\r\n:2\r\n")); !errors.Is(err, errMalformed) {
		t.Errorf("error %v", err)
	}
}

// An answer that is one text has values of one size and three numbers in it.
func TestAnswerOfOneText(t *testing.T) {
	for _, tc := range []struct {
		n    int
		in   string
		want string
	}{
		{2, "\x03" + "\x06\x1d\x00\x00\x00\x00\x05" + "\x00\x00\x01\x02" + "\x00\x00\x00\x09" + "abcdef", "$abc|$def|:1720735697469445|:258|:9"},
		{1, "\x0c" + "\x00\x00\x00\x00\x00\x00\x01" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "0123456789\r\n", "$0123456789\r\n|:1|:0|:0"},
		// Any other is what it is.
		{3, "\x03" + "\x06\x1d\x00\x00\x00\x00\x05" + "\x00\x00\x01\x02" + "\x00\x00\x00\x09" + "abcdef", "same"},
		{2, "\x03" + "\x06\x1d\x00\x00\x00\x00\x05" + "\x00\x00\x01\x02" + "\x00\x00\x00\x09" + "abcde", "same"},
		{1, "\x00" + "\x06\x1d\x00\x00\x00\x00\x05" + "\x00\x00\x01\x02" + "\x00\x00\x00", "same"},
		{1, "", "same"},
	} {
		var a answer
		if err := a.readFrom(strings.NewReader(bulk([]byte(tc.in)))); err != nil {
			t.Fatal(err)
		}
		if tc.want == "same" {
			tc.want = told(&a)
		}
		a.spread(tc.n)
		if got := told(&a); got != tc.want {
			t.Errorf("%q of %d is %q, want %q", tc.in, tc.n, got, tc.want)
		}
	}
}

// told lists the values of an answer.
func told(a *answer) string {
	var out []string
	for i := range a.values {
		v := string(a.values[i].kind)
		if b, ok := a.text(i); ok {
			v += string(b)
		} else if n, ok := a.number(i); ok {
			v += string(appendDecimal(n))
		}
		out = append(out, v)
	}
	return strings.Join(out, "|")
}

func appendDecimal(n int64) []byte {
	b := appendHead(nil, ':', int(max(n, -n)))
	b = b[1 : len(b)-2]
	if n < 0 {
		b = append([]byte{'-'}, b...)
	}
	return b
}

// An answer that was large leaves no memory behind.
func TestAnswerGivesMemoryBack(t *testing.T) {
	var a answer
	if err := a.readFrom(strings.NewReader("$4000000\r\n" + strings.Repeat("x", 4_000_000) + "\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := a.readFrom(strings.NewReader(":1\r\n")); err != nil || cap(a.buf) > keptBuffer {
		t.Errorf("%d bytes are kept, %v", cap(a.buf), err)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"*3\r\n$3\r\nabc\r\n$-1\r\n:5\r\n", "-ERR x\r\n", ":1\r\n", "$2\r\nab\r\n", "*1\r\n*1\r\n", "$5\r\nab\r\n", "*2\r\n_\r\n+a\r\n", "\r\n", "$1073741824\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var a, b answer
		err := a.readFrom(strings.NewReader(string(data)))
		again := b.readFrom(iotest.OneByteReader(strings.NewReader(string(data))))
		// Who sends too much is found out when it has arrived.
		if extra := err == error(errMalformed) && again == nil; !extra && (err == nil) != (again == nil) {
			t.Fatalf("at once %v, byte by byte %v", err, again)
		}
		size := 0
		for i := range a.values {
			if v, ok := a.text(i); ok {
				size += len(v)
			}
		}
		if size > len(data) || cap(a.buf) > firstBuffer+2*len(data) {
			t.Errorf("%d bytes in %d of memory were read from %d", size, cap(a.buf), len(data))
		}
		if err == nil && told(&a) != told(&b) {
			t.Errorf("%q and %q", told(&a), told(&b))
		}
		if e, ok := errors.AsType[*weir.Error](err); ok && e.Code != weir.CodeProtocol {
			t.Errorf("error %v", err)
		}
	})
}
