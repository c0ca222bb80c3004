package enginetest

import (
	"testing"
	"time"

	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
)

// deadline is for a machine that has other work: who tests deadlines sets one.
const deadline = 10 * time.Second

// New returns an engine with the policies of a native file. Unless o says
// otherwise it decides on a new memory, within 10 seconds.
func New(t testing.TB, text string, o engine.Options) *engine.Engine {
	t.Helper()
	f, problems := policy.ParseNative("test.yaml", []byte(text))
	if policy.HasErrors(problems) {
		t.Fatalf("enginetest: parse: %v", problems)
	}
	return of(t, &policy.File{Name: "test.yaml", Native: f}, policy.Options{}, o)
}

// NewEnvoy is New for a text in Envoy's format.
func NewEnvoy(t testing.TB, text string, by policy.Options, o engine.Options) *engine.Engine {
	t.Helper()
	f, problems := policy.ParseEnvoy("test.yaml", []byte(text))
	if policy.HasErrors(problems) {
		t.Fatalf("enginetest: parse: %v", problems)
	}
	return of(t, &policy.File{Name: "test.yaml", Envoy: f}, by, o)
}

func of(t testing.TB, f *policy.File, by policy.Options, o engine.Options) *engine.Engine {
	t.Helper()
	set, problems := policy.Compile([]*policy.File{f}, by)
	if policy.HasErrors(problems) {
		t.Fatalf("enginetest: compile: %v", problems)
	}
	if o.Store == nil {
		o.Store = memstore.New()
	}
	if o.Deadline == 0 {
		o.Deadline = deadline
	}
	e, err := engine.New(o)
	if err != nil {
		t.Fatalf("enginetest: %v", err)
	}
	e.Swap(set)
	return e
}
