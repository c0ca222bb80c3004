package redisproc

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/redistest"
)

func TestRunServesAndStops(t *testing.T) {
	var srv *redistest.Server
	err := Run(func(s *redistest.Server) error {
		srv = s
		v, err := s.Do("PING")
		if v != "PONG" {
			t.Errorf("PING answered %v", v)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.Do("PING"); err == nil {
		t.Error("the server still answers after Run")
	}
}

func TestRunReturnsWhatFnReturns(t *testing.T) {
	want := errors.New("measured nothing")
	if err := Run(func(*redistest.Server) error { return want }); !errors.Is(err, want) {
		t.Errorf("Run = %v, want %v", err, want)
	}
}

// What ends a test is an error, and its cleanups run all the same.
func TestFatalIsAnError(t *testing.T) {
	var dir string
	err := With(func(tb testing.TB) error {
		dir = tb.TempDir()
		tb.Cleanup(func() { tb.Errorf("second") })
		tb.Fatalf("no %s", "server")
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "no server") || !strings.Contains(err.Error(), "second") {
		t.Errorf("With = %v, want both failures", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}
