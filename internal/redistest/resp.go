package redistest

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// ReplyError is an error that the server answered with, such as
// "MOVED 42 127.0.0.1:7001".
type ReplyError string

func (e ReplyError) Error() string { return string(e) }

// conn is a RESP2 connection for admin commands: one caller, one command at a
// time.
type conn struct {
	net.Conn
	r *bufio.Reader
}

// dial connects to a server of configuration cfg, with its TLS and as its admin.
// Everything done with the connection must end within timeout.
func dial(addr string, cfg config, timeout time.Duration) (*conn, error) {
	deadline := time.Now().Add(timeout)
	d := &net.Dialer{Deadline: deadline}
	var nc net.Conn
	var err error
	if cfg.tls {
		var tc *tls.Config
		if tc, err = cfg.certs.clientConfig(); err == nil {
			nc, err = tls.DialWithDialer(d, "tcp", addr, tc)
		}
	} else {
		nc, err = d.Dial("tcp", addr)
	}
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: nc, r: bufio.NewReader(nc)}
	if err := c.SetDeadline(deadline); err != nil {
		c.Close()
		return nil, err
	}
	if user, password := cfg.credentials(); password != "" {
		if _, err := c.do("AUTH", user, password); err != nil {
			c.Close()
			return nil, fmt.Errorf("log in as %s: %w", user, err)
		}
	}
	return c, nil
}

// do sends one command and returns its reply: string, int64, nil or []any. An
// error reply is returned as a ReplyError, inside an array as an element.
func (c *conn) do(args ...string) (any, error) {
	buf := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		buf = fmt.Appendf(buf, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := c.Write(buf); err != nil {
		return nil, err
	}
	v, err := c.read()
	if err != nil {
		return nil, err
	}
	if e, ok := v.(ReplyError); ok {
		return nil, e
	}
	return v, nil
}

func (c *conn) read() (any, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return nil, fmt.Errorf("read reply: malformed line %q", line)
	}
	kind, text := line[0], line[1:len(line)-2]
	switch kind {
	case '+':
		return text, nil
	case '-':
		return ReplyError(text), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read reply: malformed line %q", line)
	}
	switch {
	case kind == ':':
		return n, nil
	case kind == '$' && n == -1, kind == '*' && n == -1:
		return nil, nil
	case kind == '$' && n >= 0:
		return c.readBulk(n)
	case kind == '*' && n >= 0:
		var items []any // grown, not sized by n: n is not trusted
		for range n {
			v, err := c.read()
			if err != nil {
				return nil, err
			}
			items = append(items, v)
		}
		return items, nil
	}
	return nil, fmt.Errorf("read reply: malformed line %q", line)
}

func (c *conn) readBulk(n int64) (any, error) {
	const limit = 512 << 20 // bytes; Redis's own bound, proto-max-bulk-len
	if n > limit {
		return nil, errors.New("read reply: bulk string too long")
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(c.r, b); err != nil {
		return nil, err
	}
	return string(b[:n]), nil
}
