package policyfile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/weirlimit/weir/internal/policyfile"
	"github.com/weirlimit/weir/policy"
)

// A server loads once before it serves, and then swaps in what Watch gives it.
func Example() {
	dir, err := os.MkdirTemp("", "policies")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	text := "policies:\n  - id: tenant\n    by: [tenant]\n    limits: 100/s burst 200\n    on_failure: open\n"
	if err := os.WriteFile(filepath.Join(dir, "api.yaml"), []byte(text), 0o600); err != nil {
		panic(err)
	}

	l, err := policyfile.New(policyfile.Options{Paths: []string{dir}})
	if err != nil {
		panic(err)
	}
	set, report, err := l.Load(context.Background())
	if err != nil {
		panic(err)
	}
	var current atomic.Pointer[policy.Set]
	current.Store(set)
	fmt.Println(len(report.Files), report.Files[0].State, report.OK())

	ctx, stop := context.WithCancel(context.Background())
	l.Reload() // what SIGHUP does
	err = l.Watch(ctx, func(set *policy.Set, report policyfile.Report) {
		current.Store(set)
		fmt.Println("reloaded:", report.OK())
		stop()
	})
	fmt.Println(err)
	// Output:
	// 1 current true
	// reloaded: true
	// <nil>
}
