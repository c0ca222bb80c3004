package rlsload

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// call is one that is under way, used again for others.
type call struct {
	stream uint32 // 0: none
	due    time.Duration
	status int
	body   []byte
}

// postponed is a call that is due and has no place yet.
type postponed struct {
	i   uint64
	due time.Duration
}

// maxPostponed bounds them: minutes of what a server can do.
const maxPostponed = 1 << 20

// slots is how many calls a connection can have under way; a power of two.
const slots = 1 << 13

// conn is a connection. What is sent is guarded by mu; reading is one
// goroutine's.
type conn struct {
	nc    net.Conn
	first []byte // header block of the first call; nil once it is sent
	block []byte // header block of all others

	mu struct {
		sync.Mutex
		out     []byte // not flushed yet
		next    uint32 // stream
		window  int64  // bytes of DATA that the server takes
		calls   [slots]call
		waiting int // calls under way
		streams int // calls that the server lets be under way
		later   []postponed
	}

	in       []byte // read and not parsed yet: in[from:to]
	from, to int
	statuses *statusReader
	headers  []byte // of a block that CONTINUATION goes on
	inStream uint32 // of headers; 0 when there are none
	inEnd    bool   // headers end their stream
	taken    uint32 // bytes of DATA since the last WINDOW_UPDATE
}

// errFull is a connection with no place for another call, by its own bound or
// the server's flow control.
var errFull = errors.New("too many calls under way")

// dial connects, and returns once the server has sent its settings.
func dial(ctx context.Context, addr string) (*conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &conn{nc: nc, in: make([]byte, 64<<10), statuses: newStatusReader()}
	c.mu.next, c.mu.window, c.mu.streams = 1, firstWindow, slots
	if err := c.greet(addr); err != nil {
		return nil, errors.Join(fmt.Errorf("greet %s: %w", addr, err), nc.Close())
	}
	return c, nil
}

// greet exchanges settings and sends nothing of a call yet.
func (c *conn) greet(addr string) error {
	if err := c.nc.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	b := appendSettings([]byte(preface), [2]uint32{settingInitialWindow, maxWindow})
	if _, err := c.nc.Write(appendWindowUpdate(b, 0, maxWindow-firstWindow)); err != nil {
		return err
	}
	for {
		f, err := c.frame()
		if err != nil {
			return err
		}
		table := uint32(4096)
		if f.kind == frameSettings && f.flags&flagAck == 0 {
			for p := f.payload; len(p) >= 6; p = p[6:] {
				if binary.BigEndian.Uint16(p) == settingTableSize {
					table = min(table, binary.BigEndian.Uint32(p[2:]))
				}
			}
			c.first, c.block = requestHeaders(addr, table)
		}
		if err := c.handle(f, nil); err != nil {
			return err
		}
		if c.block != nil {
			return c.nc.SetDeadline(time.Time{})
		}
	}
}

func (c *conn) close() error { return c.nc.Close() }
