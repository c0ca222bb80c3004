package main

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/redisstore"
)

const guardWarning = `msg="redis does not keep what limits need: maxmemory-policy is allkeys-lru`

// TestStoreGuard: it warns once at the start and once per return, with the words
// of weir doctor, and only where there is something to warn of.
func TestStoreGuard(t *testing.T) {
	srv := redistest.Start(t, redistest.WithACL("default on nopass ~* &* +@all", "blind on >hush ~* &* +@all -info"))
	text := new(logText)
	log := slog.New(slog.NewTextHandler(text, nil))
	g := storeGuard{options: &redisstore.Options{Addrs: []string{srv.Addr()}}}
	look := func(away bool, warnings int) {
		t.Helper()
		g.look(t.Context(), away, log)
		if got := strings.Count(text.String(), "level="); got != warnings || got != strings.Count(text.String(), guardWarning) {
			t.Fatalf("%d lines, want %d:\n%s", got, warnings, text)
		}
	}
	look(false, 0)
	srv.ConfigSet("maxmemory-policy", "allkeys-lru")
	look(false, 0) // it was looked at
	look(true, 0)
	look(false, 1)
	look(false, 1)
	look(true, 1)
	look(false, 2)
	if !strings.Contains(text.String(), "noeviction") || !strings.Contains(text.String(), "nodes="+srv.Addr()) {
		t.Errorf("neither what to do nor where:\n%s", text)
	}

	g = storeGuard{} // in memory
	look(false, 2)
	g = storeGuard{options: &redisstore.Options{Addrs: []string{srv.Addr()}, Credentials: redisstore.Password("blind", "hush")}}
	look(false, 2) // what it may not ask is not told every time
	srv.Stop()
	g.looked = false
	look(false, 2)
}

// TestServeWarnsOfEviction: a server starts on such a Redis, and says so.
func TestServeWarnsOfEviction(t *testing.T) {
	srv := redistest.Start(t, redistest.WithConfig("maxmemory-policy", "allkeys-lru"))
	r := startServe(t, "--redis", srv.Addr())
	r.log.await(t, guardWarning)
	srv.Stop()
	r.log.await(t, "the store does not answer")
	if n := strings.Count(r.log.String(), guardWarning); n != 1 {
		t.Errorf("warned %d times", n)
	}
	srv.Restart()
	r.log.await(t, "the store answers")
	for end := time.Now().Add(20 * time.Second); strings.Count(r.log.String(), guardWarning) < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not warned again")
		}
	}
}
