package redistest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// The user that the harness adds to a server with ACL rules, so that its own
// commands, replication and sentinels keep working whatever the rules say
// about the default user. Not secret: the server listens on loopback only.
const (
	adminUser     = "redistest"
	adminPassword = "redistest-admin"
)

// Option changes how a server is started. The options given to [StartCluster]
// and [StartSentinel] apply to every data node; of these, sentinels take only
// TLS.
type Option func(*config)

// WithTLS makes the server speak TLS only and ask clients for a certificate.
// [Server.Certs] has the files a client needs. The nodes of a cluster or a
// sentinel set share one authority.
func WithTLS() Option { return func(c *config) { c.tls = true } }

// WithCerts is [WithTLS] with certificates that exist already, for servers
// that must trust each other.
func WithCerts(certs *Certs) Option {
	return func(c *config) { c.tls, c.certs = true, certs }
}

// WithPassword sets requirepass, and masterauth for replication.
func WithPassword(password string) Option {
	return func(c *config) { c.password = password }
}

// WithACL adds user directives, each without its leading word:
// "weir on >secret ~weir:* +@all". It also adds a user of the harness's own.
func WithACL(users ...string) Option {
	return func(c *config) { c.acl = append(c.acl, users...) }
}

// WithConfig adds one directive of redis.conf. It comes after the harness's
// own, and so overrides them.
func WithConfig(name string, values ...string) Option {
	return func(c *config) { c.extra = append(c.extra, append([]string{name}, values...)) }
}

// WithReplicaOf makes the server a replica of the one at addr (host:port),
// which must have been started with the same password, ACL and certificates.
// Start then returns once the replica is in sync.
func WithReplicaOf(addr string) Option { return func(c *config) { c.replicaOf = addr } }

// config is what the options say. The zero value is a plain single server.
type config struct {
	sentinel  bool
	cluster   bool
	tls       bool
	certs     *Certs // not nil when tls, once issued
	password  string
	acl       []string
	replicaOf string
	extra     [][]string
}

// newConfig applies opts and issues the certificates they ask for.
func newConfig(t testing.TB, opts []Option) config {
	t.Helper()
	var c config
	for _, opt := range opts {
		opt(&c)
	}
	if c.tls && c.certs == nil {
		c.certs = NewCerts(t)
	}
	return c
}

// with returns a copy with further directives, which do not override the
// caller's.
func (c config) with(lines ...[]string) config {
	c.extra = append(lines, c.extra...)
	return c
}

// credentials are what the harness itself logs in with; "" is no login.
func (c config) credentials() (user, password string) {
	if len(c.acl) > 0 {
		return adminUser, adminPassword
	}
	if c.password != "" {
		return "default", c.password
	}
	return "", ""
}

// render returns the text of redis.conf.
func (c config) render(dir string, p ports) string {
	lines := [][]string{{"bind", "127.0.0.1"}, {"daemonize", "no"}, {"dir", dir}}
	if c.tls {
		lines = append(lines, [][]string{
			{"port", "0"},
			{"tls-port", strconv.Itoa(p.client)},
			{"tls-auth-clients", "yes"},
			{"tls-replication", "yes"},
			{"tls-cluster", "yes"},
			{"tls-ca-cert-file", c.certs.CAFile},
			{"tls-cert-file", c.certs.ServerCertFile},
			{"tls-key-file", c.certs.ServerKeyFile},
		}...)
	} else {
		lines = append(lines, []string{"port", strconv.Itoa(p.client)})
	}
	if !c.sentinel {
		lines = append(lines, c.dataLines(p)...)
	}
	lines = append(lines, c.extra...)

	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line[0])
		for _, v := range line[1:] {
			b.WriteByte(' ')
			b.WriteString(strconv.Quote(v))
		}
		b.WriteByte('\n')
	}
	for _, user := range c.acl {
		fmt.Fprintf(&b, "user %s\n", user)
	}
	if len(c.acl) > 0 {
		fmt.Fprintf(&b, "user %s on >%s ~* &* +@all\n", adminUser, adminPassword)
	}
	return b.String()
}

// dataLines are the directives of a server that holds data, a sentinel's have
// no place for them.
func (c config) dataLines(p ports) [][]string {
	lines := [][]string{
		{"save", ""},
		{"appendonly", "no"},
		// A primary streams writes to a replica as soon as it has sent the
		// snapshot. Sent without a file, it would first wait 5 s for further
		// replicas, then up to 1 s for an acknowledgement, while the replica
		// already says that its link is up.
		{"repl-diskless-sync", "no"},
		{"repl-diskless-sync-delay", "0"},
		{"repl-ping-replica-period", "1"}, // s
	}
	if c.password != "" {
		lines = append(lines, []string{"requirepass", c.password})
	}
	user, password := c.credentials()
	if len(c.acl) > 0 {
		lines = append(lines, []string{"masteruser", user})
	}
	if password != "" {
		lines = append(lines, []string{"masterauth", password})
	}
	if host, port, ok := strings.Cut(c.replicaOf, ":"); ok {
		lines = append(lines, []string{"replicaof", host, port})
	}
	if c.cluster {
		lines = append(lines, [][]string{
			{"cluster-enabled", "yes"},
			{"cluster-config-file", "nodes.conf"},
			{"cluster-port", strconv.Itoa(p.bus)},
			{"cluster-announce-ip", "127.0.0.1"},
			{"cluster-node-timeout", "2000"}, // ms
			// A replica stays with the primary the test gave it.
			{"cluster-allow-replica-migration", "no"},
		}...)
	}
	return lines
}
