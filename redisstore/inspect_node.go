package redisstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/redis/rueidis"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/doctor"
)

// settingsRead are the directives that are judged. Redis leaves out those that
// it does not have.
var settingsRead = []string{
	"maxmemory", "maxmemory-policy", "maxclients", "timeout", "tcp-keepalive", "busy-reply-threshold",
	"appendonly", "appendfsync", "save", "stop-writes-on-bgsave-error",
	"replica-read-only", "min-replicas-to-write",
	"cluster-require-full-coverage", "cluster-node-timeout",
}

// node looks at one server, and returns the replicas that it has.
func (i *inspector) node(ctx context.Context, t target) (replicas []string) {
	if ctx.Err() != nil {
		return nil // a node that cannot be asked is not one that does not answer
	}
	i.step("redis " + t.addr)
	d := doctor.Node{Addr: t.addr, Replica: t.replica}
	defer func() { i.facts.Nodes = append(i.facts.Nodes, d) }()
	n, err := newNode(ctx, t.addr, &i.opts, i.opts.Credentials, false)
	if err != nil {
		d.Err = i.explain(err)
		return nil
	}
	defer n.close()
	q := &questions{ctx: ctx, node: n}
	defer func() {
		if q.lost != nil {
			d = doctor.Node{Addr: t.addr, Replica: t.replica, Err: i.explain(q.lost)}
		}
	}()
	// HELLO is everybody's, whatever the ACL says. So is not much else.
	m, err := q.ask("HELLO", "3")
	if err != nil {
		d.Err = i.explain(err)
		return nil
	}
	hello, _ := m.AsMap()
	text := func(name string) string {
		v := hello[name]
		s, _ := v.ToString()
		return s
	}
	d.Server, d.Version, d.Kind, d.Role = text("server"), text("version"), text("mode"), text("role")
	if d.Role == "replica" {
		d.Role = "slave"
	}
	if m, err := q.ask("ROLE"); err == nil {
		d.Role, replicas = parseRole(&m)
	}
	if m, err := q.ask("INFO"); err == nil {
		info, _ := m.ToString()
		d.Info = parseInfo(info)
	}
	if i.how.Brief || d.Kind == "sentinel" {
		return replicas
	}
	if m, err := q.ask(append([]string{"CONFIG", "GET"}, settingsRead...)...); err == nil {
		d.Config, _ = m.AsStrMap()
	}
	q.slow(&d)
	i.probe(q, &d, i.probeKey(t))
	q.measure(&d, i.probeKey(t))
	return replicas
}

// questions are put to one server. Once it does not answer, no more are: each
// would wait as long again.
type questions struct {
	ctx  context.Context // of this inspection
	node *node
	lost error // what the first that was not answered met
}

// ask runs one command. That a server refuses is an answer.
func (q *questions) ask(args ...string) (rueidis.RedisMessage, error) {
	if q.lost != nil {
		return rueidis.RedisMessage{}, q.lost
	}
	m, err := q.node.do(q.ctx, args...)
	if _, refused := errors.AsType[*rueidis.RedisError](err); err != nil && !refused {
		q.lost = err
	}
	return m, err
}

// slow reads what was slow: the slow log's last entries, and the latency
// monitor's worst.
func (q *questions) slow(d *doctor.Node) {
	m, err := q.ask("SLOWLOG", "GET", "32")
	if err != nil {
		return
	}
	entries, _ := m.ToArray()
	d.Slow = &doctor.Slow{Entries: len(entries)}
	for i := range entries {
		fields, _ := entries[i].ToArray()
		if len(fields) < 4 {
			continue
		}
		us, _ := fields[2].ToInt64()
		words, _ := fields[3].AsStrSlice()
		if took := time.Duration(us) * time.Microsecond; took > d.Slow.Worst && len(words) > 0 {
			d.Slow.Worst, d.Slow.Command = took, words[0]
		}
	}
	if m, err = q.ask("LATENCY", "LATEST"); err != nil {
		return
	}
	events, _ := m.ToArray()
	for i := range events {
		d.Spikes = append(d.Spikes, spikeOf(&events[i])...)
	}
}

// spikeOf reads [event, when, last ms, worst ms].
func spikeOf(m *rueidis.RedisMessage) []doctor.Spike {
	fields, _ := m.ToArray()
	if len(fields) < 4 {
		return nil
	}
	event, _ := fields[0].ToString()
	ms, _ := fields[3].ToInt64()
	return []doctor.Spike{{Event: event, Worst: time.Duration(ms) * time.Millisecond}}
}

// explain classifies an error and, where the code says too little, adds what to
// do about it.
func (i *inspector) explain(err error) *weir.Error {
	if err == nil {
		return nil
	}
	e, _ := classify(err)
	hint := dialHint(err, i.opts.TLS != nil || i.opts.TLSFor != nil, e.Code)
	if hint == "" {
		return e
	}
	told := *e
	told.Hint = hint
	return &told
}

// dialHint says what to do when two ends do not agree on TLS or on what Redis is,
// else nothing.
func dialHint(err error, secure bool, code weir.Code) string {
	if re, ok := errors.AsType[*rueidis.RedisError](err); ok {
		switch text := re.Error(); {
		case !strings.Contains(text, "unknown command"):
			return "" // it speaks
		case strings.Contains(text, "SENTINEL"):
			return "it is no sentinel: give the sentinels' addresses, port 26379 unless it was set, or leave --redis-master out"
		}
		return "upgrade to Redis 7.0 or Valkey 7.2 or newer; no proxy that knows some commands only" // HELLO is asked first
	}
	if !secure {
		// A TLS listener ends a connection that greets it in the clear.
		if code == weir.CodeProtocol || hungUp(err) {
			return "does the server speak TLS there? then give rediss://HOST:PORT"
		}
		return ""
	}
	if code == weir.CodeTimeout {
		// Redis without TLS takes the greeting for the beginning of a command.
		return "is the server there, and does it speak TLS? if it does not, give redis://HOST:PORT"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "the server does not speak TLS there: give HOST:PORT or redis://HOST:PORT"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "give the file of the authority that signed the server's certificate with --redis-tls-ca"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "give the host by a name that the server's certificate has, or have it issued for this one"
	}
	if _, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return "renew the server's certificate, or set this machine's clock"
	}
	// A server that misses a certificate says so in an alert, or hangs up before
	// that is read.
	op, ok := errors.AsType[*net.OpError](err)
	if ok && op.Op == "remote error" || hungUp(err) {
		return "the server may want a certificate: give --redis-tls-cert and --redis-tls-key"
	}
	return ""
}

func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
