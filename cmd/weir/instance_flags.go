package main

import "github.com/spf13/pflag"

// instanceFlags say how many share the counters while nobody can tell.
type instanceFlags struct {
	count int
}

// maxInstances is what redisstore.Members counts to.
const maxInstances = 1024

func (f *instanceFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.count, "instances", 1, "`number` of instances that share the counters, for as long as Redis has not told")
	fromEnv(flags, "instances", "WEIR_INSTANCES")
}

func (f *instanceFlags) check() error {
	if f.count < 1 || f.count > maxInstances {
		return usage("give how many run, 1 to 1024", "--instances: %d is out of range", f.count)
	}
	return nil
}
