package unarytest

import "github.com/weirlimit/weir/internal/unary"

// Keeping returns m as a server has it that keeps memory for it: all calls have
// the same, one after the other, so that m finds there what it kept of the last.
func Keeping(m unary.Method) unary.Method { return &keeping{method: m} }

type keeping struct {
	method unary.Method
	kept   any
}

func (k *keeping) Take(c unary.Call, msg []byte) unary.Step {
	return k.method.Take(keepingCall{c, k}, msg)
}

type keepingCall struct {
	unary.Call
	in *keeping
}

func (c keepingCall) Kept() any { return c.in.kept }

func (c keepingCall) Keep(v any) bool {
	if c.in.kept != nil {
		return false
	}
	c.in.kept = v
	return true
}
