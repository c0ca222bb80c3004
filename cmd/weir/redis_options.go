package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/tlsfile"
	"github.com/weirlimit/weir/redisstore"
)

// options turns the flags and the environment into those of the store.
func (f *redisFlags) options(lookup func(string) (string, bool)) (o redisstore.Options, err error) {
	secure := false
	for _, text := range strings.Split(f.addrs, ",") {
		addr, withTLS, err := parseAddr(strings.TrimSpace(text))
		if err != nil {
			return o, err
		}
		o.Addrs = append(o.Addrs, addr)
		secure = secure || withTLS
	}
	if o.Mode, err = f.parseMode(len(o.Addrs)); err != nil {
		return o, err
	}
	if strings.ContainsAny(f.prefix, "{}") {
		return o, usage("leave the braces out",
			"--redis-prefix: %q has a brace, which would decide on which node of a cluster a key is", f.prefix)
	}
	o.MasterName, o.Prefix = f.master, f.prefix
	if o.Credentials, err = redisSecrets.credentials(lookup); err != nil {
		return o, err
	}
	if o.Mode == redisstore.Sentinel {
		if o.SentinelCredentials, err = sentinelSecrets.credentials(lookup); err != nil {
			return o, err
		}
	}
	if secure || f.ca != "" || f.cert != "" || f.key != "" {
		err = f.openTLS()
		o.TLSFor = func(context.Context) (*tls.Config, error) { return f.files.Config(), nil }
	}
	return o, err
}

// parseAddr returns host:port of an address or a URL, and whether it asks for
// TLS. An error never repeats the text: it may hold a password.
func parseAddr(text string) (addr string, withTLS bool, err error) {
	if strings.Contains(text, "@") {
		return "", false, usage(passwordHint,
			"--redis: a password does not belong in an address, where other users and logs see it")
	}
	if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.RawQuery != "" {
			return "", false, usage(
				"write host:port, redis://host:port or rediss://host:port for TLS", "--redis: not an address")
		}
		if u.Path != "" && u.Path != "/" && u.Path != "/0" {
			return "", false, usage("leave the path out; clusters have no others", "--redis: database %s is not 0", u.Path[1:])
		}
		text, withTLS = u.Host, u.Scheme == "rediss"
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = strings.Trim(text, "[]"), "6379"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" || strings.ContainsAny(host, "/ ") {
		return "", false, usage("for example 127.0.0.1:6379", "--redis: not an address: want host:port")
	}
	return net.JoinHostPort(host, port), withTLS, nil
}

func (f *redisFlags) parseMode(addrs int) (redisstore.Mode, error) {
	mode := f.mode
	switch {
	case mode != "":
	case f.master != "":
		mode = "sentinel"
	case addrs > 1:
		mode = "cluster"
	default:
		mode = "single"
	}
	switch {
	case mode == "sentinel" && f.master == "":
		return 0, usage("give its name with --redis-master", "--redis-mode sentinel: which primary?")
	case mode == "sentinel":
		return redisstore.Sentinel, nil
	case f.master != "":
		return 0, usage("drop --redis-mode or --redis-master", "--redis-mode %s has no --redis-master", mode)
	case mode == "cluster":
		return redisstore.Cluster, nil
	case mode == "single" && addrs > 1:
		return 0, usage("give one address, or --redis-mode cluster", "--redis-mode single: %d addresses", addrs)
	case mode == "single":
		return redisstore.Single, nil
	}
	return 0, usage("use single, sentinel or cluster", "--redis-mode: unknown mode %q", mode)
}

// openTLS reads the files. They are followed by who runs for long: see server.
func (f *redisFlags) openTLS() (err error) {
	if (f.cert == "") != (f.key == "") {
		return usage("give both", "--redis-tls-cert and --redis-tls-key go together")
	}
	f.files, err = tlsfile.OpenClient(tlsfile.ClientFiles{CA: f.ca, Cert: f.cert, Key: f.key})
	if err != nil {
		return fmt.Errorf("redis certificates: %w", err)
	}
	return nil
}

// connectError says which server could not be used and, for credentials, how
// this program is given them.
func connectError(addrs []string, err error) error {
	if e, ok := errors.AsType[*weir.Error](err); ok && e.Code == weir.CodeNoAuth {
		told := *e
		told.Hint = passwordHint
		err = &told
	}
	return fmt.Errorf("connect to %s: %w", strings.Join(addrs, ", "), err)
}
