package redisstore

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/weirlimit/weir"
)

// primaryAddr is where the shard's primary is now: a sentinel's word in
// Sentinel mode, asked for every new connection, else the address itself.
func (s *Store) primaryAddr(ctx context.Context, addr string) (string, error) {
	if s.opts.Mode != Sentinel {
		return addr, nil
	}
	var errs []error
	for _, a := range s.opts.Addrs {
		primary, err := s.askSentinel(ctx, a)
		if err == nil {
			return primary, nil
		}
		errs = append(errs, err)
	}
	return "", &notSentError{&weir.Error{
		Code: weir.CodeRefused, Message: "no sentinel knows the primary of " + s.opts.MasterName,
		Err: errors.Join(errs...),
	}}
}

func (s *Store) askSentinel(ctx context.Context, addr string) (string, error) {
	n, err := newNode(ctx, addr, &s.opts, s.opts.SentinelCredentials, false)
	if err != nil {
		return "", err
	}
	defer n.close()
	m, err := n.do(ctx, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", s.opts.MasterName)
	if err != nil {
		return "", err
	}
	parts, err := m.AsStrSlice()
	if err != nil || len(parts) != 2 {
		return "", &weir.Error{Code: weir.CodeProtocol, Message: "the sentinel does not know " + s.opts.MasterName}
	}
	return net.JoinHostPort(parts[0], parts[1]), nil
}

// followEvery is how often the sentinels are asked whether the primary was
// replaced, while it does not answer.
const followEvery = 250 * time.Millisecond

// followSentinel has the breaker probe as soon as the sentinels name another
// primary. While entries fly, connections that break ask by themselves.
func (s *Store) followSentinel() {
	sh := s.topo.Load().shards[0]
	for s.sleep(followEvery) {
		last := sh.primary.Load()
		if last == nil || !sh.broken() {
			continue
		}
		addr, err := s.primaryAddr(s.base, sh.addr)
		if err != nil || addr == *last {
			continue
		}
		sh.leave()
		sh.topologyChanged()
		// Until a connection is made: a probe a tick is enough.
		sh.primary.Store(&addr)
	}
}
