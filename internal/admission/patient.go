package admission

import "context"

// patient is the context in which a checker is asked for a caller: what ctx
// carries, without its deadline.
//
// The deadline is the caller's to choose (grpc-timeout). A checker that heeded
// it would give up just before, and answer as its policies fail, which is open
// as a rule: whoever gave too little time for a check would pass every limit.
// Checkers have deadlines of their own.
//
// A context that only ends when its caller leaves is handed on as it is, which
// allocates nothing: a checker may give up then, because it is looked at
// afterwards whether the caller is still there.
func patient(ctx context.Context) context.Context {
	if _, ok := ctx.Deadline(); !ok {
		return ctx
	}
	return context.WithoutCancel(ctx)
}
