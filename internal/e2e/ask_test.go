package e2e

import (
	"context"
	"testing"

	"google.golang.org/grpc"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// check asks for one tenant of the domain that policies have by default.
func check(conn *grpc.ClientConn) (*weirv1.CheckResponse, error) { return checkDomain(conn, "default") }

func checkDomain(conn *grpc.ClientConn, domain string) (*weirv1.CheckResponse, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return weirv1.NewLimiterClient(conn).Check(ctx, &weirv1.CheckRequest{
		Domain: domain, Dimensions: []*weirv1.Dimension{{Name: "tenant", Value: "acme"}},
	})
}

// ask is check, and fails the test when there is no answer.
func ask(t *testing.T, conn *grpc.ClientConn) *weirv1.CheckResponse {
	t.Helper()
	out, err := check(conn)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
