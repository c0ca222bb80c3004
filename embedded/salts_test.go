package embedded_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/embedded"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/internal/saltfile"
	"github.com/weirlimit/weir/redisstore"
)

const perAddress = "policies:\n  - {id: per-ip, by: [ip], limits: [2/h], on_failure: closed}\n"

func fromAddress() *weir.Request {
	return &weir.Request{Domain: "default", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "ip", Value: "203.0.113.7"}}}}}
}

// TestSaltFile: programs that share a store and a file of salts share counters,
// whose names do not tell the address; another file names other counters.
func TestSaltFile(t *testing.T) {
	server := redistest.Start(t)
	store, err := redisstore.New(t.Context(), redisstore.Options{Addrs: []string{server.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	files := [2]string{filepath.Join(t.TempDir(), "a.yaml"), filepath.Join(t.TempDir(), "b.yaml")}
	for _, path := range files {
		ring, err := saltfile.Make(1, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := saltfile.Create(path, ring); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []struct {
		file int
		left int64
	}{{0, 1}, {0, 0}, {1, 1}} {
		l, err := embedded.Parse(perAddress, embedded.WithStore(store), embedded.WithSaltFile(files[want.file]), embedded.WithDeadline(10*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		var d weir.Decision
		if err := l.Check(context.Background(), fromAddress(), &d); err != nil || !d.Allowed() || d.Remaining != want.left {
			t.Errorf("program %d: %+v, %v", i, d, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	keys := fmt.Sprint(server.MustDo("KEYS", "*"))
	if strings.Contains(keys, "203.0.113.7") || strings.Count(keys, "per-ip") != 2 {
		t.Errorf("keys %s", keys)
	}
}

func TestSaltFileThatIsWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "salts.yaml")
	for _, text := range []string{"", "salts: 7\n"} {
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if l, err := embedded.Parse(perAddress, embedded.WithSaltFile(path)); err == nil {
			t.Errorf("%q is taken", text)
			_ = l.Close()
		}
	}
}

// TestWithPrivate: what is not private is part of the key as it is.
func TestWithPrivate(t *testing.T) {
	server := redistest.Start(t)
	store, err := redisstore.New(t.Context(), redisstore.Options{Addrs: []string{server.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	l, err := embedded.Parse(perAddress, embedded.WithStore(store), embedded.WithPrivate(), embedded.WithDeadline(10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var d weir.Decision
	if err := l.Check(context.Background(), fromAddress(), &d); err != nil || !d.Allowed() {
		t.Fatalf("%+v, %v", d, err)
	}
	if keys := fmt.Sprint(server.MustDo("KEYS", "*")); !strings.Contains(keys, "203.0.113.7") {
		t.Errorf("keys %s", keys)
	}
}
