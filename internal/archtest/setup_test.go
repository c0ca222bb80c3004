package archtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// machine is a PATH of stubs on which scripts/setup runs: it sees only the
// commands put there and can change nothing.
type machine struct {
	t   *testing.T
	bin string
	log string // what was run as root, a line each
}

// newMachine has all that setup looks for, an ordinary user and no sudo.
func newMachine(t *testing.T) *machine {
	dir := t.TempDir()
	m := &machine{t: t, bin: filepath.Join(dir, "bin"), log: filepath.Join(dir, "log")}
	if err := os.Mkdir(m.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{
		"bash", "cat", "chmod", "comm", "dirname", "find", "grep", "head", "mktemp", "rm", "sed", "sort", "tail", "tr",
	} {
		file, err := exec.LookPath(tool)
		if err != nil {
			t.Fatalf("the set-up script needs %s: %v", tool, err)
		}
		if err := os.Symlink(file, filepath.Join(m.bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	m.stub("go", "echo go1.99.1")
	m.stub("id", "echo 1000")
	for _, present := range []string{
		"gcc", "redis-server", "redis-cli", "openssl", "curl", "python3", "nginx", "caddy", "haproxy", "ip",
		"nghttp", "h2load", "node", "npm", "apt-get",
	} {
		m.stub(present, "exit 0")
	}
	return m
}

func (m *machine) stub(name, script string) {
	m.t.Helper()
	// bash's own path: the stub must not depend on the PATH it is found in.
	bash, err := exec.LookPath("bash")
	if err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.bin, name), []byte("#!"+bash+"\n"+script+"\n"), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) remove(names ...string) {
	m.t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(m.bin, name)); err != nil {
			m.t.Fatal(err)
		}
	}
}

// grantSudo lets setup be root; sudo then only notes what it was asked, but for
// apt-get, which does what the script says.
func (m *machine) grantSudo(aptGet string) {
	m.stub("apt-get", aptGet)
	m.stub("sudo", `
[ "$1" = -n ] || exit 1
shift
echo "$*" >>`+m.log+`
[ "$1" = env ] || exit 0
shift 2
exec "$@"`)
}

func (m *machine) setup() (output string, err error) {
	const script = root + "/scripts/setup"
	// go test sees this, not what bash reads: a cached pass ends with a new script.
	if _, err := os.Stat(script); err != nil {
		m.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(m.bin, "bash"), script)
	cmd.Env = []string{"PATH=" + m.bin, "TMPDIR=" + m.t.TempDir()}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

// rooted returns what was run as root and contains word.
func (m *machine) rooted(word string) []string {
	text, err := os.ReadFile(m.log)
	if err != nil {
		m.t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, word) {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestSetupSilentWhenNothingIsMissing(t *testing.T) {
	if out, err := newMachine(t).setup(); err != nil || out != "" {
		t.Errorf("setup = %v, %q; want success and silence", err, out)
	}
}

func TestSetupSaysWhatToInstall(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(*machine)
		want string
	}{
		{
			"no root",
			func(m *machine) { m.remove("redis-server") },
			"setup: missing redis-server; install with: sudo apt-get install redis-server\n",
		},
		{
			"no apt",
			func(m *machine) { m.remove("apt-get", "redis-server", "redis-cli", "gcc") },
			"setup: missing gcc redis-server redis-cli; install with: " +
				"sudo apt-get install gcc libc6-dev redis-server redis-tools\n",
		},
		{
			"compiler without headers",
			func(m *machine) { m.stub("gcc", "exit 1") },
			"setup: missing stdlib.h; install with: sudo apt-get install libc6-dev\n",
		},
		{
			"sudo asks for a password",
			func(m *machine) { m.remove("redis-cli"); m.stub("sudo", "exit 1") },
			"setup: missing redis-cli; install with: sudo apt-get install redis-tools\n",
		},
		{
			"old Go",
			func(m *machine) { m.stub("go", "echo go1.19.8") },
			"or newer is needed, found 1.19.8: see https://go.dev/dl/\n",
		},
		{
			"old Go that refuses the module",
			func(m *machine) {
				m.stub("go", "echo 'go: go.mod requires go >= 1.26 (running go 1.24.1; GOTOOLCHAIN=local)' >&2; exit 1")
			},
			"or newer is needed, found 1.24.1: see https://go.dev/dl/\n",
		},
		{
			"no Go",
			func(m *machine) { m.remove("go") },
			"or newer is needed, found none: see https://go.dev/dl/\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newMachine(t)
			tc.make(m)
			out, err := m.setup()
			if err == nil || !strings.HasSuffix(out, tc.want) {
				t.Errorf("setup = %v, %q; want failure and %q", err, out, tc.want)
			}
		})
	}
}

func TestSetupInstalls(t *testing.T) {
	m := newMachine(t)
	m.remove("redis-server")
	made := filepath.Join(m.bin, "redis-server")
	m.grantSudo(": >" + made + "; chmod +x " + made)
	if out, err := m.setup(); err != nil {
		t.Fatalf("setup: %v\n%s", err, out)
	}
	if got := m.rooted("apt-get"); len(got) != 1 ||
		!strings.Contains(got[0], "DEBIAN_FRONTEND=noninteractive") ||
		!strings.HasSuffix(got[0], " install -y --no-install-recommends redis-server\n") {
		t.Errorf("apt-get ran as %q, want one install of redis-server and no update", got)
	}

	// A machine without a policy gets one that forbids services, for the while.
	want := 2
	if _, err := os.Stat("/usr/sbin/policy-rc.d"); err == nil {
		want = 0
	}
	if got := m.rooted("/usr/sbin/policy-rc.d"); len(got) != want {
		t.Errorf("policy-rc.d touched by %q, want %d commands", got, want)
	}
}

func TestSetupUpdatesStaleListsOnce(t *testing.T) {
	m := newMachine(t)
	m.remove("redis-server")
	made := filepath.Join(m.bin, "redis-server")
	m.grantSudo(`
case "$*" in
  *update*) : >` + made + `.listed ;;
  *) [ -e ` + made + `.listed ] && : >` + made + ` && chmod +x ` + made + ` ;;
esac`)
	if out, err := m.setup(); err != nil {
		t.Fatalf("setup: %v\n%s", err, out)
	}
	if got := m.rooted("apt-get"); len(got) != 3 || !strings.HasSuffix(got[1], " update\n") {
		t.Errorf("apt-get ran as %q, want install, update, install", got)
	}
}

func TestSetupBelievesTheMachine(t *testing.T) {
	m := newMachine(t)
	m.remove("redis-server")
	m.grantSudo("exit 0")
	out, err := m.setup()
	if want := "setup: still missing after installation: redis-server\n"; err == nil || !strings.HasSuffix(out, want) {
		t.Errorf("setup with an apt-get that does nothing = %v, %q; want failure and %q", err, out, want)
	}
}

func TestSetupShowsWhyAptFailed(t *testing.T) {
	m := newMachine(t)
	m.remove("redis-server")
	m.grantSudo("echo 'E: no space left' >&2; exit 100")
	out, err := m.setup()
	if err == nil || !strings.Contains(out, "no space left") ||
		!strings.Contains(out, "by hand: sudo apt-get install redis-server") {
		t.Errorf("setup = %v, %q; want apt's own words and the way out", err, out)
	}
}
