package client

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/wire"
)

// Release implements weir.Releaser. It is a call of its own, not part of a
// stream, and takes as long as ctx lets it; no longer than a check while it is
// known that the server does not answer. What the fallback may have admitted
// is released there too. When the server is away and the fallback had nothing,
// that is an error; what the server holds is then free after the limit's
// timeout.
func (c *Client) Release(ctx context.Context, r *weir.Request) (released int64, version string, err error) {
	if err := wire.Validate(r); err != nil {
		return 0, "", err
	}
	if r.ID == "" {
		return 0, "", invalid("id", "is empty", "release with the id of the check")
	}
	call := ctx
	if c.away() { // whom nobody waits for
		short, cancel := context.WithTimeout(ctx, c.deadline)
		defer cancel()
		call = short
	}
	out, err := c.limiter.Release(call, wire.Release(r))
	switch {
	case err != nil:
		err = callError(err)
	case out.GetCode() == weirv1.Code_CODE_POLICY_NOT_FOUND:
		err = &weir.Error{Code: weir.CodePolicyNotFound, Field: "policy", Message: "there is no policy " + r.Policy}
	}
	released, version = out.GetReleased(), out.GetPolicyVersion()
	local, ok := c.fallback.(weir.Releaser)
	if !ok || !c.fell.Load() {
		return released, version, err
	}
	n, v, localErr := local.Release(ctx, r)
	if localErr == nil && n > 0 {
		if version == "" {
			version = v
		}
		return released + n, version, nil
	}
	return released, version, err
}

// away tells whether it is known that nobody answers.
func (c *Client) away() bool {
	for _, l := range c.lanes {
		l.mu.Lock()
		hope := l.mu.state != down && l.mu.missed < stallAfter
		l.mu.Unlock()
		if hope {
			return false
		}
	}
	return true
}

// callErrors says which code a gRPC code becomes; those not listed are internal.
var callErrors = map[codes.Code]weir.Code{
	codes.InvalidArgument:   weir.CodeInvalid,
	codes.Canceled:          weir.CodeCanceled,
	codes.DeadlineExceeded:  weir.CodeTimeout,
	codes.Unavailable:       weir.CodeRefused,
	codes.Unauthenticated:   weir.CodeNoAuth,
	codes.PermissionDenied:  weir.CodeNoPerm,
	codes.ResourceExhausted: weir.CodeOverload,
	codes.Unimplemented:     weir.CodeProtocol,
}

func callError(err error) error {
	return &weir.Error{Code: callErrors[status.Code(err)], Message: "call the server", Err: err}
}
