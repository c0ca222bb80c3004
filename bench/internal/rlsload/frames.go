package rlsload

import "encoding/binary"

// What of RFC 9113 is used here.
const (
	preface        = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHeaderLen = 9
	maxFrame       = 16 << 10 // the least that every server may send

	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameSettings     = 0x4
	framePing         = 0x6
	frameGoAway       = 0x7
	frameWindowUpdate = 0x8
	frameContinuation = 0x9

	flagEndStream  = 0x1
	flagAck        = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20

	settingTableSize     = 0x1
	settingMaxStreams    = 0x3
	settingInitialWindow = 0x4

	firstWindow = 65535
	maxWindow   = 1<<31 - 1
)

// frame is one that was read; payload is valid until the next read.
type frame struct {
	kind, flags byte
	stream      uint32
	payload     []byte
}

// nextFrame takes a frame off b. It is not there yet when n is 0.
func nextFrame(b []byte) (f frame, n int) {
	if len(b) < frameHeaderLen {
		return f, 0
	}
	n = frameHeaderLen + (int(b[0])<<16 | int(b[1])<<8 | int(b[2]))
	if len(b) < n {
		return f, 0
	}
	return frame{b[3], b[4], binary.BigEndian.Uint32(b[5:]) & maxWindow, b[frameHeaderLen:n]}, n
}

// content is the payload without padding and priority.
func (f frame) content() ([]byte, bool) {
	b := f.payload
	if f.flags&flagPadded != 0 {
		if len(b) == 0 || int(b[0]) >= len(b) {
			return nil, false
		}
		b = b[1 : len(b)-int(b[0])]
	}
	if f.kind == frameHeaders && f.flags&flagPriority != 0 {
		if len(b) < 5 {
			return nil, false
		}
		b = b[5:]
	}
	return b, true
}

func appendFrameHeader(b []byte, length int, kind, flags byte, stream uint32) []byte {
	b = append(b, byte(length>>16), byte(length>>8), byte(length), kind, flags)
	return binary.BigEndian.AppendUint32(b, stream)
}

// setStream gives the frame at the start of b its stream.
func setStream(b []byte, stream uint32) { binary.BigEndian.PutUint32(b[5:], stream) }

func appendWindowUpdate(b []byte, stream uint32, by uint32) []byte {
	b = appendFrameHeader(b, 4, frameWindowUpdate, 0, stream)
	return binary.BigEndian.AppendUint32(b, by)
}

// appendSettings adds a SETTINGS frame of pairs.
func appendSettings(b []byte, pairs ...[2]uint32) []byte {
	b = appendFrameHeader(b, 6*len(pairs), frameSettings, 0, 0)
	for _, p := range pairs {
		b = binary.BigEndian.AppendUint16(b, uint16(p[0]))
		b = binary.BigEndian.AppendUint32(b, p[1])
	}
	return b
}
