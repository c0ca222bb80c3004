package policy

import (
	"unsafe"

	"github.com/weirlimit/weir/internal/prefetch"
)

// Expect has the memory of the plan's rules and limits fetched. Resolve has just
// seen to that; it is for who waited for long after, while others were planned.
func (p *Plan) Expect() {
	for i := range p.Uses {
		u := &p.Uses[i]
		prefetch.Lines(uintptr(unsafe.Pointer(u.Rule)))
		prefetch.Lines(uintptr(unsafe.Pointer(u.Meter)))
	}
}
