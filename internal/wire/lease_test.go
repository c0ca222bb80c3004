package wire_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/wire"
)

func TestGranted(t *testing.T) {
	ok, deny := weirv1.Code_CODE_OK, weirv1.Code_CODE_DENY
	for name, tc := range map[string]struct {
		in   *weirv1.LeaseResponse
		code weir.Code
		good bool
	}{
		"granted":   {&weirv1.LeaseResponse{Code: ok, Granted: 5, ExpiresAfterUs: 1000}, 0, true},
		"denied":    {&weirv1.LeaseResponse{Code: deny, RetryAfterUs: 1000}, 0, true},
		"never":     {&weirv1.LeaseResponse{Code: deny, RetryAfterUs: int64(weir.Never)}, 0, true},
		"too much":  {&weirv1.LeaseResponse{Code: ok, Granted: 6, ExpiresAfterUs: 1000}, weir.CodeProtocol, false},
		"below 0":   {&weirv1.LeaseResponse{Code: ok, Granted: -1}, weir.CodeProtocol, false},
		"too long":  {&weirv1.LeaseResponse{Code: ok, Granted: 5, ExpiresAfterUs: int64(weir.Hour)}, weir.CodeProtocol, false},
		"ended":     {&weirv1.LeaseResponse{Code: ok, Granted: 5, ExpiresAfterUs: -1}, weir.CodeProtocol, false},
		"both":      {&weirv1.LeaseResponse{Code: deny, Granted: 1}, weir.CodeProtocol, false},
		"unfilled":  {&weirv1.LeaseResponse{}, weir.CodeProtocol, false},
		"no policy": {&weirv1.LeaseResponse{Code: weirv1.Code_CODE_POLICY_NOT_FOUND}, weir.CodePolicyNotFound, false},
	} {
		g, err := wire.Granted(tc.in, 5)
		if tc.good != (err == nil) || err != nil && (weir.CodeOf(err) != tc.code || g != wire.Grant{}) {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
}

// FuzzGranted reads whatever decodes: no answer makes anybody spend more than
// they asked for.
func FuzzGranted(f *testing.F) {
	seed, err := proto.Marshal(&weirv1.LeaseResponse{Code: weirv1.Code_CODE_OK, Granted: 3, ExpiresAfterUs: 5, Quota: &weirv1.Quota{Rule: "r", Algorithm: 99}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed, int64(5))
	f.Fuzz(func(t *testing.T, b []byte, want int64) {
		var in weirv1.LeaseResponse
		if proto.Unmarshal(b, &in) != nil || want < 1 {
			return
		}
		g, err := wire.Granted(&in, want)
		if err == nil && (g.Granted < 0 || g.Granted > want || g.ExpiresAfter > weir.Minute || g.ExpiresAfter < 0) || err != nil && g != (wire.Grant{}) {
			t.Errorf("%v: %+v, %v", &in, g, err)
		}
	})
}
