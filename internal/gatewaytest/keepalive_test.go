package gatewaytest

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// TestKeepAlive: a gateway asks over connections that it keeps. A new one for
// every request would cost as much as the answer, and run out of ports.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{nginx, caddy, haproxy} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s := newWeirSite(t, k, sitePolicies, nil)
			between, opened := relay(t, s.weir.HTTP)
			s.startGateway(t, between, patient, func(conf string) string {
				// One worker, and one look at Weir's health, which opens its own.
				return strings.NewReplacer("worker_processes auto", "worker_processes 1", "inter 1s", "inter 1h").Replace(conf)
			})
			for i := range 2 * perIP { // half of it denied: those keep theirs as well
				a := NewClient(t, "127.0.0.61").Get(s.gateway.Addr(), "/")
				if want := map[bool]int{true: 200, false: 429}[i < perIP]; a.Status != want {
					t.Fatalf("request %d: %d, want %d", i, a.Status, want)
				}
			}
			if n := opened(); n > 4 {
				t.Errorf("%d connections for %d requests", n, 2*perIP)
			}
		})
	}
}

// relay passes connections on to an address and counts them.
func relay(t *testing.T, to string) (addr string, opened func() int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var n atomic.Int64
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return // closed
			}
			n.Add(1)
			go func() {
				defer from.Close()
				conn, err := net.Dial("tcp", to)
				if err != nil {
					return // seen as a connection that closes
				}
				defer conn.Close()
				go func() {
					_, _ = io.Copy(conn, from)
					_ = conn.Close() // ends the copy below
				}()
				_, _ = io.Copy(from, conn)
			}()
		}
	}()
	return l.Addr().String(), n.Load
}
