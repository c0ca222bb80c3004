package h2client

import (
	"encoding/binary"
	"math"
)

// settings are the server's.
func (c *conn) settings(f *frame) error {
	if f.stream != 0 {
		return errStream
	}
	if f.flags&flagAck != 0 {
		return nil
	}
	if len(f.payload)%6 != 0 {
		return errShort
	}
	for b := f.payload; len(b) > 0; b = b[6:] {
		value := binary.BigEndian.Uint32(b[2:])
		switch binary.BigEndian.Uint16(b) {
		case settingTableSize:
			// A small table is not used from then on, which the next block says. That
			// it grows again would have to be said, too, and brings nothing.
			if value < tableSize && c.tabled {
				c.blocks, c.began, c.tabled = newBlocks(c.fields, value), false, false
			}
		case settingMaxStreams:
			c.maxStreams = value
		case settingInitialWindow:
			if value > math.MaxInt32 {
				return errWindow
			}
			c.streamRoom = int64(value)
		}
	}
	c.open = true
	c.out = appendHeader(c.out, 0, kindSettings, flagAck, 0)
	return nil
}

func (c *conn) ping(f *frame) error {
	if f.stream != 0 {
		return errStream
	}
	if len(f.payload) != 8 {
		return errShort
	}
	if f.flags&flagAck == 0 {
		c.out = append(appendHeader(c.out, 8, kindPing, flagAck, 0), f.payload...)
	}
	return nil
}

// goAway ends what the server will not look at; the rest is waited for.
func (c *conn) goAway(f *frame) error {
	if f.stream != 0 {
		return errStream
	}
	if len(f.payload) < 8 {
		return errShort
	}
	last := binary.BigEndian.Uint32(f.payload) &^ (1 << 31)
	c.draining = true
	if last < c.next {
		c.fail(last+1, Answer{Failure: Refused, Code: int(binary.BigEndian.Uint32(f.payload[4:])), Detail: "GOAWAY"})
	}
	return nil
}

func (c *conn) window(f *frame) error {
	if len(f.payload) != 4 {
		return errShort
	}
	if f.stream == 0 { // a stream's own is used up by what it is begun with, or not at all
		c.room += int64(binary.BigEndian.Uint32(f.payload) &^ (1 << 31))
		if c.room > math.MaxInt32 {
			return errWindow
		}
	}
	return nil
}

func (c *conn) reset(f *frame) error {
	if len(f.payload) != 4 {
		return errShort
	}
	if f.stream == 0 || f.stream >= c.next {
		return errStream
	}
	if u := c.find(f.stream); u != nil {
		code := binary.BigEndian.Uint32(f.payload)
		a := Answer{Failure: Reset, Code: int(code), Detail: "RST_STREAM"}
		if code == codeRefused {
			a.Failure = Refused
		}
		c.end(u, a)
	}
	return nil
}
