package gatewaytest

import (
	"fmt"
	"os"
	"testing"
)

// weirBinary is the program that the gateways ask. TestMain builds it.
var weirBinary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Getenv(leakChild) != "" {
		return m.Run() // it asks no Weir
	}
	dir, err := os.MkdirTemp("", "weir-gateways-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if weirBinary, err = BuildWeir(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
