package rls_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/weirlimit/weir/internal/rls"
	"github.com/weirlimit/weir/memstore"
)

// FuzzRequest sends whatever decodes: it is answered, or refused as the caller's
// mistake.
func FuzzRequest(f *testing.F) {
	s := serve(f, stock, memstore.New(), rls.Options{Metadata: true}, config)
	good, err := proto.Marshal(&pb.RateLimitRequest{Domain: "test", HitsAddend: 2, Descriptors: nil})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("\n\x04test\x12\x0b\n\t\n\x06tenant\x12\x01a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var in pb.RateLimitRequest
		if proto.Unmarshal(b, &in) != nil {
			return
		}
		out, err := s.server.ShouldRateLimit(context.Background(), &in)
		if err != nil && status.Code(err) != codes.InvalidArgument {
			t.Errorf("%v: %v", &in, err)
		}
		if err == nil && len(out.GetStatuses()) != len(in.GetDescriptors()) {
			t.Errorf("%v: %v", &in, out)
		}
	})
}

// FuzzJSON is the same over HTTP.
func FuzzJSON(f *testing.F) {
	s := serve(f, stock, memstore.New(), rls.Options{}, config)
	f.Add(`{"domain": "test", "descriptors": [{"entries": [{"key": "tenant", "value": "a"}]}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		w := httptest.NewRecorder()
		s.server.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/json", strings.NewReader(body)))
		switch w.Code {
		case http.StatusOK, http.StatusTooManyRequests, http.StatusBadRequest:
		default:
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
	})
}
