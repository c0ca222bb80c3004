package measure

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestField(t *testing.T) {
	file := filepath.Join(t.TempDir(), "info")
	if err := os.WriteFile(file, []byte("processor\t: 0\nmodel name\t: A: B\nmodel name\t: C\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, name, want string }{
		{file, "model name", "A: B"},
		{file, "processor", "0"},
		{file, "model", "unknown"},
		{file + ".gone", "model name", "unknown"},
	} {
		if got := field(c.file, c.name, ":"); got != c.want {
			t.Errorf("field %q = %q, want %q", c.name, got, c.want)
		}
	}
	if got := firstWord(file); got != "processor" {
		t.Errorf("firstWord = %q, want processor", got)
	}
	if got := firstWord(file + ".gone"); got != "unknown" {
		t.Errorf("firstWord of no file = %q, want unknown", got)
	}
}

func TestThisMachine(t *testing.T) {
	m := ThisMachine()
	if m.Cores != runtime.NumCPU() || m.Go == "" || m.CPU == "" || m.Memory == "" || m.System == "" || m.Load == "" {
		t.Errorf("%+v has a field that says nothing", m)
	}
}
