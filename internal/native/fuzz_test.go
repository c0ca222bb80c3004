package native_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// FuzzCheck sends whatever decodes: it is answered, or refused as the caller's
// mistake.
func FuzzCheck(f *testing.F) {
	l := limiter(f)
	seed, err := proto.Marshal(&weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "a"), Cost: 2, WantCharges: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		var in weirv1.CheckRequest
		if proto.Unmarshal(b, &in) != nil {
			return
		}
		_, err := l.Check(t.Context(), &in)
		switch status.Code(err) {
		case codes.OK, codes.InvalidArgument, codes.DeadlineExceeded:
		default:
			t.Errorf("%v: %v", &in, err)
		}
	})
}
