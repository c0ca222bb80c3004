package memstore

import (
	"encoding/binary"

	"github.com/weirlimit/weir"
)

// The stored form of an outcome: a byte of flags and seven varints, together
// some 20 bytes instead of 64.
const (
	flagOK    = 1 << iota
	flagNever // RetryAfter is weir.Never
	flagSince // Before.Since is not 0 and follows, relative to now
)

func appendOutcome(b []byte, o *weir.Outcome, now weir.Micros) []byte {
	flags, retry := byte(0), o.RetryAfter
	if o.OK {
		flags |= flagOK
	}
	if retry == weir.Never {
		flags, retry = flags|flagNever, 0
	}
	if o.Before.Since != 0 {
		flags |= flagSince
	}
	b = append(b, flags)
	b = binary.AppendVarint(b, o.Granted)
	b = binary.AppendVarint(b, o.Remaining)
	b = binary.AppendVarint(b, int64(o.ResetAfter))
	b = binary.AppendVarint(b, int64(retry))
	b = binary.AppendVarint(b, int64(o.Delay))
	b = binary.AppendVarint(b, o.Before.Used)
	if flags&flagSince != 0 {
		b = binary.AppendVarint(b, int64(o.Before.Since-now))
	}
	return b
}

// readOutcome reads what appendOutcome wrote and returns what follows it.
func readOutcome(b []byte, o *weir.Outcome, now weir.Micros) []byte {
	flags := b[0]
	b = b[1:]
	next := func() int64 {
		v, n := binary.Varint(b)
		b = b[n:]
		return v
	}
	*o = weir.Outcome{OK: flags&flagOK != 0}
	o.Granted = next()
	o.Remaining = next()
	o.ResetAfter = weir.Micros(next())
	o.RetryAfter = weir.Micros(next())
	o.Delay = weir.Micros(next())
	o.Before.Used = next()
	if flags&flagNever != 0 {
		o.RetryAfter = weir.Never
	}
	if flags&flagSince != 0 {
		o.Before.Since = now + weir.Micros(next())
	}
	return b
}
