package e2e

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// TestSlowHeadersAreCutOff: a connection that never finishes its header does
// not stay.
func TestSlowHeadersAreCutOff(t *testing.T) {
	w := serve(t)
	for name, addr := range map[string]string{"http": w.http, "admin": w.admin} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := io.WriteString(conn, "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nX-Slow: "); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.ReadAll(conn); errors.Is(err, net.ErrClosed) || isTimeout(err) {
			t.Errorf("%s: still open after %v: %v", name, patience, err)
		}
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// TestStreamsAreBounded: a connection is told how many streams it may have.
func TestStreamsAreBounded(t *testing.T) { onEachEngine(t, testStreamsAreBounded) }

func testStreamsAreBounded(t *testing.T) {
	w := serve(t)
	conn, err := net.Dial("tcp", w.grpc)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	for {
		f, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		settings, ok := f.(*http2.SettingsFrame)
		if !ok || settings.IsAck() {
			continue
		}
		if n, ok := settings.Value(http2.SettingMaxConcurrentStreams); !ok || n != 1024 {
			t.Errorf("%d streams, %v", n, ok)
		}
		return
	}
}
