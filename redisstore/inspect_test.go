package redisstore

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/doctor"
	"github.com/weirlimit/weir/internal/redistest"
)

// inspect looks with times that a busy machine keeps.
func inspect(t *testing.T, o Options) []doctor.Finding {
	t.Helper()
	if o.ConnTimeout == 0 {
		o.ConnTimeout = generous
	}
	o.Deadline = generous
	facts, err := Inspect(context.Background(), o, Inspection{})
	if err != nil {
		t.Fatal(err)
	}
	return doctor.Judge(facts)
}

// wantFinding fails the test unless that was found at a node, "" for whichever.
func wantFinding(t *testing.T, found []doctor.Finding, check, node string, status doctor.Status, words ...string) {
	t.Helper()
	for _, f := range found {
		text := f.Seen + " -> " + f.Do
		if f.Check == check && f.Status == status && (node == "" || f.Node == node) &&
			!slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			return
		}
	}
	t.Errorf("no %s %s at %q with %q in:\n%s", check, status, node, words, listed(found))
}

// wantNothing fails the test if something is not ok.
func wantNothing(t *testing.T, found []doctor.Finding) {
	t.Helper()
	if len(found) == 0 || doctor.Worst(found) != doctor.OK {
		t.Errorf("want all ok:\n%s", listed(found))
	}
}

func listed(found []doctor.Finding) string {
	var b strings.Builder
	for _, f := range found {
		b.WriteString(strings.Join([]string{string(f.Status), f.Check, f.Node, f.Seen, "->", f.Do}, " ") + "\n")
	}
	return b.String()
}

// TestInspectSingle changes one server's settings, one after the other.
func TestInspectSingle(t *testing.T) {
	srv := redistest.Start(t)
	o := Options{Addrs: []string{srv.Addr()}}
	srv.MustDo("SET", "somebody's", "data")
	before := writesSeen(t, srv)
	good := inspect(t, o)
	wantNothing(t, good)
	if after := writesSeen(t, srv); after != before {
		t.Errorf("an inspection has changed data: %s changes, then %s", before, after)
	}
	for _, check := range []string{
		doctor.CheckReachable, doctor.CheckVersion, doctor.CheckRole, doctor.CheckEviction, doctor.CheckMemory,
		doctor.CheckPersistence, doctor.CheckReplication, doctor.CheckClients, doctor.CheckLatency, doctor.CheckSlowLog,
		doctor.CheckClock, doctor.CheckACL, doctor.CheckWrites,
	} {
		wantFinding(t, good, check, srv.Addr(), doctor.OK)
	}

	for _, tc := range []struct {
		set    []string
		check  string
		status doctor.Status
		words  []string
	}{
		{[]string{"maxmemory-policy", "allkeys-lru"}, doctor.CheckEviction, doctor.Fail, []string{"allkeys-lru", "CONFIG SET maxmemory-policy noeviction"}},
		{[]string{"maxmemory", "1"}, doctor.CheckWrites, doctor.Fail, []string{"OOM", "raise maxmemory"}},
		{[]string{"maxmemory", "1"}, doctor.CheckMemory, doctor.Fail, []string{"raise maxmemory"}},
		{[]string{"appendfsync", "always", "appendonly", "yes"}, doctor.CheckPersistence, doctor.Fail, []string{"CONFIG SET appendfsync everysec"}},
		{[]string{"min-replicas-to-write", "1"}, doctor.CheckReplication, doctor.Fail, []string{"1 and 0 are there"}},
		{[]string{"min-replicas-to-write", "1"}, doctor.CheckWrites, doctor.Fail, []string{"NOREPLICAS"}},
		{[]string{"replica-read-only", "no"}, doctor.CheckReplication, doctor.Warn, nil},
		{[]string{"timeout", "30"}, doctor.CheckClients, doctor.Warn, []string{"CONFIG SET timeout 0"}},
		{[]string{"tcp-keepalive", "0"}, doctor.CheckClients, doctor.Warn, nil},
		{[]string{"busy-reply-threshold", "0"}, doctor.CheckClients, doctor.Warn, nil},
		{[]string{"maxclients", "2"}, doctor.CheckClients, doctor.Warn, []string{"of 2"}},
	} {
		var before []string
		for i := 0; i < len(tc.set); i += 2 {
			pair, _ := srv.MustDo("CONFIG", "GET", tc.set[i]).([]any)
			value, _ := pair[1].(string)
			before = append(before, tc.set[i], value)
			srv.ConfigSet(tc.set[i], tc.set[i+1])
		}
		wantFinding(t, inspect(t, o), tc.check, srv.Addr(), tc.status, tc.words...)
		for i := len(before) - 2; i >= 0; i -= 2 {
			eventually(t, "the setting as it was", func() error {
				_, err := srv.Do("CONFIG", "SET", before[i], before[i+1])
				return err
			})
		}
	}
	wantNothing(t, inspect(t, o))
}

// writesSeen is how often data were changed since the server started: it saves
// nothing.
func writesSeen(t *testing.T, srv *redistest.Server) string {
	t.Helper()
	info, _ := srv.MustDo("INFO", "persistence").(string)
	n, ok := parseInfo(info)["rdb_changes_since_last_save"]
	if !ok {
		t.Fatal("the server does not count changes")
	}
	return n
}

func TestInspectSlowLog(t *testing.T) {
	srv := redistest.Start(t, redistest.WithConfig("slowlog-log-slower-than", "0"), redistest.WithConfig("latency-monitor-threshold", "1"),
		redistest.WithConfig("enable-debug-command", "local"))
	srv.MustDo("DEBUG", "SLEEP", "0.02")
	facts, err := Inspect(context.Background(), Options{Addrs: []string{srv.Addr()}}, Inspection{})
	if err != nil {
		t.Fatal(err)
	}
	found := doctor.Judge(facts)
	wantFinding(t, found, doctor.CheckSlowLog, srv.Addr(), doctor.Warn, "DEBUG took ")
	wantFinding(t, found, doctor.CheckSlowLog, srv.Addr(), doctor.Warn, "latency monitor", "command")
}

func TestInspectReplica(t *testing.T) {
	primary := redistest.Start(t)
	replica := redistest.Start(t, redistest.WithReplicaOf(primary.Addr()))
	found := inspect(t, Options{Addrs: []string{replica.Addr()}})
	wantFinding(t, found, doctor.CheckRole, replica.Addr(), doctor.Fail, primary.Addr())
	// What cannot be written there is not what has to change.
	wantFinding(t, found, doctor.CheckACL, replica.Addr(), doctor.OK)
	if slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Check == doctor.CheckWrites }) {
		t.Errorf("writes to a replica were judged:\n%s", listed(found))
	}
}

func TestInspectUnreachable(t *testing.T) {
	srv := redistest.Start(t, redistest.WithPassword("hush"))
	secure := redistest.Start(t, redistest.WithTLS())
	hung := redistest.Start(t)
	old := redistest.Start(t, redistest.WithConfig("rename-command", "HELLO", "")) // as before Redis 6
	hung.Pause()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	_ = l.Close()
	trusting := secure.Certs().ClientConfig()
	blind := trusting.Clone()
	blind.RootCAs = nil
	bare := trusting.Clone()
	bare.Certificates = nil
	for _, tc := range []struct {
		name  string
		o     Options
		words []string
	}{
		{"nobody there", Options{Addrs: []string{nobody}}, []string{"refused", "is redis running"}},
		{"no password", Options{Addrs: []string{srv.Addr()}}, []string{"NOAUTH", "password"}},
		{"wrong password", Options{Addrs: []string{srv.Addr()}, Credentials: Password("", "wrongword")}, []string{"WRONGPASS", "password"}},
		{"hangs", Options{Addrs: []string{hung.Addr()}, ConnTimeout: 200 * time.Millisecond}, []string{"no answer in time", "address"}},
		{"too old to greet", Options{Addrs: []string{old.Addr()}}, []string{"unknown command", "upgrade to Redis 7.0"}},
		{"speaks TLS", Options{Addrs: []string{secure.Addr()}}, []string{"rediss://"}},
		{"speaks no TLS", Options{Addrs: []string{srv.Addr()}, TLS: trusting, ConnTimeout: 300 * time.Millisecond}, []string{"redis://"}},
		{"unknown authority", Options{Addrs: []string{secure.Addr()}, TLS: blind}, []string{"certificate", "--redis-tls-ca"}},
		{"no certificate", Options{Addrs: []string{secure.Addr()}, TLS: bare}, []string{"--redis-tls-cert"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			found := inspect(t, tc.o)
			wantFinding(t, found, doctor.CheckReachable, tc.o.Addrs[0], doctor.Fail, tc.words...)
			if len(found) != 1 || strings.Contains(listed(found), "wrongword") {
				t.Errorf("found:\n%s", listed(found))
			}
		})
	}
	wantNothing(t, inspect(t, Options{Addrs: []string{secure.Addr()}, TLS: trusting}))
}

// TestInspectStopsAnswering: a server that goes silent half way is one that
// cannot be asked, and is not waited for at every further question.
func TestInspectStopsAnswering(t *testing.T) {
	srv := redistest.Start(t)
	srv.MustDo("CLIENT", "PAUSE", "100000", "WRITE") // ms
	before := srv.CommandStats()
	found := inspect(t, Options{Addrs: []string{srv.Addr()}, ConnTimeout: 300 * time.Millisecond})
	wantFinding(t, found, doctor.CheckReachable, srv.Addr(), doctor.Fail)
	after := srv.CommandStats()
	if len(found) != 1 || after["hello"] == before["hello"] || after["get"] != before["get"] {
		t.Errorf("%d HELLO and %d GET, found:\n%s", after["hello"], after["get"], listed(found))
	}
}

// TestInspectOptions: what cannot be is an error, not a finding.
func TestInspectOptions(t *testing.T) {
	if _, err := Inspect(context.Background(), Options{}, Inspection{}); err == nil {
		t.Error("no address is no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Inspect(ctx, Options{Addrs: []string{"127.0.0.1:1"}}, Inspection{}); err == nil {
		t.Error("an interrupt is no error")
	}
}
