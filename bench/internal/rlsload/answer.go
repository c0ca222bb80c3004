package rlsload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Code is the verdict of an answer, with the numbers that it has on the wire.
type Code int32

// The codes.
const (
	CodeUnknown   Code = 0
	CodeOK        Code = 1
	CodeOverLimit Code = 2
)

// Answer is what ShouldRateLimit returned, but for fields nobody here compares.
type Answer struct {
	Code     Code
	Statuses []Status
}

// Status is the answer to one descriptor.
type Status struct {
	Code      Code
	Limited   bool // there is a limit, which the next three are of
	Requests  uint64
	Unit      uint64
	Name      string
	Remaining uint64
	Reset     time.Duration // to the second, from when it was answered
}

// errMessage is an answer that is no RateLimitResponse.
var errMessage = errors.New("malformed answer")

// unframe takes the message out of a body that holds one gRPC message.
func unframe(body []byte) ([]byte, error) {
	if len(body) < prefixLen || body[0] != 0 ||
		int64(binary.BigEndian.Uint32(body[1:])) != int64(len(body)-prefixLen) {
		return nil, errMessage
	}
	return body[prefixLen:], nil
}

// verdict is the overall code, without reading more of a body than it must.
func verdict(body []byte) (Code, error) {
	const tag = 1<<3 | byte(protowire.VarintType)
	if len(body) > prefixLen+1 && body[0] == 0 && body[prefixLen] == tag && body[prefixLen+1] < 0x80 {
		return Code(body[prefixLen+1]), nil
	}
	a, err := parseAnswer(body)
	return a.Code, err
}

func parseAnswer(body []byte) (a Answer, err error) {
	msg, err := unframe(body)
	if err != nil {
		return a, err
	}
	err = fields(msg, func(n protowire.Number, v uint64, b []byte) error {
		switch n {
		case 1:
			a.Code = Code(v)
		case 2:
			s, err := parseStatus(b)
			a.Statuses = append(a.Statuses, s)
			return err
		}
		return nil
	})
	return a, err
}

func parseStatus(msg []byte) (s Status, err error) {
	err = fields(msg, func(n protowire.Number, v uint64, b []byte) error {
		switch n {
		case 1:
			s.Code = Code(v)
		case 2:
			s.Limited = true
			return s.parseLimit(b)
		case 3:
			s.Remaining = v
		case 4:
			return fields(b, func(n protowire.Number, v uint64, _ []byte) error {
				if n == 1 {
					s.Reset = time.Duration(v) * time.Second
				}
				return nil
			})
		}
		return nil
	})
	return s, err
}

func (s *Status) parseLimit(msg []byte) error {
	return fields(msg, func(n protowire.Number, v uint64, b []byte) error {
		switch n {
		case 1:
			s.Requests = v
		case 2:
			s.Unit = v
		case 3:
			s.Name = string(b)
		}
		return nil
	})
}

// fields calls f for the varints and the bytes of a message; others are passed
// over.
func fields(msg []byte, f func(n protowire.Number, v uint64, b []byte) error) error {
	for len(msg) > 0 {
		num, typ, n := protowire.ConsumeTag(msg)
		if n < 0 {
			return fmt.Errorf("%w: %w", errMessage, protowire.ParseError(n))
		}
		msg = msg[n:]
		var (
			v   uint64
			b   []byte
			err error
		)
		switch typ {
		case protowire.VarintType:
			if v, n = protowire.ConsumeVarint(msg); n >= 0 {
				err = f(num, v, nil)
			}
		case protowire.BytesType:
			if b, n = protowire.ConsumeBytes(msg); n >= 0 {
				err = f(num, 0, b)
			}
		default:
			n = protowire.ConsumeFieldValue(num, typ, msg)
		}
		switch {
		case n < 0:
			return fmt.Errorf("%w: %w", errMessage, protowire.ParseError(n))
		case err != nil:
			return err
		}
		msg = msg[n:]
	}
	return nil
}
