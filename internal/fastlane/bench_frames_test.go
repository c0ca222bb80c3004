package fastlane

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"
)

// scripted is a connection on which the same calls come again and again, with
// other ids, and nobody reads what is written: no system call is made.
type scripted struct {
	net.Conn
	first []byte // what comes before them
	batch []byte
	ids   []int // where in batch the ids are
	next  uint32
	left  int // batches
}

func (s *scripted) Read(b []byte) (int, error) {
	if len(s.first) > 0 {
		n := copy(b, s.first)
		s.first = s.first[n:]
		return n, nil
	}
	if s.left == 0 {
		return 0, io.EOF
	}
	if len(b) < len(s.batch) {
		return 0, io.ErrShortBuffer
	}
	s.left--
	for i, at := range s.ids {
		binary.BigEndian.PutUint32(s.batch[at:], s.next)
		s.next += uint32(i&1) * 2
	}
	return copy(b, s.batch), nil
}

func (s *scripted) Write(b []byte) (int, error)      { return len(b), nil }
func (s *scripted) SetDeadline(time.Time) error      { return nil }
func (s *scripted) SetReadDeadline(time.Time) error  { return nil }
func (s *scripted) SetWriteDeadline(time.Time) error { return nil }
func (s *scripted) Close() error                     { return nil }

// newScripted prepares batches of n calls.
func newScripted(tb testing.TB, n int, msg string, more ...string) *scripted {
	s := &scripted{next: 3}
	p := over(tb, s)
	block := p.block(usual(echoPath, more...)...)
	s.first = appendFrame([]byte(preface), 2*settingLen, frameSettings, 0, 0)
	s.first = appendSetting(appendSetting(s.first, settingWindow, maxWindow), settingPush, 0)
	s.first = appendWindow(s.first, 0, maxWindow-defaultWindow)
	s.first = append(appendFrame(s.first, len(block), frameHeaders, flagEndHeaders, 1), block...)
	m := message(msg)
	s.first = append(appendFrame(s.first, len(m), frameData, flagEndStream, 1), m...)
	block = p.block(usual(echoPath, more...)...)
	for range n {
		s.ids = append(s.ids, len(s.batch)+5)
		s.batch = append(appendFrame(s.batch, len(block), frameHeaders, flagEndHeaders, 0), block...)
		s.ids = append(s.ids, len(s.batch)+5)
		s.batch = append(appendFrame(s.batch, len(m), frameData, flagEndStream, 0), m...)
	}
	return s
}

// BenchmarkFrames is what the lane itself costs a call, of 16 that are read at
// once.
func BenchmarkFrames(b *testing.B) {
	const calls = 16
	run := func(b *testing.B, more ...string) {
		s := newScripted(b, calls, "a message of some bytes, as usual", more...)
		s.left = b.N/calls + 1
		cn := newConn(New(Options{Methods: map[string]Handler{echoPath: echo}}), s)
		b.ReportAllocs()
		b.ResetTimer()
		before := cpuTime()
		cn.serve()
		b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
	}
	b.Run("usual", func(b *testing.B) { run(b) })
	b.Run("timeout", func(b *testing.B) { run(b, "grpc-timeout", "99m") })
}
