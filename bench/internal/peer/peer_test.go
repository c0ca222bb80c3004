package peer

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/redistest"
)

// few is a limit that this test can exhaust; none of it comes back meanwhile.
var few = Limit{Count: 5, Period: 365 * 24 * time.Hour}

func TestMemoryPeersLimit(t *testing.T) {
	for _, p := range InMemory() {
		t.Run(p.Name, func(t *testing.T) {
			l, err := p.New(few, 10)
			mustLimit(t, l, err)
		})
	}
}

func TestRedisPeersLimit(t *testing.T) {
	srv := redistest.Start(t)
	for _, p := range append(OnRedis(), OneHotKey()...) {
		t.Run(p.Name, func(t *testing.T) {
			srv.MustDo("FLUSHALL")
			l, err := p.New(t.Context(), srv.Addr(), few)
			mustLimit(t, l, err)
		})
	}
}

// mustLimit checks that l admits exactly the limit's units, per key.
func mustLimit(t *testing.T, l Limiter, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b"} {
		if got := admitted(t, l, key, int(few.Count)+3); got != int(few.Count) {
			t.Errorf("key %s: admitted %d of %d, want %d", key, got, few.Count+3, few.Count)
		}
	}
	if err := l.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func admitted(t *testing.T, l Limiter, key string, n int) int {
	t.Helper()
	count := 0
	for i := range n {
		ok, err := l.Allow(context.Background(), key)
		if err != nil {
			t.Fatalf("check %d of key %s: %v", i, key, err)
		}
		if ok {
			count++
		}
		// Nothing passes after a denial: what was admitted is a prefix.
		if ok && count != i+1 {
			t.Errorf("check %d of key %s passes after a denial", i, key)
		}
	}
	return count
}

// Every peer has a name of its own: rows are found by it.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	check := func(store, name string) {
		if id := fmt.Sprintf("%s/%s", store, name); name == "" || seen[id] {
			t.Errorf("%s peer %q has no name of its own", store, name)
		} else {
			seen[id] = true
		}
	}
	for _, p := range InMemory() {
		check("memory", p.Name)
	}
	for _, p := range OnRedis() {
		check("redis", p.Name)
	}
	for _, p := range OneHotKey() {
		check("local", p.Name)
	}
}
