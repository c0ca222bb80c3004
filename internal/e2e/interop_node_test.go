package e2e

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// nodeModules installs what testdata/node locks, once for each lock, in the
// user's cache. It returns the directory of the modules.
func nodeModules(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatalf("%v: run make setup, which installs it", err)
	}
	sum := sha256.New()
	files := []string{"package.json", "package-lock.json"}
	texts := make(map[string][]byte)
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join("testdata", "node", name))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = sum.Write(text)
		texts[name] = text
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "weir-interop")
	home := filepath.Join(cache, hex.EncodeToString(sum.Sum(nil))[:16])
	modules := filepath.Join(home, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return modules
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(tmp, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("install the gRPC client of Node: npm ci in testdata/node: %v\n%s", err, out)
	}
	if err := os.Rename(tmp, home); err != nil {
		if _, there := os.Stat(modules); there != nil { // another test run was first
			t.Fatal(err)
		}
	}
	return modules
}

// node is a running testdata/node/client.js.
type node struct {
	in  io.Writer
	out *bufio.Scanner
}

// nodeAsk is what it is asked, and nodeAnswer what it says.
type (
	nodeAsk struct {
		Path     string `json:"path"`
		Message  string `json:"message"` // base64
		Timeout  int    `json:"timeout,omitempty"`
		Metadata int    `json:"metadata,omitempty"`
		Cancel   bool   `json:"cancel,omitempty"`
		Stream   bool   `json:"stream,omitempty"`
		Many     int    `json:"many,omitempty"`
	}
	nodeAnswer struct {
		Code    codes.Code `json:"-"`
		Number  uint32     `json:"code"`
		Details string     `json:"details"`
		Message string     `json:"message"`
	}
)

// startNode starts it, with the address of a server and for TLS the file of its
// authority.
func startNode(t *testing.T, args ...string) *node {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%v: run make setup, which installs it", err)
	}
	cmd := exec.CommandContext(t.Context(), path, append([]string{filepath.Join("testdata", "node", "client.js")}, args...)...)
	cmd.Env = append(os.Environ(), "NODE_PATH="+nodeModules(t))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs := &output{}
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // killed by the context, if it has not ended
		if errs.String() != "" {
			t.Errorf("node says: %s", errs.tail(4000))
		}
	})
	return &node{in: in, out: bufio.NewScanner(out)}
}

func (n *node) ask(t *testing.T, ask nodeAsk) nodeAnswer {
	t.Helper()
	line, err := json.Marshal(ask)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(n.in, "%s\n", line); err != nil {
		t.Fatal(err)
	}
	if !n.out.Scan() {
		t.Fatalf("node has ended: %v", n.out.Err())
	}
	var a nodeAnswer
	if err := json.Unmarshal(n.out.Bytes(), &a); err != nil {
		t.Fatalf("%s: %v", n.out.Bytes(), err)
	}
	a.Code = codes.Code(a.Number)
	return a
}

// call is a unaryCall.
func (n *node) call(t *testing.T, path string, msg []byte) ([]byte, codes.Code) {
	t.Helper()
	a := n.ask(t, nodeAsk{Path: path, Message: base64.StdEncoding.EncodeToString(msg)})
	b, err := base64.StdEncoding.DecodeString(a.Message)
	if err != nil {
		t.Fatal(err)
	}
	return b, a.Code
}

// TestInteropNode: @grpc/grpc-js, on Node's own HTTP/2.
func TestInteropNode(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testInteropNode)
}

func testInteropNode(t *testing.T) {
	w := serveTwo(t)
	n := startNode(t, w.grpc)
	interop(t, "node", true, n.call)

	health := healthv1.Health_Check_FullMethodName
	const serving = "CAE=" // field 1 is 1
	for _, c := range []struct {
		what string
		ask  nodeAsk
		want nodeAnswer
	}{
		{"large metadata", nodeAsk{Path: health, Metadata: 10_000}, nodeAnswer{Code: codes.OK, Message: serving}},
		{"a deadline that is far", nodeAsk{Path: health, Timeout: 60_000}, nodeAnswer{Code: codes.OK, Message: serving}},
		{"a deadline that is past", nodeAsk{Path: health, Timeout: -1}, nodeAnswer{Code: codes.DeadlineExceeded}},
		{"cancelled at once", nodeAsk{Path: health, Cancel: true}, nodeAnswer{Code: codes.Canceled}},
		{"a stream, cancelled", nodeAsk{Path: healthv1.Health_Watch_FullMethodName, Stream: true}, nodeAnswer{Code: codes.Canceled, Message: serving}},
	} {
		if a := n.ask(t, c.ask); a.Code != c.want.Code || a.Message != c.want.Message {
			t.Errorf("%s: %+v", c.what, a)
		}
	}
	// More than may be open at once: the client waits for its turn.
	if a := n.ask(t, nodeAsk{Path: health, Many: 1500}); a.Details != `{"0":1500}` {
		t.Errorf("1500 calls at once: %s", a.Details)
	}
}
