package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestEveryCommandHasAPage, which names it and says what it does.
func TestEveryCommandHasAPage(t *testing.T) {
	root, dir := newRoot(system{lookupEnv: noEnv}), filepath.Join(t.TempDir(), "man1")
	root.InitDefaultCompletionCmd()
	if err := writeMan(root, dir); err != nil {
		t.Fatal(err)
	}
	pages := 0
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd != root && !cmd.IsAvailableCommand() {
			return
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		text, err := os.ReadFile(filepath.Join(dir, name+".1"))
		if err != nil {
			t.Error(err)
			return
		}
		pages++
		if title := `.TH "` + strings.ToUpper(name) + `"`; !strings.Contains(string(text), title) {
			t.Errorf("%s has no title %s:\n%.200s", name, title, text)
		}
		if strings.Contains(string(text), "cobra") {
			t.Errorf("%s speaks of a library", name)
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != pages || pages < 12 {
		t.Errorf("%d files for %d commands, %v", len(files), pages, err)
	}
}

// TestEveryCommandSaysWhatItDoes: an example and a text for all that is not
// plain.
func TestEveryCommandSaysWhatItDoes(t *testing.T) {
	for _, cmd := range newRoot(system{lookupEnv: noEnv}).Commands() {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: short text %q", cmd.Name(), cmd.Short)
		}
		if cmd.LocalFlags().HasFlags() && (cmd.Long == "" || cmd.Example == "") {
			t.Errorf("%s has flags and no text or no example", cmd.Name())
		}
	}
}
