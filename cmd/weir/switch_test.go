package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weirlimit/weir/internal/degrade"
)

// TestSwitchScripts speaks to real servers: two in the clear, one of which is
// not there later, and two that want a certificate, one of them not for health.
func TestSwitchScripts(t *testing.T) { onEachEngine(t, testSwitchScripts) }

func testSwitchScripts(t *testing.T) {
	a, b := startServe(t), startServe(t)
	p := newPKI(t)
	secure := startServe(t, p.flags("--tls-client-ca", p.cc, "--tls-admin-san", "operator.test")...)
	exempt := startServe(t, p.flags("--tls-client-ca", p.cc, "--tls-health-exempt")...)
	dir := t.TempDir()
	crt, key := filepath.Join(dir, "op.crt"), filepath.Join(dir, "op.key")
	p.ca.Client(t, "operator.test").Write(t, crt, key)
	env := map[string]string{
		"A": a.addr(doorAdmin), "B": b.addr(doorAdmin), "GRPC_A": a.addr(doorGRPC), "HTTP_A": a.addr(doorHTTP),
		"SECURE": secure.addr(doorAdmin), "EXEMPT": exempt.addr(doorAdmin), "CA": p.cc, "CERT": crt, "KEY": key, "USER": "ann",
	}
	t.Run("scripts", func(t *testing.T) { testscript.Run(t, params("testdata/switch", env)) })
	for _, want := range []string{
		"FORCED OPEN", "scope=default.per-tenant", "who=ann", `why="incident 7"`, "until=", "scope=everything",
		"no longer forced open", "who=bob",
	} {
		if !strings.Contains(a.log.String(), want) {
			t.Errorf("%s is not in the log", want)
		}
	}
}

// TestSwitchEndsByItself: it is told when something that was forced has ended.
func TestSwitchEndsByItself(t *testing.T) {
	s := startServe(t)
	if _, err := s.standby.forced.Force(degrade.Everything, "ann", "a test", 1200*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	s.tellSwitch()
	if st := s.health.Status(); !st.Degraded || !st.Ready || !strings.Contains(strings.Join(st.Reasons, ""), "switch: let through past its limits: everything until ") {
		t.Errorf("%+v", st)
	}
	if all, policies := s.standby.count(); all != 1 || policies != 0 {
		t.Errorf("%d, %d", all, policies)
	}
	s.log.await(t, `forced_by=ann forced_for="a test" why="its time is over"`)
	for end := time.Now().Add(10 * time.Second); s.health.Status().Degraded && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if st := s.health.Status(); st.Degraded || s.standby.forced.On() {
		t.Errorf("%+v", st)
	}
}
