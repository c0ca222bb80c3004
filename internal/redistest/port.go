package redistest

import (
	"fmt"

	"github.com/weirlimit/weir/internal/proctest"
)

// ports are the ports held for one server.
type ports struct {
	client int
	bus    int // cluster bus; 0 when not a cluster node
	free   []func()
}

// holdPorts takes the ports a server needs from the kernel and keeps them
// until release. The bus port is its own: the default, client port + 10000,
// may be taken or above 65535.
func holdPorts(cluster bool) (ports, error) {
	var p ports
	want := []*int{&p.client}
	if cluster {
		want = append(want, &p.bus)
	}
	for _, dst := range want {
		port, free, err := proctest.HoldPort()
		if err != nil {
			p.release()
			return ports{}, fmt.Errorf("hold a port: %w", err)
		}
		*dst = port
		p.free = append(p.free, free)
	}
	return p, nil
}

// release gives the ports back. It may be called more than once.
func (p *ports) release() {
	for _, free := range p.free {
		free()
	}
	p.free = nil
}
