package redisstore

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/doctor"
	"github.com/weirlimit/weir/internal/redistest"
)

// TestInspectNeedsTheRule: what is tried is what docs/redis.md grants.
func TestInspectNeedsTheRule(t *testing.T) {
	for _, tc := range []struct {
		needs []need
		rule  string
	}{
		{needs, aclCommands},
		{slices.Concat(needs, clusterNeeds), aclClusterCommands},
	} {
		var want, got []string
		for word := range strings.FieldsSeq(tc.rule) {
			want = append(want, strings.TrimPrefix(word, "+"))
		}
		for _, n := range tc.needs {
			got = append(got, n.command)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("tried %v, the rule has %v", got, want)
		}
	}
}

func TestInspectACL(t *testing.T) {
	srv := redistest.Start(t, redistest.WithACL(aclUser(aclCommands)))
	o := asACLUser(Options{Addrs: []string{srv.Addr()}})

	// The documented user may do all that is needed, and is told nothing.
	found := inspect(t, o)
	wantFinding(t, found, doctor.CheckACL, srv.Addr(), doctor.OK)
	wantFinding(t, found, doctor.CheckVersion, srv.Addr(), doctor.OK)
	wantFinding(t, found, doctor.CheckRole, srv.Addr(), doctor.OK)
	wantFinding(t, found, doctor.CheckEviction, srv.Addr(), doctor.Unknown, "ACL SETUSER weir +info")
	wantFinding(t, found, doctor.CheckReplication, srv.Addr(), doctor.Unknown, "+config|get")
	if doctor.Worst(found) != doctor.Unknown {
		t.Errorf("found:\n%s", listed(found))
	}

	// As on managed Redis: INFO tells what CONFIG may not.
	srv.MustDo("ACL", "SETUSER", "weir", "+info")
	found = inspect(t, o)
	wantFinding(t, found, doctor.CheckEviction, srv.Addr(), doctor.OK)
	wantFinding(t, found, doctor.CheckPersistence, srv.Addr(), doctor.OK)
	srv.ConfigSet("maxmemory-policy", "volatile-ttl")
	wantFinding(t, inspect(t, o), doctor.CheckEviction, srv.Addr(), doctor.Fail, "volatile-ttl", "service's parameters")
	srv.ConfigSet("maxmemory-policy", "noeviction")

	for command := range strings.FieldsSeq(aclCommands) {
		srv.MustDo("ACL", "SETUSER", "weir", "-"+command[1:])
		status := doctor.Fail
		if command == "+ping" {
			status = doctor.Warn
		}
		wantFinding(t, inspect(t, o), doctor.CheckACL, srv.Addr(), status,
			"may not run "+command[1:], "ACL SETUSER weir "+command+",")
		srv.MustDo("ACL", "SETUSER", "weir", command)
	}
	other := o
	other.Prefix = "other:"
	wantFinding(t, inspect(t, other), doctor.CheckACL, srv.Addr(), doctor.Fail, "ACL SETUSER weir ~other:*,")
	wantFinding(t, inspect(t, o), doctor.CheckACL, srv.Addr(), doctor.OK)
}
