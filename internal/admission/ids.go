package admission

import (
	"crypto/rand"
	"errors"
	"strconv"
	"sync/atomic"

	"github.com/weirlimit/weir"
)

// ids makes request ids that no other process makes.
type ids struct {
	prefix string
	last   atomic.Uint64
}

func (i *ids) init() { i.prefix = rand.Text() + "-" }

func (i *ids) next() string {
	var buf [64]byte
	return string(strconv.AppendUint(append(buf[:0], i.prefix...), i.last.Add(1), 36))
}

// wantsID tells whether a check was refused for the request's id, which a limit
// of concurrency needs.
func wantsID(err error) bool {
	e, ok := errors.AsType[*weir.Error](err)
	return ok && e.Code == weir.CodeInvalid && (e.Field == "id" || e.Field == "request_id")
}
