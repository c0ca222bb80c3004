package e2e

import (
	"crypto/tls"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir/internal/certtest"
)

// shellBlocks returns the blocks of shell below a heading of a document.
func shellBlocks(t *testing.T, path, heading string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s has no %q", path, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var blocks []string
	for _, part := range strings.Split(section, "```sh\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		blocks = append(blocks, strings.ReplaceAll(block, "\\\n", " "))
	}
	return blocks
}

// TestDocumentedTLS does what docs/tls.md tells a first user: makes the
// certificates, serves with them, and asks as it says.
func TestDocumentedTLS(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testDocumentedTLS)
}

func testDocumentedTLS(t *testing.T) {
	for _, tool := range []string{"openssl", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s not found: run scripts/setup or apt-get install %s", tool, tool)
		}
	}
	blocks := shellBlocks(t, "../../docs/tls.md", "A trial")
	if len(blocks) != 4 {
		t.Fatalf("%d blocks, want 4: make, serve, ask, and what is refused", len(blocks))
	}
	dir := t.TempDir()
	shell := func(script string) (string, error) {
		cmd := exec.Command("sh", "-euc", script)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := shell(blocks[0]); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	args, ok := strings.CutPrefix(blocks[1], "weir serve ")
	if !ok {
		t.Fatalf("not a command to serve: %s", blocks[1])
	}
	w := newInstance(t)
	for arg := range strings.FieldsSeq(args) {
		if file := filepath.Join(dir, arg); exists(file) {
			arg = file
		}
		w.args = append(w.args, arg)
	}
	w.scheme, w.web = "https", trusting(t, filepath.Join(dir, "ca.crt"))
	w.start()
	w.awaitReady()

	here := strings.NewReplacer("127.0.0.1:8081", w.grpc, "127.0.0.1:8080", w.http, "127.0.0.1:6070", w.admin)
	for i, wanted := range map[int]bool{2: true, 3: false} {
		for line := range strings.Lines(blocks[i]) {
			if out, err := shell(here.Replace(line)); (err == nil) != wanted {
				t.Errorf("%s: %v\n%s", strings.TrimSpace(line), err, out)
			}
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// trusting is a client without a certificate of its own.
func trusting(t *testing.T, caFile string) *http.Client {
	t.Helper()
	text, err := os.ReadFile(caFile)
	if err != nil {
		t.Fatal(err)
	}
	d := &wardrobe{t: t}
	d.trust(&certtest.Authority{PEM: text})
	d.clientPair.Store(new(tls.Certificate))
	return d.httpClient(new(atomic.Int64))
}
