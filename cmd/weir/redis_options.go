package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/weirlimit/weir"
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
	o.MasterName = f.master
	if o.Credentials, err = credentials(lookup); err != nil {
		return o, err
	}
	if secure || f.ca != "" || f.cert != "" || f.key != "" {
		o.TLS, err = f.tlsConfig()
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

// credentials reads the environment; a password file is read again for every
// connection, so that a rotated password is picked up.
func credentials(lookup func(string) (string, bool)) (redisstore.Credentials, error) {
	user, _ := lookup(envRedisUser)
	password, _ := lookup(envRedisPassword)
	file, _ := lookup(envRedisPasswordFile)
	switch {
	case password != "" && file != "":
		return nil, usage("unset one of them", "%s and %s are both set", envRedisPassword, envRedisPasswordFile)
	case file != "":
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("%s: %w", envRedisPasswordFile, err)
		}
		return redisstore.PasswordFile(user, file), nil
	case password != "" || user != "":
		return redisstore.Password(user, password), nil
	}
	return nil, nil
}

func (f *redisFlags) tlsConfig() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, fmt.Errorf("--redis-tls-ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--redis-tls-ca: %s holds no certificate in PEM form", f.ca)
		}
	}
	if (f.cert == "") != (f.key == "") {
		return nil, usage("give both", "--redis-tls-cert and --redis-tls-key go together")
	}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, fmt.Errorf("--redis-tls-cert: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
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
