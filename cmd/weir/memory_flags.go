package main

import (
	"github.com/spf13/pflag"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

// memoryFlags say how counters are kept without Redis.
type memoryFlags struct{ keys int }

// Bounds on --memory-keys: room for all counters of one request, which would
// else be answered by its policies' on_failure for good; and some 10 GB.
const (
	minMemoryKeys = weir.MaxCharges
	maxMemoryKeys = 100_000_000
)

func (f *memoryFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.keys, "memory-keys", memstore.DefaultMaxKeys,
		"without --redis, how many `counters` are kept; some 100 bytes each when used")
	fromEnv(flags, "memory-keys", "WEIR_MEMORY_KEYS")
}

func (f *memoryFlags) validate() error {
	if f.keys < minMemoryKeys || f.keys > maxMemoryKeys {
		return usage("", "--memory-keys: %d is not from %d to %d", f.keys, minMemoryKeys, maxMemoryKeys)
	}
	return nil
}
