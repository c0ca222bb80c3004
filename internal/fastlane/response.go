package fastlane

import (
	"net/http"
	"strconv"
	"strings"
)

// response is the http.ResponseWriter of a stream of the fallback.
type response struct {
	exchange *exchange
	header   http.Header
	status   int
	begun    bool // the header fields were sent
	ended    bool // END_STREAM was sent
	data     []byte
	trailers []string // announced, canonical
}

var _ interface {
	http.ResponseWriter
	http.Flusher
} = (*response)(nil)

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header {
	if w.header == nil {
		w.header = make(http.Header)
	}
	return w.header
}

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.data = append(w.data, p...)
	if len(w.data) >= flushAt {
		return len(p), w.send(false)
	}
	return len(p), nil
}

// Flush implements http.Flusher.
func (w *response) Flush() {
	w.WriteHeader(http.StatusOK)
	_ = w.send(false)
}

// finish sends what is left, with the trailers.
func (w *response) finish() {
	w.WriteHeader(http.StatusOK)
	_ = w.send(true)
}

// send sends the header fields if they were not, the data and, last, the
// trailers. It waits for windows.
func (w *response) send(last bool) error {
	cn, c := w.exchange.conn, w.exchange.call
	cn.mu.Lock()
	defer cn.mu.Unlock()
	if !w.begun && !c.gone {
		w.begun = true
		fields := w.appendHeader(nil)
		if last && len(w.data) == 0 && len(w.appendTrailers(nil)) == 0 {
			w.ended = true
			cn.blockOut(c.id, flagEndStream, fields)
		} else {
			cn.blockOut(c.id, 0, fields)
		}
	}
	for sent := 0; sent < len(w.data); {
		if c.gone {
			return errReset
		}
		n := min(int64(len(w.data)-sent), c.send, cn.send, maxFrame)
		if n <= 0 || len(cn.out) > cn.server.o.MaxQueued {
			if !c.blocked {
				c.blocked, c.since = true, cn.server.tick.Load()
			}
			cn.waiting++
			cn.flushOrWait()
			cn.waiting--
			continue
		}
		if c.blocked {
			c.blocked = false
			w.exchange.changed.Broadcast() // the body gives again
		}
		cn.out = appendFrame(cn.out, int(n), frameData, 0, c.id)
		cn.out = append(cn.out, w.data[sent:sent+int(n)]...)
		sent += int(n)
		c.send -= n
		cn.send -= n
	}
	w.data = w.data[:0]
	if c.gone {
		return errReset
	}
	if last && !w.ended {
		w.ended = true
		cn.blockOut(c.id, flagEndStream, w.appendTrailers(nil))
	}
	cn.answers++
	if !cn.corked {
		return cn.flushLocked()
	}
	return nil
}

// flushOrWait writes what there is, or waits until something has changed.
func (cn *conn) flushOrWait() {
	if len(cn.out) > 0 && !cn.writing && !cn.corked {
		_ = cn.flushLocked()
		return
	}
	cn.changed.Wait()
}

// blockOut appends HEADERS, and CONTINUATION where they do not suffice; without
// fields, as trailers may be, an empty DATA.
func (cn *conn) blockOut(id uint32, flags uint8, b []byte) {
	if len(b) == 0 {
		cn.out = appendFrame(cn.out, 0, frameData, flags, id)
		return
	}
	b = append(cn.encoder.begin(nil), b...)
	kind := frameHeaders
	for {
		n := min(len(b), maxFrame)
		if n == len(b) {
			flags |= flagEndHeaders
		}
		cn.out = append(appendFrame(cn.out, n, kind, flags, id), b[:n]...)
		if b = b[n:]; len(b) == 0 {
			return
		}
		kind, flags = frameContinuation, 0
	}
}

func (w *response) appendHeader(b []byte) []byte {
	for _, v := range w.header["Trailer"] {
		for name := range strings.SplitSeq(v, ",") {
			w.trailers = append(w.trailers, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	b = appendField(b, ":status", strconv.Itoa(w.status))
	for key, values := range w.header {
		if strings.HasPrefix(key, http.TrailerPrefix) || w.announced(key) || key == "Connection" || key == "Transfer-Encoding" {
			continue
		}
		b = appendValues(b, key, values)
	}
	return b
}

func (w *response) announced(key string) bool {
	for _, t := range w.trailers {
		if t == key {
			return true
		}
	}
	return false
}

func (w *response) appendTrailers(b []byte) []byte {
	for key, values := range w.header {
		if name, ok := strings.CutPrefix(key, http.TrailerPrefix); ok {
			b = appendValues(b, name, values)
		} else if w.announced(key) {
			b = appendValues(b, key, values)
		}
	}
	return b
}

func appendValues(b []byte, key string, values []string) []byte {
	name := strings.ToLower(key)
	if !validName([]byte(name)) {
		return b
	}
	for _, v := range values {
		if validValue([]byte(v)) {
			b = appendField(b, name, v)
		}
	}
	return b
}
