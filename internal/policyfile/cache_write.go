package policyfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// leftoverAge is how old a temporary file must be for its writer to be dead.
const leftoverAge = time.Hour

// restore puts what the last process had in service into l.served, as far as it
// belongs to paths of this one. There is no set of it yet.
func (l *Loader) restore() {
	if l.opts.CacheDir == "" {
		return
	}
	files, err := readCache(l.opts.CacheDir)
	if err != nil {
		hint := "nothing to do: it is written anew"
		if _, unread := errors.AsType[*fs.PathError](err); unread { // it may not be written either
			hint = "name a directory that the user that weir runs as may read and write"
		}
		l.notes = append(l.notes, warning(filepath.Join(l.opts.CacheDir, cacheName), "bad-cache",
			fmt.Sprintf("the last good policies cannot be used: %v", withoutPath(err)), hint))
		return
	}
	l.saved = digestOf(files)
	files = slices.DeleteFunc(files, func(s served) bool { return l.rank(s.root) < 0 })
	slices.SortFunc(files, func(a, b served) int {
		return cmp.Or(cmp.Compare(l.rank(a.root), l.rank(b.root)), cmp.Compare(a.key, b.key))
	})
	l.served = files
}

// save keeps what is in service for the next start, unless it is kept already.
// A failure is told by the Report.
func (l *Loader) save() {
	l.pass.Lock()
	defer l.pass.Unlock()
	if l.opts.CacheDir == "" || l.set == nil {
		return
	}
	d := digestOf(l.served)
	if d == l.saved {
		return
	}
	failure := ""
	if err := writeCache(l.opts.CacheDir, l.served); err != nil {
		failure = fmt.Sprintf("keep the policies in %s: %v", l.opts.CacheDir, withoutPath(err))
	} else {
		l.saved = d
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.report.CacheError = failure
}

// withoutPath leaves the path out of an error: that of a temporary file is another
// each time, and what is the same is told once.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return fmt.Errorf("%s: %w", l.Op, l.Err)
	}
	return err
}

// writeCache replaces the cache in one step: a crash leaves the old one or the
// new one, never half of either.
func writeCache(dir string, files []served) error {
	size := 0
	for _, f := range files {
		size += len(f.data)
	}
	if size > MaxTotalBytes { // last good versions and new ones may add up to more
		return fmt.Errorf("%d bytes are more than %d MiB", size, MaxTotalBytes>>20)
	}
	parts, err := encode(files)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	removeLeftovers(dir)
	temp, err := writeTemp(dir, parts)
	if err == nil {
		err = os.Rename(temp, filepath.Join(dir, cacheName))
	}
	if err != nil {
		if temp != "" {
			err = errors.Join(err, os.Remove(temp))
		}
		return err
	}
	return syncDir(dir)
}

// writeTemp writes a file that is on the disk, whole, when it returns. The name
// is empty when there is none.
func writeTemp(dir string, parts [][]byte) (name string, err error) {
	f, err := os.CreateTemp(dir, cacheTemp) // mode 0600
	if err != nil {
		return "", err
	}
	for _, p := range parts {
		if _, err := f.Write(p); err != nil {
			return f.Name(), errors.Join(err, f.Close())
		}
	}
	return f.Name(), errors.Join(f.Sync(), f.Close())
}

// syncDir makes a rename in dir last.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" { // directories cannot be synced there
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// removeLeftovers removes what a process left that died while writing.
func removeLeftovers(dir string) {
	temps, _ := filepath.Glob(filepath.Join(dir, cacheTemp)) // fails on a bad pattern only
	for _, t := range temps {
		if info, err := os.Lstat(t); err == nil && time.Since(info.ModTime()) > leftoverAge {
			_ = os.Remove(t) // the next write tries again
		}
	}
}
