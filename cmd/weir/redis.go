package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/tlsfile"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/redisstore"
)

// redisFlags say where the counters live.
type redisFlags struct {
	addrs  string
	mode   string
	master string
	prefix string
	ca     string
	cert   string
	key    string

	files    *tlsfile.Client     // what the last three hold, once there are options
	opened   *redisstore.Options // of the store of a server, nil for memory
	deadline time.Duration       // of checks; 0 is the store's own

	idle []idleSetting // see checkIdle

	memoryKeys int // of the store of a server, when it is memory; 0 is the store's own
}

// redisNames are the names of these flags.
var redisNames = []string{
	"redis", "redis-mode", "redis-master", "redis-prefix", "redis-tls-ca", "redis-tls-cert", "redis-tls-key",
}

func (f *redisFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.addrs, "redis", "",
		"keep counters in Redis at this `address`: host:port, several with commas, or a redis:// or rediss:// URL")
	flags.StringVar(&f.mode, "redis-mode", "", "`mode` single, sentinel or cluster; by default cluster for several addresses")
	flags.StringVar(&f.master, "redis-master", "", "`name` that the sentinels at --redis have for the primary")
	flags.StringVar(&f.prefix, "redis-prefix", "", "`text` before the name of every key, such as weir:; no braces")
	flags.StringVar(&f.ca, "redis-tls-ca", "", "`file` of the authorities to trust instead of the system's; implies TLS")
	flags.StringVar(&f.cert, "redis-tls-cert", "", "`file` of the certificate to show; implies TLS")
	flags.StringVar(&f.key, "redis-tls-key", "", "`file` of its key")
	for _, name := range redisNames {
		fromEnv(flags, name, "WEIR_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
}

// openFor returns the store of a server: one that starts, and answers by the
// policies' fail modes, while Redis is away.
func (f *redisFlags) openFor(
	ctx context.Context, lookup func(string) (string, bool), hooks weir.Hooks,
) (store weir.Store, name string, err error) {
	if f.addrs == "" {
		return memstore.New(memstore.WithHooks(hooks), memstore.WithMaxKeys(f.memoryKeys)), "memory", nil
	}
	o, err := f.options(lookup)
	if err != nil {
		return nil, "", err
	}
	o.AllowDown, o.Hooks, o.Deadline = true, hooks, f.deadline
	f.opened = &o
	store, err = redisstore.New(ctx, o)
	if err != nil {
		return nil, "", connectError(o.Addrs, err)
	}
	return store, "redis at " + strings.Join(o.Addrs, ", "), nil
}

// open returns the store the flags ask for, and what to call it.
func (f *redisFlags) open(
	ctx context.Context, lookup func(string) (string, bool), timeout time.Duration,
) (store weir.Store, name string, err error) {
	if f.addrs == "" {
		return memstore.New(), "memory", nil
	}
	o, err := f.options(lookup)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	store, err = redisstore.New(ctx, o)
	if err != nil {
		return nil, "", connectError(o.Addrs, err)
	}
	return store, "redis at " + strings.Join(o.Addrs, ", "), nil
}
