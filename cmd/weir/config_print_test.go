package main

import (
	"bytes"
	"errors"
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestConfigPrintIsGeneric: it prints the flags of whatever serve is, after what
// serve does before it serves.
func TestConfigPrintIsGeneric(t *testing.T) {
	f := newFakeServe()
	f.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := applySettings(cmd, f.settings); err != nil {
			return err
		}
		return cmd.Flags().Set("wait", "7s") // as variables of another program do
	}
	var out bytes.Buffer
	cmd := newConfig(system{out: &out, lookupEnv: noEnv}, f.Command, new(peerSettings))
	cmd.SetArgs([]string{"print", "--sources", "--name", "x"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := `NAME                               VALUE    SOURCE
list                               default  default
name                               x        flag --name
on                                 false    default
settings                           -        default
wait                               7s       variables of envoyproxy/ratelimit
WEIR_REDIS_USER                    -        default
WEIR_REDIS_PASSWORD                -        default
WEIR_REDIS_PASSWORD_FILE           -        default
WEIR_REDIS_SENTINEL_USER           -        default
WEIR_REDIS_SENTINEL_PASSWORD       -        default
WEIR_REDIS_SENTINEL_PASSWORD_FILE  -        default
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	f.PreRunE = nil
	cmd.SetArgs([]string{"print", "--settings", "absent.yaml"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.ExecuteContext(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	f.PreRunE = func(*cobra.Command, []string) error { return errors.New("cannot be") }
	if err := cmd.ExecuteContext(t.Context()); err == nil || err.Error() != "cannot be" {
		t.Errorf("error %v", err)
	}
}

// TestConfigPrintHasAllOfServe: every flag of serve can be given and is shown.
func TestConfigPrintHasAllOfServe(t *testing.T) {
	_, out, _ := weirRun(t, "config", "print")
	shown := map[string]bool{}
	for _, line := range strings.Split(out, "\n") {
		name, _, _ := strings.Cut(line, " ")
		shown[name] = true
	}
	root := newRoot(system{lookupEnv: noEnv})
	serve, _, err := root.Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	print, _, err := root.Find([]string{"config", "print"})
	if err != nil {
		t.Fatal(err)
	}
	flags := 0
	serve.LocalFlags().VisitAll(func(f *pflag.Flag) {
		flags++
		if f.Name != "help" && (print.Flags().Lookup(f.Name) == nil || !shown[f.Name]) {
			t.Errorf("--%s of serve is missing", f.Name)
		}
	})
	if flags < 10 {
		t.Errorf("serve has %d flags: the test looks in the wrong place", flags)
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"127.0.0.1:6379":           "127.0.0.1:6379",
		"redis://h:1/0":            "redis://h:1/0",
		"redis://u:p@h:1":          "redis://***@h:1",
		"u:p@h:1,h:2,rediss://p@g": "***@h:1,h:2,rediss://***@g",
		"redis://u:p@ss@h":         "redis://***@h",
	} {
		if got, hidden := redact(text, false); got != want || hidden != (got != text) {
			t.Errorf("%q is shown as %q (hidden: %v), want %q", text, got, hidden, want)
		}
	}
}

func TestListSecrets(t *testing.T) {
	env := map[string]string{envRedisPassword: "hush", envRedisPasswordFile: "/run/secrets/redis"}
	got := listSecrets(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	want := []secret{
		{Variable: envRedisUser},
		{Variable: envRedisPassword, Set: true},
		{Variable: envRedisPasswordFile, Set: true, File: "/run/secrets/redis"},
		{Variable: envSentinelUser},
		{Variable: envSentinelPassword},
		{Variable: envSentinelPasswordFile},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
