package fastlane

import "encoding/binary"

// Sizes of RFC 9113.
const (
	preface         = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHeaderLen  = 9
	maxFrame        = 16384 // what is read and written; larger is never offered nor used
	defaultWindow   = 65535
	maxWindow       = 1<<31 - 1
	maxStreamID     = 1<<31 - 1
	grpcPrefixLen   = 5
	defaultTable    = 4096
	settingLen      = 6
	windowUpdateLen = frameHeaderLen + 4
)

type frameType uint8

const (
	frameData frameType = iota
	frameHeaders
	framePriority
	frameReset
	frameSettings
	framePush
	framePing
	frameGoAway
	frameWindow
	frameContinuation
)

const (
	flagAck        = 0x1
	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

const (
	settingTableSize = iota + 1
	settingPush
	settingMaxStreams
	settingWindow
	settingMaxFrame
	settingMaxHeaders
)

// errorCode is an error code of HTTP/2.
type errorCode uint32

const (
	codeNone errorCode = iota
	codeProtocol
	codeInternal
	codeFlow
	codeSettingsTimeout
	codeClosed
	codeFrameSize
	codeRefused
	codeCancel
	codeCompression
	codeConnect
	codeCalm
)

// connError ends a connection: the peer is told by GOAWAY.
type connError struct {
	code errorCode
	why  Reason
	text string // for the peer and for tests
}

func (e *connError) Error() string { return e.text }

func broken(code errorCode, text string) *connError {
	return &connError{code: code, why: BadProtocol, text: text}
}

// frame is the header of a frame.
type frame struct {
	length int
	kind   frameType
	flags  uint8
	id     uint32
}

func parseFrame(b []byte) frame {
	_ = b[frameHeaderLen-1]
	return frame{
		length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]),
		kind:   frameType(b[3]),
		flags:  b[4],
		id:     binary.BigEndian.Uint32(b[5:]) & maxStreamID,
	}
}

func appendFrame(b []byte, length int, kind frameType, flags uint8, id uint32) []byte {
	return append(b, byte(length>>16), byte(length>>8), byte(length), byte(kind), flags,
		byte(id>>24), byte(id>>16), byte(id>>8), byte(id))
}

func appendReset(b []byte, id uint32, code errorCode) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(b, 4, frameReset, 0, id), uint32(code))
}

func appendWindow(b []byte, id, n uint32) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(b, 4, frameWindow, 0, id), n)
}

func appendGoAway(b []byte, last uint32, code errorCode, text string) []byte {
	b = appendFrame(b, 8+len(text), frameGoAway, 0, 0)
	b = binary.BigEndian.AppendUint32(b, last)
	b = binary.BigEndian.AppendUint32(b, uint32(code))
	return append(b, text...)
}

func appendSetting(b []byte, id uint16, v uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, id), v)
}
