package h2conform

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/summerwind/h2spec/config"
	"github.com/summerwind/h2spec/generic"
	"github.com/summerwind/h2spec/hpack"
	"github.com/summerwind/h2spec/http2"
	"github.com/summerwind/h2spec/spec"

	"github.com/weirlimit/weir/internal/certtest"
	"github.com/weirlimit/weir/internal/fastlane"
)

// cases is how many there are: a suite that loses some on the way would pass.
const cases = 146

// timeout is how long a case waits for what should not come. What should come
// comes at once, unless the machine is very busy.
const timeout = 2 * time.Second

// TestConformance runs all of h2spec.
func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name string
		tls  *tls.Config
	}{
		{"cleartext", nil},
		{"tls", certificate(t)},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr := serve(t, c.tls)
			run := &runner{except: exceptions(t), config: config.Config{
				Host: addr.IP.String(), Port: addr.Port, Path: "/", Timeout: timeout, MaxHeaderLen: 4000,
				Strict: true, TLS: c.tls != nil, Insecure: true,
			}}
			for _, g := range []*spec.TestGroup{generic.Spec(), http2.Spec(), hpack.Spec()} {
				run.group(t, g)
			}
			if run.n != cases {
				t.Errorf("%d cases, not %d", run.n, cases)
			}
			for id := range run.except {
				t.Errorf("testdata/exceptions.txt: there is no case %s", id)
			}
		})
	}
}

func certificate(t *testing.T) *tls.Config {
	t.Helper()
	pair := certtest.New(t).Server(t, "127.0.0.1")
	return &tls.Config{Certificates: []tls.Certificate{pair.TLS(t)}, NextProtos: []string{"h2"}}
}

// serve serves plain requests: h2spec speaks no gRPC.
func serve(t *testing.T, secured *tls.Config) *net.TCPAddr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := fastlane.New(fastlane.Options{
		TLS: secured,
		Fallback: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return // many cases end in the middle of a request
			}
			_, _ = fmt.Fprint(w, "hello")
		}),
		Hooks: fastlane.Hooks{Panicked: func(v any, stack []byte) { t.Errorf("panic: %v\n%s", v, stack) }},
	})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return l.Addr().(*net.TCPAddr)
}

// runner runs groups of cases.
type runner struct {
	config config.Config
	except map[string]string // reasons by id, of what is still to come
	n      int
}

func (r *runner) group(t *testing.T, g *spec.TestGroup) {
	for i, c := range append(append([]*spec.TestCase(nil), g.Tests...), g.StrictTests...) {
		id := fmt.Sprintf("%s/%d", g.ID(), i+1)
		reason := r.except[id]
		delete(r.except, id)
		r.n++
		t.Run(id, func(t *testing.T) {
			t.Parallel() // those that wait, wait together
			r.one(t, c, reason)
		})
	}
	for _, sub := range g.Groups {
		r.group(t, sub)
	}
}

func (r *runner) one(t *testing.T, c *spec.TestCase, reason string) {
	config := r.config
	conn, err := spec.Dial(&config)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	defer conn.Close()
	err = c.Run(&config, conn)
	switch {
	case errors.Is(err, spec.ErrSkipped):
		t.Error("h2spec skipped it: the server does not give it what it needs")
	case err == nil && reason != "":
		t.Errorf("passes: take it from testdata/exceptions.txt, where it says %q", reason)
	case err != nil && reason == "":
		t.Errorf("%s\n%s\n%v", c.Desc, c.Requirement, err)
	}
}

// exceptions are the cases that do not pass, and why: an id and the reason on
// each line.
func exceptions(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/exceptions.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, reason, _ := strings.Cut(line, " ")
		if reason = strings.TrimSpace(reason); reason == "" || all[id] != "" {
			t.Errorf("testdata/exceptions.txt: %q has no reason, or is there twice", line)
		}
		all[id] = reason
	}
	return all
}
