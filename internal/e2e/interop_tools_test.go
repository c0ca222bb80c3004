package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// tool runs a program that scripts/setup installs.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v: run make setup, which installs it", err)
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, &out, &errs)
	}
	return out.String()
}

// file makes a file of a message.
func file(t *testing.T, msg []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "message")
	if err := os.WriteFile(path, prefixed(msg), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var grpcStatus = regexp.MustCompile(`(?m)grpc-status: ([0-9]+)\s*$`)

// statusIn finds the one status there is.
func statusIn(t *testing.T, text string) codes.Code {
	t.Helper()
	found := grpcStatus.FindAllStringSubmatch(text, -1)
	if len(found) != 1 {
		t.Fatalf("%d statuses in %s", len(found), text)
	}
	n, err := strconv.Atoi(found[0][1])
	if err != nil {
		t.Fatal(err)
	}
	return codes.Code(n)
}

// TestInteropCurl: curl, which prints what comes after a body with the fields
// before it. Versions of it fail when a stream is answered before all of the
// request was sent and then reset without an error, as RFC 9113 has it and
// grpc-go does too: such calls are left to the other clients.
func TestInteropCurl(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testInteropCurl)
}

func testInteropCurl(t *testing.T) {
	w := serveTwo(t)
	interop(t, "curl", false, curl("http://"+w.grpc, "--http2-prior-knowledge"))
}

// curl makes calls with curl.
func curl(url string, args ...string) unaryCall {
	return func(t *testing.T, path string, msg []byte) ([]byte, codes.Code) {
		t.Helper()
		fields, body := curled(t, url+path, msg, args...)
		return unprefixed(t, body), statusIn(t, fields)
	}
}

// curled is what curl got: the fields before and after the body, and the body.
func curled(t *testing.T, url string, msg []byte, args ...string) (fields string, body []byte) {
	t.Helper()
	dir := t.TempDir()
	tool(t, "curl", append(args, "-sS", "--noproxy", "*", "--max-time", "30", "-H", "content-type: application/grpc", "-H", "te: trailers",
		"--data-binary", "@"+file(t, msg), "-D", dir+"/fields", "-o", dir+"/body", url)...)
	b, err := os.ReadFile(dir + "/fields")
	if err != nil {
		t.Fatal(err)
	}
	if fields = string(b); !strings.HasPrefix(fields, "HTTP/2 200") || !strings.Contains(fields, "content-type: application/grpc") {
		t.Errorf("%s: %s", url, fields)
	}
	body, _ = os.ReadFile(dir + "/body") // a failed call has none
	return fields, body
}

// nghttpAt runs nghttp with a server's address.
func nghttpAt(url string) nghttp {
	return func(t *testing.T, path string, msg []byte, more ...string) string {
		t.Helper()
		args := append(more, "-t", "30", "-H", "content-type: application/grpc", "-H", "te: trailers", "-d", file(t, msg), url+path)
		return tool(t, "nghttp", args...)
	}
}

type nghttp func(t *testing.T, path string, msg []byte, more ...string) string

// call is a unaryCall.
func (n nghttp) call(t *testing.T, path string, msg []byte) ([]byte, codes.Code) {
	t.Helper()
	if out := n(t, path, msg); out != "" {
		return unprefixed(t, []byte(out)), codes.OK
	}
	return nil, statusIn(t, n(t, path, msg, "-nv")) // again, without harm: it failed
}

// TestInteropNghttp: nghttp2's client, which begins with priorities of streams
// that never come, and its load generator.
func TestInteropNghttp(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testInteropNghttp)
}

func testInteropNghttp(t *testing.T) {
	w := serveTwo(t)
	nghttp := nghttpAt("http://" + w.grpc)
	interop(t, "nghttp", true, nghttp.call)

	health := healthv1.Health_Check_FullMethodName
	for _, more := range [][]string{
		{"-nv"},
		{"-nv", "--window-bits=1"},
		{"-nv", "--connection-window-bits=30"},
		{"-nv", "--padding=200"},
		{"-nv", "--header-table-size=0"},
		{"-nv", "--header-table-size=65536"},
		{"-nv", "--no-content-length"},
		{"-nv", "--no-dep"},
	} {
		if out := nghttp(t, health, nil, more...); statusIn(t, out) != codes.OK || !strings.Contains(out, "DATA frame <length=") {
			t.Errorf("%v: %s", more, out)
		}
	}
	if engineOf(t) == "fast" { // grpc-go ends the connection
		if out := nghttp(t, health, nil, "-nv", "--trailer=x: y"); statusIn(t, out) != codes.OK {
			t.Errorf("fields after the message: %s", out)
		}
		if out := nghttp(t, health, nil, "-nv", "--continuation"); !strings.Contains(out, ":status: 431") { // 24 KiB of fields
			t.Errorf("fields beyond the bound: %s", out)
		}
	}
	nghttp(t, health, nil, "-n", "-m", "100")

	out := tool(t, "h2load", "-n", "5000", "-c", "5", "-m", "100", "-H", "content-type: application/grpc", "-H", "te: trailers",
		"-d", file(t, nil), "http://"+w.grpc+health)
	for _, want := range []string{"5000 succeeded, 0 failed, 0 errored, 0 timeout", "status codes: 5000 2xx", "(35000) data"} {
		if !strings.Contains(out, want) {
			t.Errorf("h2load does not say %q:\n%s", want, out)
		}
	}
}
