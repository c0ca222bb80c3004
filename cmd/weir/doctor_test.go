package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weirlimit/weir/internal/redistest"
)

func TestDoctorScripts(t *testing.T) {
	users := redistest.WithACL(
		"default on nopass ~* &* +@all",
		"managed on >hush ~* &* +@all -config -slowlog",
		"less on >hush ~* &* +@all -evalsha")
	good := redistest.Start(t, users)
	evicting := redistest.Start(t, users, redistest.WithConfig("maxmemory-policy", "allkeys-lru"), redistest.WithConfig("timeout", "60"))
	cluster := redistest.StartCluster(t, 3, 3)
	sentinels := redistest.StartSentinel(t, 3, 1)
	p := params("testdata/doctor", map[string]string{
		"GOOD": good.Addr(), "EVICTING": evicting.Addr(), "CLUSTER": strings.Join(cluster.Addrs()[:2], ","),
		"SENTINEL": sentinels.Addrs()[0], "SENTINELS": strings.Join(sentinels.Addrs(), ","),
	})
	setup := p.Setup
	p.Setup = func(e *testscript.Env) error {
		if err := setup(e); err != nil {
			return err
		}
		text := "redis: " + good.Addr() + "\ndeadline: 25s\nconfig: [policies/]\ngrpc: 127.0.0.1:8081\n"
		return os.WriteFile(filepath.Join(e.WorkDir, "weir.yaml"), []byte(text), 0o600)
	}
	testscript.Run(t, p)
}

// TestProgress: only a step that takes long is told, and nothing after the end.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgress(&out)
		p.step("a quick one")
		time.Sleep(slowStep / 2)
		p.step("a slow one")
		time.Sleep(2 * slowStep)
		p.step("the last")
		p.end()
		time.Sleep(2 * slowStep)
		synctest.Wait()
		if got := out.String(); got != "weir: looking at a slow one ...\n" {
			t.Errorf("told %q", got)
		}
	})
}
