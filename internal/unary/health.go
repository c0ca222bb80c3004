package unary

import (
	"errors"
	"sync/atomic"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/weirlimit/weir/internal/pbwire"
)

// Health is grpc.health.v1.Health/Check. Until it is Set it is not serving.
type Health struct{ serving atomic.Bool }

var _ Method = (*Health)(nil)

// Services are the names that may be asked for: the server's, and the one that
// gateways know envoyproxy/ratelimit by.
var Services = [...]string{"", "ratelimit"}

// Set says whether requests should be sent here.
func (h *Health) Set(serving bool) { h.serving.Store(serving) }

var errUTF8 = errors.New("string field contains invalid UTF-8")

// Take implements Method.
func (h *Health) Take(c Call, msg []byte) Step {
	h.answer(c, msg)
	return nil
}

func (h *Health) answer(c Call, msg []byte) {
	service := ""
	r := pbwire.Read(pbwire.View(msg)) // nothing of it is kept
	for r.Next() {
		if r.Tag != 1<<3|pbwire.Bytes {
			r.Skip()
			continue
		}
		if service = r.Text(); !utf8.ValidString(service) {
			RefuseMessage(c, errUTF8)
			return
		}
	}
	if err := r.Err(); err != nil {
		RefuseMessage(c, err)
		return
	}
	for _, known := range Services {
		if service == known {
			status := healthv1.HealthCheckResponse_NOT_SERVING
			if h.serving.Load() {
				status = healthv1.HealthCheckResponse_SERVING
			}
			c.Reply(pbwire.AppendInt(c.Buffer(), 1, int64(status)))
			return
		}
	}
	c.Fail(codes.NotFound, "unknown service")
}
