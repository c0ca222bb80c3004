package main

import "github.com/spf13/pflag"

// The servers that can be behind the gRPC listener.
const (
	engineFast  = "fast"
	engineStock = "stock"
)

// engineFlags say by what gRPC is served.
type engineFlags struct {
	grpc string
}

func (f *engineFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.grpc, "grpc-engine", engineFast,
		"`server` of gRPC: fast answers checks by itself and leaves the rest to grpc-go, stock leaves all of it")
	fromEnv(flags, "grpc-engine", "WEIR_GRPC_ENGINE")
}

// check says what cannot be.
func (f *engineFlags) check() error {
	if f.grpc != engineFast && f.grpc != engineStock {
		return usage("use fast or stock", "--grpc-engine: unknown server %q", f.grpc)
	}
	return nil
}
