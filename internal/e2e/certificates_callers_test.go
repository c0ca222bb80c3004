package e2e

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// addCallers adds callers of every kind: to each listener, with connections that
// are kept and with new ones.
func addCallers(c *crowd, d *wardrobe, w *instance) {
	c.add("gRPC, kept", true, func(who *caller) func() error {
		conn := d.dialGRPC(c.t, who, w.grpc)
		return func() error { return checkOnce(conn) }
	})
	c.add("gRPC, new", false, func(who *caller) func() error {
		return func() error {
			conn, err := d.newGRPC(who, w.grpc)
			if err != nil {
				return err
			}
			return errors.Join(checkOnce(conn), conn.Close())
		}
	})
	c.add("CheckBatch", true, func(who *caller) func() error {
		return batches(c.t, d.dialGRPC(c.t, who, w.grpc))
	})
	c.add("HTTP, kept", true, func(who *caller) func() error {
		send := d.keepHTTP(c.t, who, w.http)
		return func() error { return send("POST", "/v1/check", acmeBody) }
	})
	c.add("HTTP, new", false, func(who *caller) func() error {
		client := d.httpClient(&who.dials)
		return func() error {
			return fetch(client.Post("https://"+w.http+"/v1/check", "application/json", strings.NewReader(acmeBody)))
		}
	})
	c.add("metrics, kept", true, func(who *caller) func() error {
		send := d.keepHTTP(c.t, who, w.admin)
		return func() error { return send("GET", "/metrics", "") }
	})
	c.add("metrics, new", false, func(who *caller) func() error {
		client := d.httpClient(&who.dials)
		return func() error { return fetch(client.Get("https://" + w.admin + "/metrics")) }
	})
	c.add("admin service, kept", true, func(who *caller) func() error {
		conn := d.dialGRPC(c.t, who, w.admin)
		return func() error {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			_, err := weirv1.NewAdminClient(conn).GetUsage(ctx, &weirv1.GetUsageRequest{Domain: "default", Dimensions: acme})
			return err
		}
	})
}

const acmeBody = `{"dimensions": {"tenant": "acme"}}`

var acme = []*weirv1.Dimension{{Name: "tenant", Value: "acme"}}

func (d *wardrobe) newGRPC(who *caller, addr string) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+addr, grpc.WithNoProxy(),
		grpc.WithTransportCredentials(credentials.NewTLS(d.client())),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
			who.dials.Add(1)
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		}))
}

func (d *wardrobe) dialGRPC(t *testing.T, who *caller, addr string) *grpc.ClientConn {
	t.Helper()
	conn, err := d.newGRPC(who, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func checkOnce(conn *grpc.ClientConn) error {
	out, err := check(conn)
	if err != nil {
		return err
	}
	return decidedByStore(out, 0)
}

// batches asks over one stream that never ends.
func batches(t *testing.T, conn *grpc.ClientConn) func() error {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	stream, err := weirv1.NewLimiterClient(conn).CheckBatch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	number := uint64(0)
	return func() error {
		number++
		in := &weirv1.CheckBatchRequest{Checks: []*weirv1.CheckRequest{{Domain: "default", Number: number, Dimensions: acme}}}
		if err := stream.Send(in); err != nil {
			return err
		}
		out, err := stream.Recv()
		if err != nil {
			return err
		}
		if len(out.GetResults()) != 1 || out.GetResults()[0].GetNumber() != number {
			return fmt.Errorf("answered %v", out)
		}
		return decidedByStore(out.GetResults()[0], 0)
	}
}

// keepHTTP asks over one connection of HTTP/1.1. net/http's own client would
// open another when it sees fit.
func (d *wardrobe) keepHTTP(t *testing.T, who *caller, addr string) func(method, path, body string) error {
	t.Helper()
	who.dials.Add(1)
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", addr, d.client())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r := bufio.NewReader(conn)
	return func(method, path, body string) error {
		_ = conn.SetDeadline(time.Now().Add(patience))
		req, err := http.NewRequest(method, "https://"+addr+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		if err := req.Write(conn); err != nil {
			return err
		}
		resp, err := http.ReadResponse(r, req)
		if err == nil && resp.Close {
			err = errors.New("the server ends the connection")
		}
		return fetch(resp, err)
	}
}

// fetch reads an answer, which must be 200, to its end: the connection may be
// kept.
func fetch(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return err
}
