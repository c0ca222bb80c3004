package doctest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/proctest"
)

// pageBound is how long a page may take. A reader would not wait longer either,
// but for a machine that has other work.
const pageBound = 2 * time.Minute

// Options say how a page is run.
type Options struct {
	Root   string   // of the repository
	Binary string   // the program, built
	Env    []string // more variables
	// Skip allows the page to have blocks that are not run.
	Skip bool
}

// Run runs the page at path, below Root, and fails the test at the first block
// that fails or prints something else than the page shows.
func Run(t *testing.T, path string, o Options) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(o.Root, path))
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := Parse(string(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	p := newPorts(t)
	dir := filepath.Join(t.TempDir(), "weir")
	clone(t, o.Root, dir, o.Binary, func(s string) string { return patient(p.rewrite(s)) })
	for i := range blocks {
		b := &blocks[i]
		b.Script = p.rewrite(b.Script)
		for j := range b.Want {
			b.Want[j] = p.rewrite(b.Want[j])
		}
		if b.Skipped != "" && !o.Skip {
			t.Fatalf("%s:%d: this page has to be run whole; not run: %s", path, b.Line, b.Skipped)
		}
	}
	printed, err := run(t, dir, blocks, append(environment(t, dir, p), o.Env...))
	check(t, path, blocks, printed, err)
}

// environment is what a page sees: a home of its own, Weir at the free ports and
// with time to answer, and Go's caches.
func environment(t testing.TB, dir string, p ports) []string {
	t.Helper()
	home := filepath.Join(filepath.Dir(dir), "home")
	tmp := filepath.Join(filepath.Dir(dir), "tmp")
	for _, d := range []string{home, tmp} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{
		"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "HOME=" + home, "TMPDIR=" + tmp,
		"WEIR_HTTP=127.0.0.1:" + p["8080"], "WEIR_GRPC=127.0.0.1:" + p["8081"], "WEIR_ADMIN=127.0.0.1:" + p["6070"],
		"WEIR_CHECK_ADDR=127.0.0.1:" + p["8081"], "WEIR_CHECK_TIMEOUT=20s", "WEIR_DEADLINE=20s",
	}
	names := []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOSUMDB", "GOTOOLCHAIN"}
	values, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatalf("doctest: go env: %v", err)
	}
	for i, value := range strings.Split(strings.TrimSuffix(string(values), "\n"), "\n") {
		if i < len(names) && value != "" {
			env = append(env, names[i]+"="+value)
		}
	}
	return env
}

// mark is printed before every block. No program prints it.
func mark(i int) string { return fmt.Sprintf("\x01block %d\x01\n", i) }

// run runs the blocks in one bash and returns what each printed. Blocks that
// were not reached have no entry.
func run(t testing.TB, dir string, blocks []Block, env []string) (printed []string, err error) {
	t.Helper()
	var script strings.Builder
	script.WriteString("set -eu\n")
	for i, b := range blocks {
		fmt.Fprintf(&script, "printf '%%s' '%s'\n", mark(i))
		if b.Skipped == "" {
			script.WriteString(b.Script)
		}
	}
	file, log := dir+".sh", dir+".log"
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatalf("bash not found: apt-get install bash")
	}
	proc, err := proctest.Spawn(proctest.Command{
		Path: bash, Args: []string{file}, Dir: dir, Env: env, Log: log, Death: syscall.SIGTERM,
	})
	if err != nil {
		t.Fatalf("doctest: %v", err)
	}
	select {
	case <-proc.Done():
		err = proc.Err()
	case <-time.After(pageBound):
		err = fmt.Errorf("not done after %v", pageBound)
	}
	if left := leftover(proc); left != nil && err == nil {
		err = fmt.Errorf("the page leaves processes running: %v", left)
	}
	out, readErr := os.ReadFile(log)
	if readErr != nil {
		t.Fatal(readErr)
	}
	for i := range blocks {
		_, rest, ok := strings.Cut(string(out), mark(i))
		if !ok {
			break
		}
		rest, _, _ = strings.Cut(rest, mark(i+1))
		printed = append(printed, rest)
	}
	return printed, err
}

// leftover waits a little for what a page has told to stop, then returns and
// kills what is left.
func leftover(proc *proctest.Process) (left []string) {
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left = proc.Group()
		if len(left) == 0 || !proc.Exited() || time.Now().After(end) {
			break
		}
	}
	proc.KillGroup()
	return left
}

// check compares what was printed with what the page shows.
func check(t *testing.T, path string, blocks []Block, printed []string, err error) {
	t.Helper()
	for i, got := range printed {
		b := blocks[i]
		if b.Skipped != "" {
			continue
		}
		if line, ok := missing(b.Want, got); !ok {
			t.Errorf("%s:%d: the page shows\n\t%s\nwhich is not, or not in this place, in what was printed:\n%s", path, b.Line, line, got)
			return
		}
	}
	if err != nil {
		at := blocks[max(0, len(printed)-1)]
		t.Errorf("%s:%d: %v\n%s\nprinted\n%s", path, at.Line, err, at.Script, strings.Join(printed[max(0, len(printed)-1):], ""))
	}
}
