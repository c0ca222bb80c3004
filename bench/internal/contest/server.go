package contest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/proctest"
)

// Programs are the paths of what is measured.
type Programs struct{ Weir, Ratelimit string }

// server is a running system.
type server struct {
	proc  *proctest.Process
	addr  string      // of gRPC
	tls   *tls.Config // nil for none
	admin *admin      // Weir's pages; nil for the peer
	log   string
	free  []func() // ports
}

// launch is what a server is started with.
type launch struct {
	programs Programs
	system   System
	root     string // config below rl/config; the log is beside it
	redis    string // address
	certs    *certificates
}

// startBound is for 100k rules on a busy machine.
const startBound = 60 * time.Second

// start runs a system and returns once it answers.
func start(ctx context.Context, l launch) (*server, error) {
	s := &server{log: filepath.Join(l.root, "server.log")}
	var ports [3]string // gRPC, HTTP, admin
	for i := range ports {
		p, free, err := proctest.HoldPort()
		if err != nil {
			return nil, errors.Join(err, s.stop())
		}
		s.free = append(s.free, free)
		ports[i] = strconv.Itoa(p)
	}
	s.addr = net.JoinHostPort("127.0.0.1", ports[0])
	if l.system.TLS {
		s.tls = l.certs.client()
	}
	cmd := l.peer(ports)
	if l.system.Ours {
		cmd = l.weir(ports)
		s.admin = newAdmin(net.JoinHostPort("127.0.0.1", ports[2]), s.tls)
	}
	cmd.Log = s.log
	if err := os.Remove(s.log); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(err, s.stop())
	}
	var err error
	if s.proc, err = proctest.Spawn(cmd); err == nil {
		err = s.ready(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", l.system.Name, err), s.stop())
	}
	return s, nil
}

// environment is what every server gets: settings of the caller's shell are none
// of theirs.
func environment(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir()}, more...)
}

func (l launch) peer(ports [3]string) proctest.Command {
	env := environment(
		"GRPC_HOST=127.0.0.1", "GRPC_PORT="+ports[0],
		"HOST=127.0.0.1", "PORT="+ports[1],
		"DEBUG_HOST=127.0.0.1", "DEBUG_PORT="+ports[2],
		"RUNTIME_ROOT="+l.root, "RUNTIME_SUBDIRECTORY=rl", "RUNTIME_WATCH_ROOT=false",
		"REDIS_SOCKET_TYPE=tcp", "REDIS_URL="+l.redis,
		"LOG_LEVEL=error", "USE_STATSD=false", "DISABLE_STATS=true",
	)
	if l.system.TLS {
		env = append(env, "GRPC_SERVER_USE_TLS=true", "GRPC_SERVER_TLS_CERT="+l.certs.cert, "GRPC_SERVER_TLS_KEY="+l.certs.key)
	}
	return proctest.Command{Path: l.programs.Ratelimit, Dir: l.root, Env: append(env, l.system.Env...)}
}

func (l launch) weir(ports [3]string) proctest.Command {
	args := []string{
		"serve", "--config", filepath.Join(l.root, "rl", "config"),
		"--grpc", "127.0.0.1:" + ports[0], "--http", "127.0.0.1:" + ports[1], "--admin", "127.0.0.1:" + ports[2],
		"--log-level", "error",
	}
	if !l.system.Memory {
		// The peer waits for Redis for 10 s: no request is to be answered without it.
		args = append(args, "--redis", l.redis, "--deadline", "1s")
	}
	if l.system.TLS {
		args = append(args, "--tls-cert", l.certs.cert, "--tls-key", l.certs.key)
	}
	return proctest.Command{Path: l.programs.Weir, Dir: l.root, Env: environment(), Args: slices.Concat(args, l.system.Args)}
}

// dial makes a client of the ordinary kind.
func (s *server) dial() (*grpc.ClientConn, error) {
	creds := insecure.NewCredentials()
	if s.tls != nil {
		creds = credentials.NewTLS(s.tls)
	}
	return grpc.NewClient(s.addr, grpc.WithTransportCredentials(creds))
}

// ready waits until a request that matches nothing is answered: the files are
// loaded, and Redis has not been asked.
func (s *server) ready(ctx context.Context) (err error) {
	nothing := request(domain, 1, []weir.Pair{{Name: "ready", Value: "1"}})
	for deadline := time.Now().Add(startBound); ; time.Sleep(20 * time.Millisecond) {
		// Another client each time: one that was refused waits before it tries again.
		err := s.try(ctx, &nothing)
		switch {
		case err == nil:
			return nil
		case s.proc.Exited():
			return fmt.Errorf("it ended (%v); its log ends: %s", s.proc.Err(), s.logTail())
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(deadline):
			return fmt.Errorf("it does not answer: %w; its log ends: %s", err, s.logTail())
		}
	}
}

func (s *server) try(ctx context.Context, r *weir.Request) (err error) {
	conn, err := s.dial()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	_, err = askOne(ctx, rlsv3.NewRateLimitServiceClient(conn), r)
	return err
}

func (s *server) logTail() string {
	b, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	const tail = 2 << 10
	return string(b[max(0, len(b)-tail):])
}

// stop ends the server and gives its ports back.
func (s *server) stop() (err error) {
	if s.proc != nil {
		err = s.proc.Kill()
	}
	if s.admin != nil {
		s.admin.client.CloseIdleConnections()
	}
	for _, free := range s.free {
		free()
	}
	return err
}
