package redistest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// leakMode says, in a child of TestNoProcessLeft, how that child is to end.
const leakMode = "REDISTEST_LEAK_MODE"

// TestNoProcessLeft runs this test binary again, has it end in every way a test
// can, and checks that the servers it started are gone.
func TestNoProcessLeft(t *testing.T) {
	if mode := os.Getenv(leakMode); mode != "" {
		leakChild(t, mode)
		return
	}
	for _, tc := range []struct {
		mode   string
		args   []string
		output string // must occur
	}{
		{mode: "pass", output: "PASS"},
		{mode: "fatal", output: "log of the server at 127.0.0.1:"},
		{mode: "panic", output: "panic: on purpose"},
		{mode: "exit", output: ""},
		{mode: "hang", args: []string{"-test.timeout=1s"}, output: "panic: test timed out"},
		{mode: "killed", output: ""},
	} {
		t.Run(tc.mode, func(t *testing.T) {
			t.Parallel()
			pids, output := runLeakChild(t, tc.mode, tc.args...)
			if len(pids) != 2 || !strings.Contains(output, tc.output) {
				t.Fatalf("child started %v and said:\n%s", pids, output)
			}
			for _, pid := range pids {
				// A signal sent at the death of the parent takes a moment.
				if err := await(5*time.Second, func() error {
					if alive(pid) {
						return fmt.Errorf("process %d is alive", pid)
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// leakChild starts two servers, one of them paused, and ends.
func leakChild(t *testing.T, mode string) {
	first, second := Start(t), Start(t)
	second.Pause()
	fmt.Printf("pids %d %d\n", first.Pid(), second.Pid())
	switch mode {
	case "pass":
	case "fatal":
		t.Fatal("on purpose")
	case "panic":
		panic("on purpose")
	case "exit":
		os.Exit(3)
	default: // hang until a timeout, or until the parent kills
		time.Sleep(time.Minute)
	}
}

// runLeakChild runs this binary in a mode and returns the processes it said it
// had started, and the rest of what it said.
func runLeakChild(t *testing.T, mode string, args ...string) (pids []int, output string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestNoProcessLeft$"}, args...)...)
	cmd.Env = append(os.Environ(), leakMode+"="+mode)
	var rest bytes.Buffer
	cmd.Stderr = &rest
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var text strings.Builder
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 3 || f[0] != "pids" {
			fmt.Fprintln(&text, lines.Text())
			continue
		}
		for _, word := range f[1:] {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Error(err)
			}
			pids = append(pids, pid)
		}
		if mode == "killed" {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	_ = cmd.Wait() // fails in most modes, on purpose
	return pids, text.String() + rest.String()
}

// alive reports whether a process runs; one that is dead and not yet reaped
// does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return false
	}
	i := bytes.LastIndexByte(stat, ')')
	return i < 0 || i+2 >= len(stat) || stat[i+2] != 'Z'
}
