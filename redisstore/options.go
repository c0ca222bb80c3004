package redisstore

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/weirlimit/weir"
)

// Mode is how the servers are arranged.
type Mode uint8

// The modes.
const (
	Single Mode = iota // one server
	Sentinel
	Cluster
)

// Options configures a Store. Only Addrs is required.
type Options struct {
	// Addrs are host:port of the server, of the sentinels, or of some nodes of
	// the cluster.
	Addrs []string
	Mode  Mode
	// MasterName is what the sentinels call the primary. Required with Sentinel.
	MasterName string

	// Credentials is asked for user and password on every new connection, so
	// that a rotated password is picked up without a restart. nil means none.
	Credentials Credentials
	// SentinelCredentials is the same for the sentinels.
	SentinelCredentials Credentials
	// TLS, when not nil, is used for every connection.
	TLS *tls.Config
	// TLSFor is asked for the TLS of every new connection instead, so that
	// rotated certificates are picked up without a restart. It must not block.
	TLSFor func(ctx context.Context) (*tls.Config, error)

	// Deadline is for batches that carry none. Default 10 ms. If it is given, it
	// is also what a server must keep to: a breaker does not close on a slower
	// answer, however long the caller would wait.
	Deadline time.Duration
	// ConnTimeout bounds a dial and a round trip: a connection that takes longer
	// is closed. It frees what hangs; it is not how deadlines are kept. Default 1 s.
	ConnTimeout time.Duration
	// MaxKeys caps the distinct keys of one script call, with those that request
	// ids are remembered by. The store goes below it
	// by itself to keep a call under MaxScript. Default 256.
	MaxKeys int
	// MaxScript is how long a script call may take: it stalls its shard.
	// Default 500 us.
	MaxScript time.Duration
	// MaxQueue caps the entries that wait per shard; more get CodeOverload.
	// Default 16384.
	MaxQueue int
	// Prefix is put before every key, outside the hash tag. Keep it short: it is
	// stored with each key.
	Prefix string

	// AllowDown lets New succeed while no server can be reached.
	AllowDown bool

	// Breaker is when a shard that fails is left alone.
	Breaker Breaker

	Hooks weir.Hooks

	// clock, in tests, replaces Redis's: the script is given its instant.
	clock func() weir.Micros
	dials *dials
	slow  time.Duration // an answer that took longer closes no breaker
}

// Credentials returns the user and password for a new connection. An empty
// user is Redis's default user.
type Credentials func(ctx context.Context) (user, password string, err error)

// Password returns credentials that do not change.
func Password(user, password string) Credentials {
	return func(context.Context) (string, string, error) { return user, password, nil }
}

// PasswordFile returns credentials whose password is the first line of a file,
// read anew for every connection.
func PasswordFile(user, path string) Credentials {
	return func(context.Context) (string, string, error) {
		b, err := os.ReadFile(path)
		if err != nil {
			return "", "", fmt.Errorf("read redis password: %w", err)
		}
		line, _, _ := strings.Cut(string(b), "\n")
		return user, strings.TrimSuffix(line, "\r"), nil
	}
}

// tlsFor returns the TLS of a new connection; nil is none.
func (o *Options) tlsFor(ctx context.Context) (*tls.Config, error) {
	if o.TLSFor == nil {
		return o.TLS, nil
	}
	tc, err := o.TLSFor(ctx)
	if err != nil {
		return nil, &weir.Error{Code: weir.CodeRefused, Message: "redis certificates", Err: err}
	}
	return tc, nil
}

func (o *Options) setDefaults() error {
	if len(o.Addrs) == 0 {
		return &weir.Error{Code: weir.CodeInvalid, Field: "addrs", Message: "no server given", Hint: "for example 127.0.0.1:6379"}
	}
	for _, a := range o.Addrs {
		if strings.ContainsAny(a, "@/") {
			return &weir.Error{
				Code: weir.CodeInvalid, Field: "addrs",
				Message: "an address is host:port, without scheme, user or password",
				Hint:    "give the password with Options.Credentials",
			}
		}
	}
	if o.Mode == Sentinel && o.MasterName == "" {
		return &weir.Error{Code: weir.CodeInvalid, Field: "master_name", Message: "sentinel mode needs the primary's name"}
	}
	if o.Mode == Single && len(o.Addrs) > 1 {
		return &weir.Error{Code: weir.CodeInvalid, Field: "addrs", Message: "single mode takes one address", Hint: "set Mode to Cluster or Sentinel"}
	}
	if strings.ContainsAny(o.Prefix, "{}") {
		return &weir.Error{Code: weir.CodeInvalid, Field: "prefix", Message: "braces in the prefix would move every key's hash tag"}
	}
	o.slow = orDefault(o.Deadline, math.MaxInt64)
	o.Deadline = orDefault(o.Deadline, 10*time.Millisecond)
	o.ConnTimeout = orDefault(o.ConnTimeout, time.Second)
	o.MaxScript = orDefault(o.MaxScript, 500*time.Microsecond)
	o.MaxKeys = min(orDefault(o.MaxKeys, 256), maxKeysHard)
	o.MaxQueue = orDefault(o.MaxQueue, 16384)
	o.dials = newDials()
	return nil
}

// orDefault returns v, or d where v was left at zero or below.
func orDefault[T int | time.Duration](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}
