package policyfile

import (
	"path/filepath"
	"slices"
	"strings"
)

// names says which directory entries are policies, by their names.
type names struct {
	all  bool // whatever the extension
	dots bool // also when they begin with a dot
}

// extensions are those of policy files. JSON is YAML, too.
var extensions = []string{".yaml", ".yml", ".json"}

// isPolicy tells whether a name has the extension of a policy file.
func isPolicy(name string) bool {
	return slices.Contains(extensions, strings.ToLower(filepath.Ext(name)))
}

// hidden tells the entries that are not looked at, neither files nor
// directories.
func (n names) hidden(name string) bool {
	switch {
	case strings.HasPrefix(name, ".."): // a Kubernetes volume's versions, linked to by name
		return true
	case strings.HasPrefix(name, "."):
		return !n.dots || isLeftover(name)
	}
	return isLeftover(name)
}

// isLeftover tells what editors keep beside a file while they work on it.
func isLeftover(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	switch {
	case strings.HasSuffix(name, "~"), // backups of many
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#"),  // emacs: autosaved
		strings.HasPrefix(name, ".#"),                                 // emacs: a lock
		strings.HasPrefix(name, ".") && strings.HasPrefix(ext, ".sw"), // vim: .x.yaml.swp, .swo, .swx
		ext == ".swp",                                           // vim, told to use plain names
		name == "4913",                                          // vim: may I write here?
		ext == ".tmp",                                           // about to be renamed
		strings.HasSuffix(name, "___jb_tmp___"),                 // JetBrains: about to be renamed
		strings.HasSuffix(name, "___jb_old___"), ext == ".part": // JetBrains, downloads
		return true
	}
	return false
}

// accepts tells whether a file of that name, in a directory, is a policy.
func (n names) accepts(name string) bool {
	return !n.hidden(name) && (n.all || isPolicy(name))
}
