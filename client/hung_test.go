package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir/httplimit"
)

// hung is a server that takes everything and answers nothing.
type hung struct {
	weirv1.UnimplementedLimiterServer
}

func (hung) CheckBatch(b weirv1.Limiter_CheckBatchServer) error {
	<-b.Context().Done()
	return nil
}

func (hung) Release(ctx context.Context, _ *weirv1.ReleaseRequest) (*weirv1.ReleaseResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestHungServerHoldsNobodyUp: while it is known that nobody answers nothing
// waits, a request that has a place to give back no more than others.
func TestHungServerHoldsNobodyUp(t *testing.T) {
	s := serveAs(t, hung{})
	c := dial(t, s)
	srv := httptest.NewServer(httplimit.New(c, httplimit.WithConcurrency())(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })))
	defer srv.Close()
	took := func() time.Duration {
		began := time.Now()
		resp, err := http.Get(srv.URL)
		if err != nil || resp.StatusCode != 200 {
			t.Errorf("%v %v", resp, err)
			return 0
		}
		_ = resp.Body.Close()
		return time.Since(began)
	}
	var many sync.WaitGroup
	for range 64 { // more than enough for the client to know
		many.Go(func() { took() })
	}
	many.Wait()
	if d := took(); d > 500*time.Millisecond {
		t.Errorf("a request that the fail mode admits took %v", d)
	}
}
