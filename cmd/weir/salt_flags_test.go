package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/policyfile"
	"github.com/weirlimit/weir/internal/pseudonym"
	"github.com/weirlimit/weir/internal/saltfile"
	"github.com/weirlimit/weir/policy"
)

// saltServer is as much of a server as salts need, and its log.
func saltServer(t *testing.T, f *serveFlags) (*server, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	s := &server{flags: f, log: slog.New(slog.NewTextHandler(&log, nil))}
	if err := s.loadSalts(); err != nil {
		t.Fatal(err)
	}
	return s, &log
}

// TestServersWithoutSalts: in memory each has its own, with Redis all have the
// well-known ones and say so.
func TestServersWithoutSalts(t *testing.T) {
	private := saltFlags{private: []string{"ip"}}
	a, log := saltServer(t, &serveFlags{salt: private})
	b, _ := saltServer(t, &serveFlags{salt: private})
	if a.ring() == pseudonym.Unsalted() || a.ring().Config().Salts[0].Secret == b.ring().Config().Salts[0].Secret || log.Len() != 0 {
		t.Errorf("in memory: %v, %s", a.ring(), log)
	}
	c, log := saltServer(t, &serveFlags{salt: private, redis: redisFlags{addrs: "127.0.0.1:1"}})
	if c.ring() != pseudonym.Unsalted() || !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "weir salt new") {
		t.Errorf("with Redis: %s", log)
	}
	if _, log := saltServer(t, &serveFlags{redis: redisFlags{addrs: "127.0.0.1:1"}}); log.Len() != 0 {
		t.Errorf("nothing is private: %s", log)
	}
}

// TestServerFollowsSalts: what is read is said, late salts and modes are warned
// of, and no log shows a secret.
func TestServerFollowsSalts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "salts.yaml")
	now := weir.MicrosAt(time.Now())
	one, err := saltfile.Make(now-weir.Day, 2*weir.Second, 10*weir.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := saltfile.Create(path, one); err != nil {
		t.Fatal(err)
	}
	s, log := saltServer(t, &serveFlags{salt: saltFlags{file: path, private: []string{"ip"}}})
	if got := log.String(); !strings.Contains(got, `msg="salts loaded" in_force=`+one.Config().Salts[0].ID) || strings.Contains(got, "WARN") {
		t.Errorf("the first time: %s", got)
	}
	late, err := saltfile.Rotate(one, now-weir.Hour, now-weir.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := saltfile.Replace(path, late); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o604); err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 1)
	go s.followed[0].file.Watch(t.Context(), func(err error) { told <- err })
	s.followed[0].file.Reload()
	if err := <-told; err != nil {
		t.Fatal(err)
	}
	got := log.String()
	for _, want := range []string{"counted in two until now", "late_by=1m2s", `msg="others can read the salts" hint=`, "mode 0604", "in_force=" + late.Config().Salts[1].ID} {
		if !strings.Contains(got, want) {
			t.Errorf("not in the log: %s\n%s", want, got)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if _, secret, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && strings.HasSuffix(secret, "=") && strings.Contains(got, secret) {
			t.Error("a secret is in the log")
		}
	}
}

func TestRetentionIsChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "salts.yaml")
	ring, err := saltfile.Make(0, 0, weir.Day)
	if err != nil {
		t.Fatal(err)
	}
	if err := saltfile.Create(path, ring); err != nil {
		t.Fatal(err)
	}
	for limits, warned := range map[string]bool{"5/d": false, "5/2d": true} {
		s, log := saltServer(t, &serveFlags{salt: saltFlags{file: path}})
		f, _ := policyfile.Parse("p.yaml", []byte("policies: [{id: p, by: ip, limits: "+limits+", on_failure: open}]"), false)
		set, _ := policy.Compile([]*policy.File{f}, policy.Options{})
		s.checkRetention(set)
		if got := strings.Contains(log.String(), "rule=p counts_for="); got != warned {
			t.Errorf("%s: %s", limits, log)
		}
	}
}
