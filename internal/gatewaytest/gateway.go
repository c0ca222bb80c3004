package gatewaytest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weirlimit/weir/internal/proctest"
)

// Gateway is a running gateway.
type Gateway struct{ server }

// Addr is where it listens.
func (g *Gateway) Addr() string { return g.addr }

// Pid is its process, which may have workers.
func (g *Gateway) Pid() int { return g.proc.Pid() }

// Stop ends it and its workers.
func (g *Gateway) Stop() { g.stop() }

// newGateway has a directory and a log. Workers that are not root must get into
// the directory too.
func newGateway(t testing.TB, addr string) (g *Gateway, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Gateway{server{t: t, addr: addr, command: proctest.Command{
		Dir: dir, Log: filepath.Join(dir, "log"), Death: syscall.SIGTERM,
		// What a user has set for himself is not for the test's gateway.
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir},
	}}}, dir
}

// StartNginx runs nginx with a configuration that listens at addr.
func StartNginx(t testing.TB, addr, conf string) *Gateway {
	t.Helper()
	g, dir := newGateway(t, addr)
	g.command.Path = program(t, "nginx", "nginx-light")
	g.command.Args = []string{
		"-p", dir, "-e", "stderr", "-c", write(t, filepath.Join(dir, "nginx.conf"), conf), "-g", "daemon off;",
	}
	g.start()
	return g
}

// StartCaddy runs Caddy with a Caddyfile that listens at addr.
func StartCaddy(t testing.TB, addr, caddyfile string) *Gateway {
	t.Helper()
	g, dir := newGateway(t, addr)
	g.command.Path = program(t, "caddy", "caddy")
	g.command.Args = []string{
		"run", "--adapter", "caddyfile", "--config", write(t, filepath.Join(dir, "Caddyfile"), caddyfile),
	}
	g.start()
	return g
}

// StartHAProxy runs HAProxy with a configuration that listens at addr and loads
// examples/haproxy/weir.lua, in whose place it gets lua. The socket between the
// two is the machine's, so it gets a name of its own.
func StartHAProxy(t testing.TB, addr, conf, lua string) *Gateway {
	t.Helper()
	g, dir := newGateway(t, addr)
	g.command.Path = program(t, "haproxy", "haproxy")
	socket := strings.NewReplacer("abns@weir", "abns@weir-"+strings.ReplaceAll(addr, ":", "-"))
	script := write(t, filepath.Join(dir, "weir.lua"), socket.Replace(lua))
	conf = strings.ReplaceAll(socket.Replace(conf), "examples/haproxy/weir.lua", script)
	g.command.Args = []string{"-db", "-f", write(t, filepath.Join(dir, "haproxy.cfg"), conf)}
	g.start()
	return g
}
