package policyfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirlimit/weir/policy"
)

// root is one of Options.Paths.
type root struct {
	name string // as given
	key  string // absolute, links not resolved
}

// top is the directory that all paths on r's volume are below.
func (r root) top() string { return filepath.VolumeName(r.key) + string(filepath.Separator) }

// found is a policy file that was found.
type found struct {
	name  string // for people: below the root's name
	key   string // absolute, links not resolved: names the file from pass to pass
	root  string // key of its root
	stamp stamp
}

// trouble is a place that could not be looked into. What is known of it and of
// what is below it stays as it was.
type trouble struct {
	key     string
	problem policy.Problem
}

func (t *trouble) covers(key string) bool {
	return key == t.key || strings.HasPrefix(key, t.key+string(filepath.Separator))
}

// view is what one look at the file system found.
type view struct {
	files    []found
	troubles []trouble
	empty    []root // directories without a single policy
	places   places
}

// same tells whether two looks found the same. Where to watch follows from that.
func (v *view) same(o *view) bool {
	return slices.Equal(v.files, o.files) && slices.Equal(v.troubles, o.troubles) && slices.Equal(v.empty, o.empty)
}

// scanner walks the roots. It reads no file.
type scanner struct {
	names
	most bounds
	view
	skip    string // key of a file that is none of the policies: the cache
	root    root
	left    int             // entries that may still be looked at below the root
	above   []fs.FileInfo   // the directories being walked
	visited map[string]bool // keys of files
}

func (s *scanner) scanRoot(r root) {
	s.root, s.left = r, s.most.entries
	files, troubles, others := len(s.files), len(s.troubles), s.places
	s.places = make(places)
	direct, info, err := s.places.follow(r.top(), r.key)
	switch {
	case err != nil:
		s.fail(r.name, r.key, err)
	case !info.IsDir():
		s.file(r.name, r.key, direct, info)
	default:
		s.directory(r.name, r.key, direct, info)
	}
	if s.left < 0 || len(s.files)-files > s.most.files {
		s.forget(files, troubles)
	}
	if err == nil && info.IsDir() && len(s.files) == files && len(s.troubles) == troubles {
		s.empty = append(s.empty, r)
	}
	s.places.join(others)
}

// forget drops what was found below a root that has too much below it, from
// the given file and trouble on, and the watches: a hundred thousand of them
// would be too many, too.
func (s *scanner) forget(files, troubles int) {
	for _, f := range s.files[files:] {
		delete(s.visited, f.key)
	}
	s.files, s.troubles = s.files[:files], s.troubles[:troubles]
	clear(s.places)
	_, _, _ = s.places.follow(s.root.top(), s.root.key)
	s.note(s.root.name, s.root.key, "too-many-files",
		fmt.Sprintf("there are more than %d policies, or %d files in all, below it", s.most.files, s.most.entries),
		"name a directory that holds policies only")
}

// directory walks the directory direct, which people know as name.
func (s *scanner) directory(name, key, direct string, info fs.FileInfo) {
	switch {
	case isPolicy(name):
		s.note(name, key, "is-directory", "is a directory, where a file is expected",
			"remove it; container runtimes make one when the file to mount does not exist")
		return
	case slices.ContainsFunc(s.above, func(up fs.FileInfo) bool { return os.SameFile(up, info) }):
		s.note(name, key, "link-loop", "links to a directory that it is in", "remove the link")
		return
	case len(s.above) == maxDepth:
		s.note(name, key, "too-deep", fmt.Sprintf("is more than %d directories deep", maxDepth), "name a directory further down")
		return
	}
	s.above = append(s.above, info)
	defer func() { s.above = s.above[:len(s.above)-1] }()

	s.places.add(direct, anyEntry)
	entries, err := list(direct, s.left+1)
	if err != nil {
		s.fail(name, key, err)
		return
	}
	for _, e := range entries {
		if s.left--; s.left < 0 {
			return
		}
		if !s.hidden(e.Name()) {
			s.entry(filepath.Join(name, e.Name()), filepath.Join(key, e.Name()), direct, e)
		}
	}
}

func (s *scanner) entry(name, key, dir string, e fs.DirEntry) {
	direct, info, err := filepath.Join(dir, e.Name()), fs.FileInfo(nil), error(nil)
	if e.Type()&fs.ModeSymlink != 0 {
		direct, info, err = s.places.follow(dir, e.Name())
	} else {
		info, err = e.Info()
	}
	switch {
	case err == nil && info.IsDir():
		s.directory(name, key, direct, info)
	case !s.accepts(e.Name()), key == s.skip:
	case err != nil:
		s.fail(name, key, err)
	default:
		s.file(name, key, direct, info)
	}
}

func (s *scanner) file(name, key, direct string, info fs.FileInfo) {
	if !info.Mode().IsRegular() {
		s.note(name, key, "not-a-file", "is not a regular file", "name a file or a directory")
		return
	}
	if !s.visited[key] { // a file that two paths lead to is read once
		s.visited[key] = true
		s.files = append(s.files, found{name: name, key: key, root: s.root.key, stamp: stampOf(direct, info)})
	}
}

func (s *scanner) note(name, key, code, message, hint string) {
	s.troubles = append(s.troubles, trouble{key, problem(name, code, message, hint)})
}

func (s *scanner) fail(name, key string, err error) {
	s.troubles = append(s.troubles, trouble{key, unreadable(name, err)})
}

// list reads at most n entries of a directory, in the order of their names.
func list(dir string, n int) ([]fs.DirEntry, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer shut(f)
	entries, err := f.ReadDir(n)
	if err != nil && !errors.Is(err, io.EOF) { // half a listing would look like deletions
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}
