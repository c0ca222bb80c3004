package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir/internal/h2client"
)

// web asks over HTTP/1.1, a connection and a goroutine for each caller.
type web struct {
	run    *run
	url    string
	client *http.Client
	encode func([]byte, int64) []byte
	calls  chan h2client.Call
	under  atomic.Int64
	ended  sync.WaitGroup
	close  sync.Once
	ctx    context.Context
	cancel context.CancelFunc
}

func newWeb(ctx context.Context, r *run) (*web, error) {
	p := &r.plan
	encode, err := p.Requests.encoder(p.API.codec())
	if err != nil {
		return nil, err
	}
	probe, err := new(net.Dialer).DialContext(ctx, "tcp", p.Addr)
	if err != nil {
		return nil, err
	}
	_ = probe.Close()
	w := &web{run: r, url: "http://" + p.Addr + "/v1/check", encode: encode, calls: make(chan h2client.Call, p.Callers)}
	transport := &http.Transport{
		MaxIdleConns: p.Callers, MaxIdleConnsPerHost: p.Callers, MaxConnsPerHost: p.Callers,
		DisableCompression: true, TLSClientConfig: p.TLS,
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1 only
	}
	if p.TLS != nil {
		w.url = "https://" + p.Addr + "/v1/check"
	}
	w.client = &http.Client{
		Transport: transport, Timeout: p.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for i := range p.Callers {
		w.ended.Go(func() { w.work(i) })
	}
	return w, nil
}

// Send implements transport.
func (w *web) Send(c h2client.Call) bool {
	if w.under.Add(1) > int64(w.run.plan.Callers) {
		w.under.Add(-1)
		return false
	}
	w.calls <- c // there is room for all callers
	return true
}

// work is one caller.
func (w *web) work(line int) {
	var body bytes.Reader
	var said bytes.Buffer
	var buf []byte
	for {
		var c h2client.Call
		select {
		case c = <-w.calls:
		case <-w.ctx.Done():
			return
		}
		for more := true; more; {
			buf = w.encode(buf[:0], c.N)
			body.Reset(buf)
			a := w.ask(&body, &said)
			a.Call, a.Line, a.Now = c, line, w.run.clock()
			c, more = w.run.answered(a)
			if more && a.Failure == h2client.Broken { // at once, perhaps: not in a circle
				time.Sleep(10 * time.Millisecond)
				c.Due = w.run.clock()
			}
		}
		w.under.Add(-1)
	}
}

// ask posts a request. What is said is read into a buffer that is used again.
func (w *web) ask(body *bytes.Reader, said *bytes.Buffer) h2client.Answer {
	req, err := http.NewRequestWithContext(w.ctx, http.MethodPost, w.url, body)
	if err != nil {
		return h2client.Answer{Failure: h2client.Protocol, Detail: err.Error()}
	}
	req.Header["Content-Type"] = []string{"application/json"}
	req.Header["User-Agent"] = []string{userAgent}
	resp, err := w.client.Do(req)
	if err == nil {
		said.Reset()
		_, err = said.ReadFrom(io.LimitReader(resp.Body, 64<<10))
		_ = resp.Body.Close()
	}
	if err != nil {
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			return h2client.Answer{Failure: h2client.Timeout}
		}
		if w.ctx.Err() != nil {
			return h2client.Answer{Failure: h2client.Closed}
		}
		return h2client.Answer{Failure: h2client.Broken, Detail: err.Error()}
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return h2client.Answer{Verdict: judgeHTTP(said.Bytes())}
	case http.StatusTooManyRequests:
		return h2client.Answer{Verdict: denied}
	}
	return h2client.Answer{Failure: h2client.Status, Code: resp.StatusCode, Detail: fmt.Sprintf("HTTP status %d", resp.StatusCode)}
}

// Flush implements transport.
func (w *web) Flush() {}

// Outstanding implements transport.
func (w *web) Outstanding() int { return int(w.under.Load()) }

// Close implements transport.
func (w *web) Close() {
	w.close.Do(func() {
		w.cancel()
		w.ended.Wait()
		w.client.CloseIdleConnections()
	})
}
