package h2client

import (
	"encoding/binary"
	"errors"
)

// kind is a frame's type (RFC 9113, 6).
type kind uint8

const (
	kindData         kind = 0
	kindHeaders      kind = 1
	kindPriority     kind = 2
	kindReset        kind = 3
	kindSettings     kind = 4
	kindPush         kind = 5
	kindPing         kind = 6
	kindGoAway       kind = 7
	kindWindow       kind = 8
	kindContinuation kind = 9
)

const (
	flagEndStream  = 0x1
	flagAck        = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

const (
	headerSize = 9
	// maxPayload is what a peer may send in a frame unless told otherwise, and
	// the most that is sent.
	maxPayload = 16384
)

// Settings that are read or sent.
const (
	settingTableSize     = 1
	settingPush          = 2
	settingMaxStreams    = 3
	settingInitialWindow = 4
)

const (
	codeCancel  = 8
	codeRefused = 7
)

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// frame is one frame; payload is the reader's memory.
type frame struct {
	kind    kind
	flags   uint8
	stream  uint32
	payload []byte
}

var (
	errTooLarge = errors.New("a frame is larger than the 16 KiB allowed")
	errPadding  = errors.New("a frame's padding is longer than the frame")
)

// cut returns the frame that b begins with, and how many bytes it has; 0 when
// it is not all there.
func cut(b []byte) (f frame, n int, err error) {
	if len(b) < headerSize {
		return frame{}, 0, nil
	}
	size := int(b[0])<<16 | int(b[1])<<8 | int(b[2])
	if size > maxPayload {
		return frame{}, 0, errTooLarge
	}
	if n = headerSize + size; len(b) < n {
		return frame{}, 0, nil
	}
	return frame{
		kind: kind(b[3]), flags: b[4], stream: binary.BigEndian.Uint32(b[5:]) &^ (1 << 31),
		payload: b[headerSize:n:n],
	}, n, nil
}

// content is the payload of a DATA or HEADERS frame without padding and
// priority.
func (f *frame) content() ([]byte, error) {
	b, pad := f.payload, 0
	if f.flags&flagPadded != 0 {
		if len(b) == 0 {
			return nil, errPadding
		}
		pad, b = int(b[0]), b[1:]
	}
	if f.kind == kindHeaders && f.flags&flagPriority != 0 {
		if len(b) < 5 {
			return nil, errPadding
		}
		b = b[5:]
	}
	if pad > len(b) {
		return nil, errPadding
	}
	return b[:len(b)-pad], nil
}

// appendHeader adds a frame's first nine bytes.
func appendHeader(dst []byte, size int, k kind, flags uint8, stream uint32) []byte {
	return append(dst, byte(size>>16), byte(size>>8), byte(size), byte(k), flags,
		byte(stream>>24), byte(stream>>16), byte(stream>>8), byte(stream))
}

func appendSetting(dst []byte, id uint16, value uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(dst, id), value)
}

// appendNumber adds a frame whose payload is one number: a window's growth, or
// the reason of a reset.
func appendNumber(dst []byte, k kind, stream, value uint32) []byte {
	return binary.BigEndian.AppendUint32(appendHeader(dst, 4, k, 0, stream), value)
}
