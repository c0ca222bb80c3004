package saltfile_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pseudonym"
	"github.com/weirlimit/weir/internal/saltfile"
)

// TestRefusedForNow: a rotation that was made by a clock that is a little ahead is
// refused while the salt that it drops is needed, and comes into force as soon as
// it is not. An instance that stayed without it would name its counters by
// another salt than all others, from the next instant on.
func TestRefusedForNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := func() weir.Micros { return weir.MicrosAt(time.Now()) }
		first, err := saltfile.Make(now(), weir.Minute, 10*weir.Minute)
		if err != nil {
			t.Fatal(err)
		}
		second, err := saltfile.Rotate(first, now(), now()+weir.Hour)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "salts.yaml")
		if err := saltfile.Create(path, second); err != nil {
			t.Fatal(err)
		}
		file, err := saltfile.Follow(path, func(saltfile.Loaded) {})
		if err != nil {
			t.Fatal(err)
		}
		until, _ := second.NeededUntil(0)
		time.Sleep((until - now() - 2*weir.Second).Duration()) // as this clock has it
		ahead := now() + 3*weir.Second                         // as that of the operator's machine has it
		third, err := saltfile.Rotate(second, ahead, ahead+weir.Hour)
		if err != nil || len(third.Config().Salts) != 2 {
			t.Fatalf("%v, %v", third, err)
		}
		if err := os.WriteFile(path, saltfile.Text(third), 0o600); err != nil {
			t.Fatal(err)
		}
		_, refused := file.Load()
		if refused == nil {
			t.Fatal("a salt that is needed was dropped")
		}
		for range 10 { // a Watch looks every second
			time.Sleep(time.Second)
			if _, err := file.Load(); err != nil {
				t.Errorf("told again: %v", err)
			}
		}
		newest := func(r *pseudonym.Ring) string { s := r.Config().Salts; return s[len(s)-1].ID }
		if newest(file.Get()) != newest(third) {
			t.Errorf("8 s after the old salt was needed last, the new one is still not known: the file is never looked at again")
		}
	})
}
