package policyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// events tell that a file changed. They are a hint: a poll would find out too.
type events interface {
	// watch makes the places the ones to be told of, and returns why not all
	// of them are, or nil.
	watch(p places) error
	// hits has the paths at which something happened; errors come as "".
	// It is never closed.
	hits() <-chan string
	close() error
}

// notifier is events from the operating system. Only directories are watched:
// the watch of a file is lost when the file is replaced. Its methods belong to
// one goroutine.
type notifier struct {
	w    *fsnotify.Watcher
	held map[string]fs.FileInfo // the directory that was there when the watch was set
	out  chan string
	quit chan struct{}
	done chan struct{}
}

func newEvents() (events, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w (on Linux, see the sysctl fs.inotify.max_user_instances)", err)
	}
	n := &notifier{
		w: w, held: make(map[string]fs.FileInfo),
		out: make(chan string), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go n.forward()
	return n, nil
}

// forward joins the watcher's channels until close.
func (n *notifier) forward() {
	defer close(n.done)
	for {
		var path string
		select {
		case ev := <-n.w.Events:
			path = ev.Name
		case err := <-n.w.Errors:
			_ = err // such as an overflow: anything may have happened, and a pass will see what
		case <-n.quit:
			return
		}
		select {
		case n.out <- path:
		case <-n.quit:
			return
		}
	}
}

func (n *notifier) hits() <-chan string { return n.out }

func (n *notifier) watch(p places) error {
	alive := n.w.WatchList() // without those whose directory was removed
	for dir, was := range n.held {
		now, err := os.Lstat(dir)
		if _, wanted := p[dir]; wanted && err == nil && os.SameFile(was, now) && slices.Contains(alive, dir) {
			continue
		}
		delete(n.held, dir)
		_ = n.w.Remove(dir) // fails when the watch ended with its directory
	}
	var failed error
	for dir := range p {
		if n.held[dir] != nil {
			continue
		}
		info, err := os.Lstat(dir) // before: should it be replaced, the next pass sees that
		if err == nil {
			err = n.w.Add(dir)
		}
		if err == nil {
			n.held[dir] = info
		} else if failed == nil && !errors.Is(err, fs.ErrNotExist) {
			failed = fmt.Errorf("watch %s: %w (on Linux, see the sysctl fs.inotify.max_user_watches)", dir, err)
		}
	}
	return failed
}

func (n *notifier) close() error {
	close(n.quit)
	err := n.w.Close()
	<-n.done
	return err
}
