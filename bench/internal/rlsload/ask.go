package rlsload

import (
	"context"
	"fmt"
	"time"
)

// Ask replays a recording, each request after the answer to the one before it,
// and returns the answers.
func Ask(ctx context.Context, addr string, r Recording) ([]Answer, error) {
	c, err := dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer closeAll([]*conn{c})
	script, err := NewScript(r)
	if err != nil {
		return nil, err
	}
	out := make([]Answer, 0, len(r))
	var failed error
	for i := range r {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := c.nc.SetDeadline(time.Now().Add(grace)); err != nil {
			return nil, err
		}
		if err := c.send(script, uint64(i), 0); err != nil {
			return nil, err
		}
		for c.underWay() > 0 {
			if err := c.flush(); err != nil {
				return nil, err
			}
			err := c.receive(func(p reply) {
				a, err := parseAnswer(p.body)
				if p.status != 0 {
					err = fmt.Errorf("grpc-status %d", p.status)
				}
				if err != nil && failed == nil {
					failed = fmt.Errorf("request %d: %w", i+1, err)
				}
				out = append(out, a)
			})
			if err != nil {
				return nil, err
			}
		}
		if failed != nil {
			return nil, failed
		}
	}
	return out, nil
}
