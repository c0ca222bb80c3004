package gatewaytest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/weirlimit/weir/internal/proctest"
)

// awaitGone waits until a group has nobody left.
func awaitGone(t *testing.T, pgid int) {
	t.Helper()
	Await(t, "the process group to end", func() error {
		if left := proctest.Group(pgid); len(left) > 0 {
			return fmt.Errorf("processes %v are alive", left)
		}
		return nil
	})
}

// startAlone starts a gateway that has nobody behind it.
func startAlone(t *testing.T, k kind) *Gateway {
	t.Helper()
	return k.start(t, Addrs{Gateway: FreeAddr(t), Weir: FreeAddr(t), Backend: FreeAddr(t)}, func(s string) string { return s })
}

// TestNothingIsLeft: a gateway that was stopped leaves no worker.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{nginx, caddy, haproxy} {
		g := startAlone(t, k)
		// The port answers before nginx has made its workers.
		Await(t, "the workers of "+k.name, func() error {
			if alive := proctest.Group(g.Pid()); len(alive) == 0 || k.name == "nginx" && len(alive) < 2 {
				return fmt.Errorf("processes %v", alive)
			}
			return nil
		})
		g.Stop()
		awaitGone(t, g.Pid())
	}
}

// leakChild makes this binary start gateways and wait to be killed.
const leakChild = "WEIR_GATEWAYTEST_LEAK_CHILD"

func TestLeakChild(t *testing.T) {
	if os.Getenv(leakChild) == "" {
		return // only as the child of the next one
	}
	for _, k := range []kind{nginx, caddy, haproxy} {
		fmt.Println("group", startAlone(t, k).Pid())
	}
	fmt.Println("started")
	select {}
}

// TestKilledTestBinaryLeavesNothing: not even one that is killed.
func TestKilledTestBinaryLeavesNothing(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLeakChild$", "-test.v")
	cmd.Env = append(os.Environ(), leakChild+"=1", "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var groups []int
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "started" {
		if _, text, ok := strings.Cut(lines.Text(), "group "); ok {
			pgid, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			groups = append(groups, pgid)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // killed
	if len(groups) != 3 {
		t.Fatalf("it started %v", groups)
	}
	for _, pgid := range groups {
		awaitGone(t, pgid)
	}
}

// TestMissingProgram says how to get it.
func TestMissingProgram(t *testing.T) {
	fake := &fatalTB{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		program(fake, "no-such-gateway", "some-package")
	}()
	<-done
	if want := "no-such-gateway not found: run scripts/setup or apt-get install some-package"; fake.fatal != want {
		t.Errorf("it said %q, want %q", fake.fatal, want)
	}
}
