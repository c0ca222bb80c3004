package redisstore

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// The rule that docs/redis.md gives. The tests of Sentinel and Cluster log in
// as its user throughout.
const (
	aclCommands        = "+evalsha +script|load +get +mget +set +setrange +del +time +role +ping"
	aclClusterCommands = aclCommands + " +cluster|slots +asking"
	aclPrefix          = "weir:"
	aclPassword        = "not-a-secret"
)

func aclUser(commands string) string {
	return "weir on >" + aclPassword + " resetchannels ~" + aclPrefix + "* -@all " + commands
}

// asACLUser completes options to log in as that user.
func asACLUser(o Options) Options {
	o.Credentials, o.Prefix = Password("weir", aclPassword), aclPrefix
	return o
}

func TestACLRuleIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []string{aclCommands, aclClusterCommands} {
		if !strings.Contains(string(text), "-@all "+rule+"\n") {
			t.Errorf("docs/redis.md does not give the rule %q", rule)
		}
	}
}

// everything uses each command that the store may send to a single server.
func everything(s *Store) error {
	m, many := still(10), still(1_000_000)
	for _, e := range []weir.Entry{
		one("k", m), // GET
		one("k3", many),
		one("k3", many), // SETRANGE: its expiry has not moved to another cell of the grid
		{Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 1}, {Key: "k2", Meter: m, Cost: 1}}}, // MGET
		withID(one("k", m), "r"),
		{Charges: []weir.Charge{{Key: "k2", Meter: m, Cost: 1, Mode: weir.Refund}}}, // DEL
	} {
		if e = decide(s, e); e.Err != nil {
			return e.Err
		}
		if !e.Admitted {
			return fmt.Errorf("denied")
		}
	}
	return s.Reset(context.Background(), "k")
}

func TestACLLeastPrivilege(t *testing.T) {
	srv := redistest.Start(t, redistest.WithACL(aclUser(aclCommands)))
	o := asACLUser(Options{Addrs: []string{srv.Addr()}})
	s := open(t, o)
	if err := everything(s); err != nil {
		t.Fatalf("as the documented user: %v", err)
	}
	if log, _ := srv.MustDo("ACL", "LOG").([]any); len(log) > 0 {
		t.Errorf("redis noted denials: %v", log)
	}

	for command := range strings.FieldsSeq(aclCommands) {
		if command == "+ping" {
			continue // only keeps Redis's ACL LOG quiet
		}
		t.Run("without "+command, func(t *testing.T) {
			user := "less" + strings.NewReplacer("+", "-", "|", "-").Replace(command)
			rule := strings.Replace(aclUser(aclCommands+" "), command+" ", "", 1)
			words := strings.Fields(rule)
			words[0] = user
			srv.MustDo(append([]string{"ACL", "SETUSER"}, words...)...)
			srv.MustDo("SCRIPT", "FLUSH")
			o := o
			o.Credentials, o.Deadline = Password(user, aclPassword), time.Second
			s, err := New(context.Background(), o)
			if err == nil {
				t.Cleanup(func() { _ = s.Close() })
				err = everything(s)
			}
			if e := codeError(t, err, weir.CodeNoPerm); !strings.Contains(e.Hint, "docs/redis.md") {
				t.Errorf("hint %q does not say where the rule is", e.Hint)
			}
		})
	}
}

func TestACLKeysOutsideThePrefixAreRefused(t *testing.T) {
	srv := redistest.Start(t, redistest.WithACL(aclUser(aclCommands)))
	o := asACLUser(Options{Addrs: []string{srv.Addr()}})
	o.Prefix = "other:"
	s := open(t, o)
	wantCode(t, decide(s, one("k", still(10))).Err, weir.CodeNoPerm)
}

func TestACLSentinelUser(t *testing.T) {
	st := redistest.StartSentinel(t, 1, 0, redistest.WithACL(aclUser(aclCommands)))
	for _, sentinel := range st.Sentinels() {
		sentinel.MustDo("ACL", "SETUSER", "watcher", "on", ">also", "-@all", "+sentinel|get-master-addr-by-name", "+ping")
	}
	o := asACLUser(Options{Addrs: st.Addrs(), Mode: Sentinel, MasterName: st.MasterName()})
	o.SentinelCredentials = Password("watcher", "also")
	s := open(t, o)
	if err := everything(s); err != nil {
		t.Fatal(err)
	}
	o.SentinelCredentials = Password("watcher", "wrong")
	_, err := New(context.Background(), o)
	if err == nil || !strings.Contains(err.Error(), "WRONGPASS") {
		t.Errorf("error %v, want one that says what the sentinel answered", err)
	}
}

func TestPasswordFileIsReadAnew(t *testing.T) {
	srv := redistest.Start(t, redistest.WithACL("weir on >first ~* -@all "+aclCommands))
	file := t.TempDir() + "/password"
	write := func(password string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(password+"\r\nnot this\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	s := open(t, Options{Addrs: []string{srv.Addr()}, Credentials: PasswordFile("weir", file)})
	m := still(10)
	admit(t, s, one("k", m))

	// As docs/redis.md says.
	srv.MustDo("ACL", "SETUSER", "weir", ">second")
	write("second")
	srv.MustDo("ACL", "SETUSER", "weir", "<first")
	srv.MustDo("CLIENT", "KILL", "USER", "weir")
	for range 3 {
		admit(t, s, one("k", m)) // not one error
	}

	// The old one is refused, and the message does not give it away.
	write("first")
	srv.MustDo("CLIENT", "KILL", "USER", "weir")
	if e := codeError(t, decide(s, one("k", m)).Err, weir.CodeNoAuth); strings.Contains(e.Error(), "first") {
		t.Errorf("the password is in %q", e.Error())
	}
	write("second")
	// Not at once: a server that refuses is not asked on and on.
	eventually(t, "a login with the new password", func() error { return decide(s, one("k", m)).Err })
}
