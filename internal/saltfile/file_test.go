package saltfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
	"github.com/weirlimit/weir/internal/saltfile"
)

func made(t *testing.T, now weir.Micros) *pseudonym.Ring {
	t.Helper()
	r, err := saltfile.Make(now, 2*weir.Second, 10*weir.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func rotated(t *testing.T, r *pseudonym.Ring, now, from weir.Micros) *pseudonym.Ring {
	t.Helper()
	next, err := saltfile.Rotate(r, now, from)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func TestMakeIsRandom(t *testing.T) {
	a, b := made(t, 0).Config(), made(t, 0).Config()
	if a.Slots == b.Slots || a.Salts[0].Secret == b.Salts[0].Secret || a.Slots == a.Salts[0].Secret {
		t.Error("secrets repeat")
	}
}

func TestRotate(t *testing.T) {
	const now, over = 1_800_000_000 * weir.Second, 6*weir.Second + 10*weir.Minute
	one := made(t, now)
	for _, early := range []weir.Micros{0, 4*weir.Second - 1} {
		if _, err := saltfile.Rotate(one, now, now+early); err == nil || !strings.Contains(err.Error(), "give it 4s or more") {
			t.Errorf("in %v: %v", early, err)
		}
	}
	two := rotated(t, one, now, now+4*weir.Second)
	at := now + 4*weir.Second
	if err := one.Accept(two, now); err != nil {
		t.Error(err)
	}
	_, err := saltfile.Rotate(two, at, at+over-1)
	if e, ok := errors.AsType[*weir.Error](err); !ok || e.Field != "in" || !strings.Contains(e.Hint, "or lower retention") {
		t.Errorf("too early after the last: %v", err)
	}
	// The first salt is kept as long as it is needed, and no longer.
	if three := rotated(t, two, at+over-1, at+weir.Hour); len(three.Config().Salts) != 3 {
		t.Errorf("%d salts", len(three.Config().Salts))
	}
	three := rotated(t, two, at+over, at+weir.Hour)
	if c := three.Config(); len(c.Salts) != 2 || c.Salts[0] != two.Config().Salts[1] || c.Slots != one.Config().Slots {
		t.Errorf("%v", c)
	}
	if err := two.Accept(three, at+over); err != nil {
		t.Error(err)
	}
}

func TestCreateAndReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "salts.yaml")
	one := made(t, 0)
	if err := saltfile.Create(path, one); err != nil {
		t.Fatal(err)
	}
	if err := saltfile.Create(path, made(t, 0)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another file: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || saltfile.Warning(path) != "" {
		t.Errorf("mode %v, %v, %s", info.Mode(), err, saltfile.Warning(path))
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if w := saltfile.Warning(path); !strings.Contains(w, "(mode 0644): chmod 600 it") {
		t.Errorf("warning %q", w)
	}
	link := path + "-link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	two := rotated(t, one, 0, weir.Hour)
	if err := saltfile.Replace(link, two); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if info, _ := os.Lstat(link); err != nil || string(data) != string(saltfile.Text(two)) || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("%v, %v:\n%s", err, info.Mode(), data)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, want the one it had", info.Mode())
	}
	if list, _ := os.ReadDir(filepath.Dir(path)); len(list) != 2 {
		t.Errorf("%d files are left, want 2", len(list))
	}
}

func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "salts.yaml")
	if _, err := saltfile.Follow(path, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
	now := weir.MicrosAt(time.Now())
	one := made(t, now-weir.Day)
	if err := saltfile.Create(path, one); err != nil {
		t.Fatal(err)
	}
	var news []saltfile.Loaded
	f, err := saltfile.Follow(path, func(l saltfile.Loaded) { news = append(news, l) })
	if err != nil || len(news) != 1 || news[0].Ring != f.Get() || news[0].Late != nil || news[0].Warning != "" {
		t.Fatalf("%+v, %v", news, err)
	}
	load := func(r *pseudonym.Ring) error {
		t.Helper()
		if err := saltfile.Replace(path, r); err != nil {
			t.Fatal(err)
		}
		_, err := f.Load()
		return err
	}
	// Another fleet's salts would reset every counter; a file that is wrong has none.
	had := f.Get()
	if err := load(made(t, now)); err == nil || f.Get() != had || !strings.Contains(err.Error(), path) {
		t.Errorf("other salts: %v", err)
	}
	if err := os.WriteFile(path, []byte("salts: []"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Load(); err == nil || f.Get() != had {
		t.Errorf("no salts: %v", err)
	}
	two := rotated(t, one, now, now+weir.Hour)
	if err := load(two); err != nil || len(news) != 2 || news[1].Late != nil || len(f.Get().Config().Salts) != 2 {
		t.Errorf("in time: %v, %+v", err, news)
	}
	if err := load(one); err != nil { // not in force yet, and so it may go
		t.Error(err)
	}
	late := rotated(t, one, now-weir.Hour, now-weir.Minute)
	if err := load(late); err != nil || len(news) != 4 || len(news[3].Late) != 1 || news[3].Late[0].ID != late.Config().Salts[1].ID {
		t.Errorf("late: %v, %+v", err, news)
	}
	if err := load(one); err == nil || len(f.Get().Config().Salts) != 2 {
		t.Errorf("a salt in use goes: %v", err)
	}
}
