package redisstore

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/weirlimit/weir"
)

// node is one Redis server. It is all that this package knows of the client
// library: a call in, a reply out, one connection per call in flight, no
// retry and no redirect behind our back. Flights have connections of their own.
type node struct {
	addr   string
	client rueidis.Client
	links
}

// dialNode connects, authenticates and asserts that the server is a primary.
func dialNode(ctx context.Context, addr string, o *Options) (*node, error) {
	return newNode(ctx, addr, o, o.Credentials, true)
}

func newNode(ctx context.Context, addr string, o *Options, creds Credentials, primary bool) (*node, error) {
	door := o.dials.door(addr)
	var made atomic.Bool // the first connection; what follows are the pool's
	dialer := net.Dialer{Timeout: o.ConnTimeout, KeepAlive: time.Second}
	connect := func(ctx context.Context, conn *net.Conn) error {
		tc, err := o.tlsFor(ctx)
		if err == nil {
			*conn, err = dialChecked(ctx, addr, &dialer, tc, creds, primary)
		}
		if err != nil {
			return &notSentError{err}
		}
		return nil
	}
	opt := rueidis.ClientOption{
		InitAddress:           []string{addr},
		ForceSingleClient:     true,
		DisableRetry:          true,
		DisableCache:          true,
		DisableAutoPipelining: true,
		BlockingPoolSize:      flightsPerShard + 2,
		ConnWriteTimeout:      o.ConnTimeout,
		Dialer:                dialer,
		ClientName:            clientName,
		ClientSetInfo:         rueidis.DisableClientSetInfo,
		DialCtxFn: func(ctx context.Context, _ string, _ *net.Dialer, _ *tls.Config) (conn net.Conn, err error) {
			dial := func() error { return connect(ctx, &conn) }
			if !made.Load() {
				err = dial()
			} else {
				err = door.try(primary, dial)
			}
			return conn, err
		},
	}
	if creds != nil {
		later := context.WithoutCancel(ctx) // it is asked again on every new connection
		opt.AuthCredentialsFn = func(rueidis.AuthCredentialsContext) (rueidis.AuthCredentials, error) {
			user, password, err := creds(later)
			return rueidis.AuthCredentials{Username: user, Password: password}, err
		}
	}
	var client rueidis.Client
	err := door.try(primary, func() (err error) {
		if client, err = rueidis.NewClient(opt); err != nil {
			return &notSentError{err}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	made.Store(true)
	n := &node{addr: addr, client: client}
	n.links.limit = o.ConnTimeout
	n.links.dial = func(ctx context.Context) (conn net.Conn, err error) {
		err = door.try(primary, func() error {
			if err := connect(ctx, &conn); err != nil {
				return err
			}
			if err := greet(conn, o.ConnTimeout); err != nil {
				_ = conn.Close()
				return &notSentError{err}
			}
			return nil
		})
		return conn, err
	}
	return n, nil
}

// dialChecked dials and, on the new connection, asserts the server's role
// before the client library gets to see it: a replica answers stale counts.
func dialChecked(ctx context.Context, addr string, d *net.Dialer, tc *tls.Config, creds Credentials, primary bool) (net.Conn, error) {
	raw, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	conn := net.Conn(watchConn(raw))
	if tc != nil {
		if tc.ServerName == "" {
			tc = tc.Clone()
			tc.ServerName, _, _ = net.SplitHostPort(addr)
		}
		conn = tls.Client(conn, tc)
	}
	_ = conn.SetDeadline(time.Now().Add(d.Timeout))
	if primary {
		err = assertPrimary(ctx, conn, creds)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	return conn, nil
}

func assertPrimary(ctx context.Context, conn net.Conn, creds Credentials) error {
	r := bufio.NewReaderSize(conn, 512)
	if creds != nil {
		user, password, err := creds(ctx)
		if err != nil {
			return &weir.Error{Code: weir.CodeNoAuth, Message: "redis credentials", Err: err}
		}
		if user == "" {
			user = "default"
		}
		if password != "" {
			if _, err := ask(conn, r, "AUTH", user, password); err != nil {
				return err
			}
		}
	}
	reply, err := ask(conn, r, "ROLE")
	if err != nil {
		return err
	}
	if len(reply) == 0 || reply[0] != "master" {
		return &weir.Error{
			Code:    weir.CodeReadOnly,
			Message: fmt.Sprintf("redis at %s is not a primary", conn.RemoteAddr()),
			Hint:    "give the primary's address, or use Sentinel or Cluster mode",
		}
	}
	return nil
}

// ask speaks just enough RESP2 for a handshake and returns the strings of the
// reply, flattened.
func ask(conn net.Conn, r *bufio.Reader, args ...string) ([]string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := conn.Write([]byte(b.String())); err != nil {
		return nil, err
	}
	var out []string
	err := readReply(r, &out, 0)
	return out, err
}

// readReply appends the strings of one reply. A line longer than r's buffer is
// none of Redis's.
func readReply(r *bufio.Reader, out *[]string, depth int) error {
	malformed := &weir.Error{Code: weir.CodeProtocol, Message: "not a redis server: unexpected reply to the handshake"}
	text, err := r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		return malformed
	}
	if err != nil {
		return err
	}
	line := strings.TrimSuffix(string(text), "\r\n")
	if line == "" || depth > 4 {
		return malformed
	}
	switch line[0] {
	case '+', ':':
		*out = append(*out, line[1:])
		return nil
	case '-':
		e, _ := classifyReply(line[1:])
		return e
	}
	n, err := strconv.Atoi(line[1:])
	if err != nil || n > 1<<16 {
		return malformed
	}
	switch line[0] {
	case '$':
		if n < 0 {
			return nil
		}
		buf := make([]byte, n+2)
		for i := range buf {
			if buf[i], err = r.ReadByte(); err != nil {
				return err
			}
		}
		*out = append(*out, string(buf[:n]))
		return nil
	case '*':
		for range n {
			if err := readReply(r, out, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return malformed
}

// do runs one command.
func (n *node) do(ctx context.Context, args ...string) (rueidis.RedisMessage, error) {
	return n.client.Do(ctx, n.client.B().Arbitrary(args...).Build()).ToMessage()
}

// eval runs a script by its digest, loading it where it is missing.
func (n *node) eval(ctx context.Context, sc *script, key, arg string) (rueidis.RedisMessage, error) {
	reply, err := n.do(ctx, "EVALSHA", sc.sha, "1", key, arg)
	if !isNoScript(err) {
		return reply, err
	}
	if err := n.load(ctx, sc); err != nil {
		return reply, err
	}
	return n.do(ctx, "EVALSHA", sc.sha, "1", key, arg)
}

// load makes a script known to the server. When it fails, what the script was
// needed for has not run.
func (n *node) load(ctx context.Context, sc *script) error {
	if _, err := n.do(ctx, "SCRIPT", "LOAD", sc.source); err != nil {
		return &notSentError{err}
	}
	return nil
}

// asking runs one command on a slot that is being moved here.
func (n *node) asking(ctx context.Context, args ...string) error {
	replies := n.client.DoMulti(ctx, n.client.B().Asking().Build(), n.client.B().Arbitrary(args...).Build())
	return replies[1].Error()
}

func (n *node) close() {
	n.links.close()
	n.client.Close()
}
