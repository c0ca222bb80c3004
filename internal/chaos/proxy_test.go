//go:build !race

package chaos

import (
	"context"
	"strings"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// proxy stands between weir and a Redis, and can be made to misbehave.
type proxy struct {
	t testing.TB
	*toxiproxy.Proxy
}

// newProxy starts one before upstream. It ends with the test.
func newProxy(t testing.TB, upstream string) *proxy {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	p := toxiproxy.NewProxy(server, "redis", "127.0.0.1:0", upstream)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return &proxy{t, p}
}

// The faults, as toxiproxy writes them.
const (
	toxicSlow     = `{"name": "fault", "type": "latency", "stream": "downstream", "attributes": {"latency": 50, "jitter": 20}}`
	toxicReset    = `{"name": "fault", "type": "reset_peer", "stream": "upstream", "attributes": {"timeout": 0}}`
	toxicHalfOpen = `{"name": "fault", "type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`
)

// spoil begins a fault, also for connections that are there.
func (p *proxy) spoil(toxic string) {
	p.t.Helper()
	if _, err := p.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		p.t.Fatal(err)
	}
}

// mend ends it.
func (p *proxy) mend() {
	p.t.Helper()
	if err := p.Toxics.RemoveToxic(context.Background(), "fault"); err != nil {
		p.t.Fatal(err)
	}
}
