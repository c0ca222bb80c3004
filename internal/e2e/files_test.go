package e2e

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

// write writes a file as a careful deployer does: another one, renamed into
// place. The name of the other is one that no loader reads.
func write(t *testing.T, path, text string) {
	t.Helper()
	tmp := path + ".tmp~"
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
}

// config is what /config says.
type config struct {
	Version  string
	Serial   int
	Rules    int
	LoadedAt time.Time `json:"loaded_at"`
	Rejected bool
	Files    []struct {
		Name  string
		State string
	}
	Problems []struct {
		File     string
		Line     int
		Column   int
		Severity string
		Message  string
		Hint     string
	}
}

func (w *instance) config() config {
	w.t.Helper()
	var c config
	if err := json.Unmarshal([]byte(w.page("/config")), &c); err != nil {
		w.t.Fatal(err)
	}
	return c
}
