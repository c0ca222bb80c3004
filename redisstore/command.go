package redisstore

import "strconv"

// command is the script's call as it goes over the wire. It is made in the
// flight's memory, from the parts that build and encode left there.
func (f *flight) command(sc *script, inArgs bool) []byte {
	nkeys := f.size()
	clock := f.store.clockArg(nil)
	b := appendHead(f.wire[:0], '*', 4+nkeys+len(clock))
	b = append(b, "$7\r\nEVALSHA\r\n"...)
	b = appendBulk(b, sc.sha)
	if inArgs {
		b = append(b, "$1\r\n0\r\n"...)
		b = appendBulk(b, f.blob)
		b = f.appendKeys(b)
	} else {
		var digits [8]byte
		b = appendBulk(b, strconv.AppendInt(digits[:0], int64(nkeys), 10))
		b = f.appendKeys(b)
		b = appendBulk(b, f.blob)
	}
	for _, arg := range clock {
		b = appendBulk(b, arg)
	}
	f.wire = b
	return b
}

func (f *flight) appendKeys(b []byte) []byte {
	for _, sp := range f.keys.spans {
		b = appendBulk(b, f.arena[sp.from:sp.to])
	}
	for _, sp := range f.replays.spans {
		b = appendBulk(b, f.arena[sp.from:sp.to])
	}
	return b
}

func appendHead(b []byte, kind byte, n int) []byte {
	b = append(b, kind)
	if n < 100 {
		if n >= 10 {
			b = append(b, byte('0'+n/10))
		}
		b = append(b, byte('0'+n%10))
	} else {
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, '\r', '\n')
}

func appendBulk[T string | []byte](b []byte, s T) []byte {
	b = appendHead(b, '$', len(s))
	b = append(b, s...)
	return append(b, '\r', '\n')
}
