package reload_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/reload"
)

// pair wants two files that say the same.
func pair(c [][]byte) (string, error) {
	if string(c[0]) != string(c[1]) {
		return "", errors.New("the files differ")
	}
	return string(c[0]), nil
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T) (a, b string) {
	dir := t.TempDir()
	a, b = filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, a, "one")
	write(t, b, "one")
	return a, b
}

func TestLoadKeepsTheLastGood(t *testing.T) {
	a, b := files(t)
	f, err := reload.Open(pair, a, b)
	if err != nil || f.Get() != "one" {
		t.Fatal(err)
	}
	if changed, err := f.Load(); changed || err != nil {
		t.Errorf("nothing changed: %v, %v", changed, err)
	}
	write(t, a, "two")
	if changed, err := f.Load(); changed || err == nil || f.Get() != "one" {
		t.Errorf("half of the pair: %v, %v, %s", changed, err, f.Get())
	}
	if changed, err := f.Load(); changed || err != nil {
		t.Errorf("the same mistake is reported twice: %v, %v", changed, err)
	}
	write(t, b, "two")
	if changed, err := f.Load(); !changed || err != nil || f.Get() != "two" {
		t.Errorf("the whole pair: %v, %v, %s", changed, err, f.Get())
	}
	if err := os.Remove(a); err != nil {
		t.Fatal(err)
	}
	if changed, err := f.Load(); changed || err == nil || f.Get() != "two" {
		t.Errorf("a missing file: %v, %v, %s", changed, err, f.Get())
	}
	write(t, a, "two")
	if changed, err := f.Load(); !changed || err != nil || f.Get() != "two" {
		t.Errorf("back again, unchanged: %v, %v, %s", changed, err, f.Get())
	}
	if err := os.Remove(a); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Load(); err == nil {
		t.Error("missing again, and not told")
	}
}

func TestOpenFails(t *testing.T) {
	a, b := files(t)
	if _, err := reload.Open(pair, a, b+"x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
	write(t, b, "other")
	if _, err := reload.Open(pair, a, b); err == nil {
		t.Error("a file that does not parse")
	}
}

func TestWatch(t *testing.T) {
	a, b := files(t)
	f, err := reload.Open(pair, a, b)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	told, ended := make(chan error, 4), make(chan struct{})
	go func() {
		f.Watch(ctx, func(err error) { told <- err })
		close(ended)
	}()
	write(t, a, "two")
	f.Reload()
	select {
	case err := <-told:
		if err == nil {
			t.Error("half of the pair is no value")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("not told of a mistake")
	}
	write(t, b, "two") // seen without being asked to look
	select {
	case err := <-told:
		if err != nil || f.Get() != "two" {
			t.Errorf("%v, %s", err, f.Get())
		}
	case <-time.After(10 * time.Second):
		t.Fatal("not told of a change")
	}
	cancel()
	<-ended
}
