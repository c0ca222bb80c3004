package httplimit

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// recorder is a ResponseWriter that remembers the status and counts the bytes
// of the body. What else the one below can do is reached by Unwrap, with an
// http.ResponseController; handlers that look for the old interfaces find them.
type recorder struct {
	http.ResponseWriter
	status   int // 0 until it is known
	bytes    int64
	panicked bool
}

var (
	_ http.Flusher  = (*recorder)(nil)
	_ http.Hijacker = (*recorder)(nil)
	_ io.ReaderFrom = (*recorder)(nil)
)

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorder) WriteHeader(status int) {
	// What comes before the response proper, such as 103, is not its status.
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	w.begin()
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// WriteString spares a copy where the one below can.
func (w *recorder) WriteString(s string) (int, error) {
	w.begin()
	n, err := io.WriteString(w.ResponseWriter, s)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom lets the kernel copy files where the one below can.
func (w *recorder) ReadFrom(src io.Reader) (int64, error) {
	w.begin()
	n, err := io.Copy(w.ResponseWriter, src)
	w.bytes += n
	return n, err
}

// Flush implements http.Flusher.
func (w *recorder) Flush() { _ = w.FlushError() }

// FlushError is Flush for http.ResponseController.
func (w *recorder) FlushError() error {
	w.begin()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack implements http.Hijacker. What is sent on the connection afterwards is
// not counted.
func (w *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil && w.status == 0 {
		w.status = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

func (w *recorder) begin() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
}

// result returns what the response was. Some routers write around what
// middleware hands them, to a writer of their own which can tell.
func (w *recorder) result() (status int, bytes int64) {
	if w.status != 0 {
		return w.status, w.bytes
	}
	if w.panicked {
		return http.StatusInternalServerError, 0
	}
	if below, ok := w.ResponseWriter.(interface {
		Status() int
		Size() int
	}); ok {
		return below.Status(), int64(max(0, below.Size()))
	}
	return http.StatusOK, 0
}
