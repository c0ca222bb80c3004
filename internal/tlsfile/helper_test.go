package tlsfile_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/certtest"
	"github.com/weirlimit/weir/internal/tlsfile"
)

// disk is a directory with the files of a server.
type disk struct {
	t *testing.T
	tlsfile.ServerFiles
}

func newDisk(t *testing.T) *disk {
	dir := t.TempDir()
	return &disk{t, tlsfile.ServerFiles{
		Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key"), ClientCA: filepath.Join(dir, "ca.crt"),
	}}
}

func (d *disk) write(server *certtest.Pair, clients ...[]byte) {
	d.t.Helper()
	server.Write(d.t, d.Cert, d.Key)
	certtest.Write(d.t, d.ClientCA, clients...)
}

func (d *disk) open() *tlsfile.Server {
	d.t.Helper()
	s, err := tlsfile.OpenServer(d.ServerFiles)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// watch follows the files until the test ends. The function it returns has them
// looked at, and returns what was found.
func watch(t *testing.T, s interface {
	Watch(context.Context, func(error))
	Reload()
},
) (look func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	told, ended := make(chan error, 10), make(chan struct{})
	go func() {
		s.Watch(ctx, func(err error) { told <- err })
		close(ended)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return func() error {
		t.Helper()
		s.Reload()
		select {
		case err := <-told:
			return err
		case <-time.After(10 * time.Second):
			t.Fatal("nothing was seen")
			return nil
		}
	}
}

// echo answers lines on a listener with this configuration.
func echo(t *testing.T, c *tls.Config) (addr string) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return l.Addr().String()
}

// say connects and has one line echoed: with TLS 1.3 a client learns only then
// that it is not wanted.
func say(addr string, c *tls.Config) (*tls.Conn, error) {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", addr, c)
	if err != nil {
		return nil, err
	}
	if err := line(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func line(conn *tls.Conn) error {
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		return err
	}
	_, err := bufio.NewReader(conn).ReadString('\n')
	return err
}

func names(t *testing.T, texts ...string) tlsfile.Names {
	t.Helper()
	n, err := tlsfile.ParseNames(texts)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
