package policyfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxHops is how many links one path may go through, as in Linux.
const maxHops = 40

// anyEntry stands for every entry of a watched directory that is not hidden.
const anyEntry = "*"

// places are the directories to watch, and in each the entries that matter:
// those that, when they change, make a path lead elsewhere.
type places map[string]map[string]bool

func (p places) add(dir, entry string) {
	if p[dir] == nil {
		p[dir] = make(map[string]bool)
	}
	p[dir][entry] = true
}

func (p places) join(o places) {
	for dir, entries := range o {
		for e := range entries {
			p.add(dir, e)
		}
	}
}

// matters tells whether an event at path can change what is loaded.
func (p places) matters(path string, n names) bool {
	if _, watched := p[path]; watched {
		return true
	}
	dir, entry := filepath.Split(path)
	entries := p[filepath.Clean(dir)]
	return entries[entry] || entries[anyEntry] && !n.hidden(entry)
}

// follow resolves path, below the directory dir that has no links in it, one
// step at a time, so as to know every link on the way: a Kubernetes volume is
// changed by changing one of them, and a release by changing another. It returns
// the path without links and what is there.
func (p places) follow(dir, path string) (string, fs.FileInfo, error) {
	var info fs.FileInfo
	at, todo := dir, steps(path)
	for hops := 0; len(todo) > 0; {
		step := todo[0]
		todo = todo[1:]
		if step == ".." {
			at, info = filepath.Dir(at), nil
			continue
		}
		next := filepath.Join(at, step)
		var err error
		if info, err = os.Lstat(next); err != nil {
			p.add(at, step)
			return "", nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		p.add(at, step)
		info = nil // of the link; what it leads to may be "."
		if hops++; hops > maxHops {
			return "", nil, &fs.PathError{Op: "follow", Path: next, Err: errors.New("too many links")}
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", nil, err
		}
		if filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + string(filepath.Separator)
		}
		todo = append(steps(target), todo...)
	}
	p.add(filepath.Dir(at), filepath.Base(at))
	if info == nil {
		var err error
		if info, err = os.Lstat(at); err != nil {
			return "", nil, err
		}
	}
	return at, info, nil
}

// steps splits a path into what follows its volume, without "." and empty ones.
func steps(path string) []string {
	path = strings.TrimPrefix(path, filepath.VolumeName(path))
	var out []string
	for _, step := range strings.Split(filepath.ToSlash(path), "/") {
		if step != "" && step != "." {
			out = append(out, step)
		}
	}
	return out
}
