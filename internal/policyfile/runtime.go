package policyfile

import "path/filepath"

// RuntimeDir returns where envoyproxy/ratelimit finds its files, from the
// values of RUNTIME_ROOT, RUNTIME_SUBDIRECTORY and RUNTIME_APPDIRECTORY. Any of
// them may be empty; the defaults are that program's. RUNTIME_ROOT, or any part
// of the path, may be a link that a release changes: links are watched.
func RuntimeDir(root, subdirectory, appDirectory string) string {
	if root == "" {
		root = "/srv/runtime_data/current"
	}
	if appDirectory == "" {
		appDirectory = "config"
	}
	return filepath.Join(root, subdirectory, appDirectory)
}
