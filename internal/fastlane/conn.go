package fastlane

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir/internal/nowait"
)

// conn is one connection.
type conn struct {
	server *Server
	raw    net.Conn // what was accepted: closing it never waits
	nc     net.Conn // the same, or TLS over it; of mu until the handshake is done
	tls    *tls.ConnectionState
	direct *nowait.Conn  // of nc, once the preface was read; nil: only reader and writer write
	wake   chan struct{} // for the writer; see write.go

	// Of the goroutine that reads.
	in         []byte // in[r:w] is to be handled
	r, w       int
	filled     bool      // by the last read
	now        time.Time // of the last read
	decoder    decoder
	memo       memo
	head       head   // of the block decoded last
	block      []byte // a header block in several frames
	blockID    uint32 // 0: none is open
	blockFlags uint8
	blockCount int
	settled    bool // the peer's first SETTINGS are here
	budget     budget
	due        []due

	kept atomic.Int64 // of its calls, how many keep something

	mu          sync.Mutex
	changed     *sync.Cond // windows, the queue, death: for streams of the fallback
	streams     streams
	free        *Call // linked by after
	exchanges   int   // streams of the fallback
	inUse       int   // calls that are not free, also of streams that are gone
	lastID      uint32
	lastServed  uint32 // what the last GOAWAY of a drain said
	closed      closedIDs
	encoder     encoder
	out, spare  []byte
	corked      bool // the reader flushes when it is through
	writing     bool
	woken       bool
	writer      bool // runs
	writeSince  uint32
	idleSince   uint32
	send        int64 // the connection's windows
	recv        int64
	unsaid      int64 // received and not yet given back
	peerWindow  int64 // of new streams
	buffered    int   // bytes of incomplete messages
	blockedHead *Call
	blockedTail *Call
	waiting     int // streams of the fallback that wait for changed
	answers     int // since the budget was looked at
	drain       drainState
	drainSince  uint32
	farewell    bool // a GOAWAY with an error was sent
	closing     bool // nothing more comes: half-close when all is written
	halfClosed  bool
	why         Reason
	dead        bool
}

// Sizes of a connection's buffers and window.
const (
	firstRead  = 4 << 10
	mostRead   = 64 << 10
	connWindow = 1 << 20
	flushAt    = 32 << 10 // an answer waits behind no more than this
)

func newConn(s *Server, nc net.Conn) *conn {
	cn := &conn{
		server: s, raw: nc, nc: nc, wake: make(chan struct{}, 1),
		in: make([]byte, firstRead), decoder: decoder{methods: s.names, limit: s.o.MaxHeaderBytes},
		send: defaultWindow, peerWindow: defaultWindow, recv: connWindow,
		idleSince: s.tick.Load(),
	}
	cn.changed = sync.NewCond(&cn.mu)
	return cn
}

// serve serves the connection to its end.
func (cn *conn) serve() {
	err := cn.start()
	for err == nil {
		if err = cn.handle(); err == nil { // what came with the preface, at first
			err = cn.read()
		}
	}
	if errors.Is(err, io.EOF) && cn.w > cn.r { // TLS gives the last bytes and the end together
		_ = cn.handle()
	}
	cn.finish(err)
}

// start makes the handshakes, up to our own SETTINGS.
func (cn *conn) start() error {
	s := cn.server
	_ = cn.nc.SetDeadline(time.Now().Add(s.o.HandshakeTimeout))
	if s.o.TLS != nil {
		t := tls.Server(cn.nc, s.o.TLS)
		if err := t.Handshake(); err != nil {
			return &connError{why: Handshake, text: err.Error()}
		}
		state := t.ConnectionState()
		cn.mu.Lock()
		cn.nc, cn.tls = t, &state
		cn.mu.Unlock()
		if state.NegotiatedProtocol != "h2" {
			return &connError{why: Handshake, text: "a connection without ALPN h2"}
		}
	}
	for cn.w < len(preface) {
		if err := cn.read(); err != nil {
			return err
		}
		if n := min(cn.w, len(preface)); string(cn.in[:n]) != preface[:n] {
			e := broken(codeProtocol, "not a client of HTTP/2")
			e.why = Handshake
			return e
		}
	}
	cn.r = len(preface)
	cn.mu.Lock()
	defer cn.mu.Unlock()
	if cn.tls == nil {
		// Not before: a connection may want to look at how it begins.
		cn.direct = nowait.New(cn.nc)
	}
	from := len(cn.out)
	b := appendFrame(cn.out, 0, frameSettings, 0, 0)
	b = appendSetting(b, settingMaxStreams, uint32(s.o.MaxStreams))
	b = appendSetting(b, settingWindow, uint32(s.window))
	b = appendSetting(b, settingMaxHeaders, uint32(s.o.MaxHeaderBytes))
	closeFrame(b, from)
	cn.out = appendWindow(b, 0, connWindow-defaultWindow)
	return nil
}

// read reads once. A buffer that was filled doubles: more is waiting, or a frame
// does not fit.
func (cn *conn) read() (err error) {
	switch {
	case cn.filled && len(cn.in) < mostRead:
		grown := make([]byte, 2*len(cn.in))
		cn.w = copy(grown, cn.in[cn.r:cn.w])
		cn.in, cn.r = grown, 0
	case cn.r > 0: // what is left is part of a frame
		cn.w = copy(cn.in, cn.in[cn.r:cn.w])
		cn.r = 0
	}
	n := 0
	if cn.direct != nil {
		n, err = cn.direct.Read(cn.in[cn.w:])
	} else {
		n, err = cn.nc.Read(cn.in[cn.w:])
	}
	cn.w += n
	cn.filled = cn.w == len(cn.in)
	cn.now = time.Now()
	return err
}

// handle handles all frames that are complete, and writes what that gives.
func (cn *conn) handle() error {
	cn.mu.Lock()
	defer cn.mu.Unlock()
	cn.corked = true
	err := cn.framesLocked()
	cn.serveDueLocked() // what came before an error, too
	cn.corked = false
	if err != nil {
		return err
	}
	if err := cn.flushLocked(); err != nil {
		return err
	}
	cn.waitQueueLocked()
	if cn.dead {
		return net.ErrClosed
	}
	return nil
}

func (cn *conn) framesLocked() error {
	cn.budget.turn(cn)
	for cn.w-cn.r >= frameHeaderLen {
		if cn.dead { // meanwhile: its streams have ended too
			return net.ErrClosed
		}
		f := parseFrame(cn.in[cn.r:])
		if f.length > maxFrame {
			return broken(codeFrameSize, "a frame too large")
		}
		end := cn.r + frameHeaderLen + f.length
		if end > cn.w {
			return nil
		}
		payload := cn.in[cn.r+frameHeaderLen : end : end]
		cn.r = end
		if err := cn.frameLocked(f, payload); err != nil {
			return err
		}
		if len(cn.due) >= mostDue {
			cn.serveDueLocked()
		}
		if len(cn.out) >= flushAt {
			if err := cn.flushLocked(); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish ends the connection. The peer is given a moment to read why.
func (cn *conn) finish(err error) {
	var e *connError
	said := errors.As(err, &e)
	cn.mu.Lock()
	if said && e.why != Done && cn.why == Done {
		cn.why = e.why
	}
	var late net.Error
	if !cn.settled && errors.As(err, &late) && late.Timeout() { // a later one is TCP's: the peer is lost
		cn.why = Handshake
	}
	if said {
		cn.goAwayLocked(e)
		_ = cn.flushLocked()
		for cn.writing && !cn.dead {
			cn.changed.Wait()
		}
	}
	cn.dieLocked()
	cn.unkeep(cn.kept.Load())
	why := cn.why
	cn.mu.Unlock()
	if said && e.code != codeNone {
		cn.linger()
	}
	_ = cn.nc.Close()
	close(cn.wake)
	cn.server.leave(cn, why)
}

// linger reads on for a moment: a connection that is closed with bytes unread
// is reset, and the peer may lose the GOAWAY that says why.
func (cn *conn) linger() {
	closeWrite(cn.nc)
	_ = cn.nc.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, cn.nc, lingerBytes)
}

const (
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 1 << 20
)

// dieLocked has nothing more be written. Streams of the fallback are told.
func (cn *conn) dieLocked() {
	if cn.dead {
		return
	}
	cn.dead = true
	cn.streams.each(func(c *Call) {
		c.gone = true
		if c.exchange != nil {
			c.exchange.abortLocked(errGone)
		}
	})
	cn.changed.Broadcast()
}

var errGone = errors.New("the connection is gone")
