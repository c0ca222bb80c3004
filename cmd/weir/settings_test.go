package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// fakeServe is a command with flags of every kind that serve has.
type fakeServe struct {
	*cobra.Command
	name     string
	list     []string
	wait     time.Duration
	on       bool
	settings string
}

func newFakeServe() *fakeServe {
	f := &fakeServe{Command: &cobra.Command{Use: "serve"}}
	flags := f.Flags()
	flags.StringVar(&f.name, "name", "nobody", "")
	flags.StringArrayVar(&f.list, "list", []string{"default"}, "")
	flags.DurationVar(&f.wait, "wait", time.Second, "")
	flags.BoolVar(&f.on, "on", false, "")
	flags.StringVar(&f.settings, settingsFlag, "", "")
	for _, name := range []string{"name", "list", "wait", "on", settingsFlag} {
		fromEnv(flags, name, "WEIR_"+strings.ToUpper(name))
	}
	return f
}

// apply writes text to a file and applies it.
func (f *fakeServe) apply(t *testing.T, text string) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weir.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return applySettings(f.Command, path)
}

func TestSettings(t *testing.T) {
	type values struct {
		name string
		list []string
		wait time.Duration
		on   bool
	}
	unset := values{"nobody", []string{"default"}, time.Second, false}
	for text, want := range map[string]values{
		"":             unset,
		"# nothing\n":  unset,
		"name: x":      {"x", unset.list, unset.wait, false},
		"name: 12":     {"12", unset.list, unset.wait, false},
		`name: ""`:     {"", unset.list, unset.wait, false},
		"list: a":      {"nobody", []string{"a"}, unset.wait, false},
		"list: [a, b]": {"nobody", []string{"a", "b"}, unset.wait, false},
		"list: []":     {"nobody", []string{}, unset.wait, false},
		"{name: x, wait: 2m, on: true, list: [\"a,b\"]}": {"x", []string{"a,b"}, 2 * time.Minute, true},
		"name: &n x\nlist: [*n, y]":                      {"x", []string{"x", "y"}, unset.wait, false},
	} {
		f := newFakeServe()
		err := f.apply(t, text)
		if got := (values{f.name, f.list, f.wait, f.on}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// TestSettingsComeLast: what a flag or a variable says is not undone.
func TestSettingsComeLast(t *testing.T) {
	f := newFakeServe()
	if err := f.ParseFlags([]string{"--name", "flag", "--list", "flag"}); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"WEIR_NAME": "env", "WEIR_WAIT": "3s"}
	if err := applyEnv(f.Command, func(name string) (string, bool) { v, ok := env[name]; return v, ok }); err != nil {
		t.Fatal(err)
	}
	if err := f.apply(t, "{name: file, list: [file], wait: 9s, on: true}"); err != nil {
		t.Fatal(err)
	}
	if f.name != "flag" || !reflect.DeepEqual(f.list, []string{"flag"}) || f.wait != 3*time.Second || !f.on {
		t.Errorf("name %q, list %q, wait %s, on %v", f.name, f.list, f.wait, f.on)
	}
	for flag, want := range map[string]string{
		"name": "flag --name", "list": "flag --list", "wait": "variable WEIR_WAIT", settingsFlag: "default",
	} {
		if got := sourceOf(f.Flags().Lookup(flag)); got != want {
			t.Errorf("--%s comes from %q, want %q", flag, got, want)
		}
	}
	if got := sourceOf(f.Flags().Lookup("on")); !strings.HasSuffix(got, "weir.yaml:1") {
		t.Errorf("--on comes from %q", got)
	}
}

func TestSettingsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"nam: x":              `1:1: unknown setting "nam" (did you mean name?)`,
		"frobnicate: x":       `1:1: unknown setting "frobnicate"`,
		"help: true":          `1:1: unknown setting "help"`,
		"[a, b]: x":           `1:1: unknown setting ""`,
		"redis_password: x":   `1:1: unknown setting "redis_password" (set WEIR_REDIS_PASSWORD`,
		"name: x\nname: y":    `2:1: "name" stands twice (keep one of them)`,
		"settings: more.yaml": `1:1: a file of settings cannot name another`,
		"name:":               `1:6: name: has no value (give one, or "" for none, or leave the line out)`,
		"name: [x]":           `1:7: name: is a list (give one value)`,
		"name: {x: y}":        `1:7: name: want a text or a number`,
		"list: [a, [b]]":      `1:11: list: want a text or a number`,
		"list: [a, null]":     `1:11: list: has no value`,
		"wait: 5":             `1:7: wait: time: missing unit in duration "5"`,
		"on: perhaps":         `1:5: on: strconv.ParseBool: parsing "perhaps"`,
		"- name":              `1:1: is not a mapping (write the names of flags`,
		"name: [":             `line 1: did not find expected node content`,
	} {
		err := newFakeServe().apply(t, text)
		if err == nil || !strings.Contains(err.Error(), "weir.yaml:") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
	f := newFakeServe()
	if err := f.apply(t, strings.Repeat("#", maxSettings+1)); err == nil || !strings.Contains(err.Error(), "is larger than") {
		t.Errorf("a large file: %v", err)
	}
	if err := applySettings(f.Command, t.TempDir()); err == nil {
		t.Error("a directory was read")
	}
}

// FuzzSettings: whatever a file says, it is applied or refused.
func FuzzSettings(f *testing.F) {
	f.Add("name: x\nlist: [a, b]\n")
	f.Add("name: &a [*a]\n")
	f.Add("{on: true, wait: 1s, list: {}}")
	f.Add("a: &a {<<: *a}")
	f.Fuzz(func(t *testing.T, text string) {
		serve := newFakeServe()
		if err := serve.apply(t, text); err != nil && err.Error() == "" {
			t.Errorf("%q: an error without words", text)
		}
	})
}
