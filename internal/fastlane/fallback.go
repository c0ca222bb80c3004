package fastlane

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"

	"google.golang.org/grpc/codes"
)

// exchange is a request and its response on a stream of the fallback. Its
// fields are of the connection's lock, but for those of the response, which are
// of the handler.
type exchange struct {
	conn   *conn
	call   *Call
	cancel context.CancelCauseFunc

	changed *sync.Cond // the body, or whether answers are stuck
	body    []byte     // received and not yet read
	read    int        // of body
	unsaid  int64      // read and not yet given back to the stream's window
	bodyErr error      // after body
	loans   []*byte    // buffers that were read into and are not used yet; see Pool
	cursor  cursor     // after what was read; with a Pool

	response response
}

var errReset = errors.New("the stream was reset")

// fallBackLocked hands a stream over.
func (cn *conn) fallBackLocked(c *Call) error {
	if cn.exchanges >= cn.server.o.MaxFallback {
		return cn.refuseLocked(c.id, codeRefused, Overload)
	}
	if cn.server.o.Fallback == nil {
		if !cn.head.grpc {
			return cn.refuseLocked(c.id, codeProtocol, Malformed)
		}
		cn.failLocked(c, uint32(codes.Unimplemented), "unknown method "+string(cn.head.path))
		return nil
	}
	r, err := cn.request()
	if err != nil {
		return cn.refuseLocked(c.id, codeProtocol, Malformed)
	}
	ctx := context.WithValue(context.Background(), http.LocalAddrContextKey, cn.nc.LocalAddr())
	ctx, cancel := context.WithCancelCause(ctx)
	x := &exchange{conn: cn, call: c, cancel: cancel, changed: sync.NewCond(&cn.mu)}
	x.response.exchange = x
	c.exchange, c.served = x, true
	if c.kept != nil { // end does not have the call used again
		c.kept = nil
		cn.unkeep(1)
	}
	cn.exchanges++
	r.Body = (*body)(x)
	if c.ended {
		x.bodyErr = io.EOF
		r.ContentLength = 0
	}
	go x.run(r.WithContext(ctx))
	return nil
}

// request makes a request of the head and the fields it was read from.
func (cn *conn) request() (*http.Request, error) {
	h := &cn.head
	u, err := url.ParseRequestURI(string(h.path))
	if err != nil {
		return nil, err
	}
	r := &http.Request{
		Method: string(h.method), URL: u, RequestURI: string(h.path), Host: string(h.authority),
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: make(http.Header, len(cn.decoder.fields)),
		ContentLength: h.length, RemoteAddr: cn.nc.RemoteAddr().String(), TLS: cn.tls,
	}
	for i := range cn.decoder.fields {
		f := &cn.decoder.fields[i]
		if f.name[0] == ':' {
			continue
		}
		key := http.CanonicalHeaderKey(string(f.name))
		r.Header[key] = append(r.Header[key], string(f.value))
	}
	if r.Host == "" {
		r.Host = r.Header.Get("Host")
	}
	return r, nil
}

// run serves the stream to its end.
func (x *exchange) run(r *http.Request) {
	whole := false
	defer func() {
		if !whole { // a panic: of the handler, or to abort
			recovered := recover()
			if h := x.conn.server.o.Hooks.Panicked; h != nil && recovered != http.ErrAbortHandler {
				h(recovered, nil)
			}
		}
		x.end(whole)
	}()
	x.conn.server.o.Fallback.ServeHTTP(&x.response, r)
	whole = true
}

// end sends what is left, and frees the stream.
func (x *exchange) end(whole bool) {
	cn := x.conn
	if whole {
		x.response.finish()
	}
	x.cancel(context.Canceled)
	cn.mu.Lock()
	defer cn.mu.Unlock()
	c := x.call
	c.answered = true
	cn.answers++
	if !c.gone && !cn.dead {
		switch {
		case !x.response.ended:
			cn.out = appendReset(cn.out, c.id, codeInternal)
		case !c.ended:
			cn.out = appendReset(cn.out, c.id, codeNone)
		}
		cn.dropLocked(c, !c.ended)
	}
	x.body, x.bodyErr = nil, errReset
	if len(x.loans) > 0 {
		cn.server.o.Pool.forget(x.loans)
		x.loans = nil
	}
	c.exchange = nil
	cn.exchanges--
	c.spoilt = true // the handler may have kept the body: not used again
	cn.forgetLocked(c)
	if !cn.corked {
		_ = cn.flushLocked()
	}
}

// abortLocked ends the stream from our side of the handler.
func (x *exchange) abortLocked(err error) {
	if x.bodyErr == nil {
		x.bodyErr = err
	}
	x.cancel(err)
	x.changed.Broadcast()
	x.conn.changed.Broadcast()
}

// takeLocked takes data of the request. It is within the stream's window.
func (x *exchange) takeLocked(p []byte) {
	if len(p) == 0 || x.bodyErr != nil {
		return
	}
	if x.read > 0 && len(x.body)+len(p) > cap(x.body) {
		x.body = x.body[:copy(x.body, x.body[x.read:])]
		x.read = 0
	}
	x.body = append(x.body, p...)
	x.conn.answers++ // requests of a stream pay as calls do
	x.changed.Broadcast()
}

func (x *exchange) endBodyLocked() {
	if x.bodyErr == nil {
		x.bodyErr = io.EOF
	}
	x.changed.Broadcast()
}

// body is an exchange as the body of its request.
type body exchange

// Read implements io.Reader. What was read is given back to the stream's
// window, unless the answers are stuck: then the peer is to read first.
func (b *body) Read(p []byte) (int, error) {
	cn := b.conn
	cn.mu.Lock()
	defer cn.mu.Unlock()
	x := (*exchange)(b)
	for b.bodyErr == nil && (b.read == len(b.body) || !x.mayLendLocked(len(p))) {
		b.changed.Wait()
	}
	if b.read == len(b.body) {
		return 0, b.bodyErr
	}
	n := copy(p, b.body[b.read:])
	if b.read += n; b.read == len(b.body) {
		b.body, b.read = b.body[:0], 0
	}
	x.lendLocked(p, n)
	b.unsaid += int64(n)
	if !b.call.ended && !b.call.gone && b.unsaid >= cn.server.window/4 {
		for b.call.blocked && b.bodyErr == nil {
			b.changed.Wait()
		}
		if b.bodyErr == nil {
			cn.out = appendWindow(cn.out, b.call.id, uint32(b.unsaid))
			b.call.recv += b.unsaid
			b.unsaid = 0
			if !cn.corked {
				_ = cn.flushLocked()
			}
		}
	}
	return n, nil
}

// Close implements io.Closer.
func (b *body) Close() error {
	cn := b.conn
	cn.mu.Lock()
	defer cn.mu.Unlock()
	b.body, b.read = nil, 0
	if b.bodyErr == nil {
		b.bodyErr = http.ErrBodyReadAfterClose
		b.changed.Broadcast()
	}
	return nil
}
