package bench

import (
	"context"

	"github.com/weirlimit/weir/internal/h2client"
)

// userAgent tells an operator whose requests these are.
const userAgent = "weir-bench"

// dial connects as the plan says.
func (r *run) dial(ctx context.Context) (transport, error) {
	switch p := &r.plan; p.API {
	case RLS, Native:
		encode, err := p.Requests.encoder(p.API.codec())
		if err != nil {
			return nil, err
		}
		return h2client.Dial(ctx, h2client.Options{
			Addr: p.Addr, TLS: p.TLS, Path: p.API.path(), UserAgent: userAgent,
			Conns: p.Conns, Outstanding: (p.Callers + p.Conns - 1) / p.Conns, Timeout: p.Timeout,
			Clock: r.clock, Encode: encode, Judge: p.API.judge(), Answered: r.answered,
		})
	case Stream:
		return newStream(ctx, r)
	case HTTP:
		return newWeb(ctx, r)
	}
	return nil, invalid("api", "there is no such API")
}
