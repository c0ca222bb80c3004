package reload

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Every is how often Watch looks at the files.
const Every = time.Second

// maxBytes bounds a file: what this package is for is much smaller.
const maxBytes = 16 << 20

// File is a value made of the contents of one or more files. Make one with
// Open.
type File[T any] struct {
	paths []string
	parse func(contents [][]byte) (T, error)
	value atomic.Pointer[T]
	kick  chan struct{}

	mu struct {
		sync.Mutex
		sum     [sha256.Size]byte // of the contents last looked at, good or bad
		wrong   bool              // whether those were bad
		forNow  string            // why those were bad, when they may be good later; else empty
		missing string            // why they could not be read; empty when they could
	}
}

// NotYet is an error of a parse that the same contents may not have later: they
// are parsed again at every look, and told of once.
type NotYet struct{ Err error }

func (n *NotYet) Error() string { return n.Err.Error() }
func (n *NotYet) Unwrap() error { return n.Err }

// Open reads the files and parses their contents, which come in the order of
// paths and belong to parse. It fails when either does not work: what is not
// there at the start is a mistake, and not something to wait for.
func Open[T any](parse func(contents [][]byte) (T, error), paths ...string) (*File[T], error) {
	f := &File[T]{paths: paths, parse: parse, kick: make(chan struct{}, 1)}
	if _, err := f.Load(); err != nil {
		return nil, err
	}
	return f, nil
}

// Get returns the last good value.
func (f *File[T]) Get() T { return *f.value.Load() }

// Load looks at the files now. It tells whether there is a new value, or files
// that were missing are back, and what is wrong with contents that were not looked at before: a file that stays
// wrong is reported once.
func (f *File[T]) Load() (changed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	contents, sum, err := f.read()
	if err == nil {
		again := sum == f.mu.sum
		if again && f.mu.forNow == "" {
			back := f.mu.missing != "" && !f.mu.wrong
			f.mu.missing = ""
			return back, nil
		}
		f.mu.sum, f.mu.missing = sum, ""
		var v T
		v, err = f.parse(contents)
		if f.mu.wrong = err != nil; err == nil {
			f.value.Store(&v)
			f.mu.forNow = ""
			return true, nil
		}
		before := f.mu.forNow
		f.mu.forNow = ""
		if _, ok := errors.AsType[*NotYet](err); ok {
			f.mu.forNow = err.Error()
		}
		if again && f.mu.forNow == before {
			return false, nil
		}
		return false, err
	}
	if err.Error() == f.mu.missing {
		return false, nil
	}
	f.mu.missing = err.Error()
	return false, err
}

func (f *File[T]) read() ([][]byte, [sha256.Size]byte, error) {
	h := sha256.New()
	contents := make([][]byte, len(f.paths))
	for i, path := range f.paths {
		data, err := readFile(path)
		if err != nil {
			return nil, [sha256.Size]byte{}, err
		}
		sum := sha256.Sum256(data)
		h.Write(sum[:])
		contents[i] = data
	}
	return contents, [sha256.Size]byte(h.Sum(nil)), nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxBytes)
	}
	return data, nil
}

// Reload makes Watch look at once.
func (f *File[T]) Reload() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

// Watch looks at the files until ctx ends. It calls told, on its own goroutine,
// with nil for a new value and with an error for contents that are wrong.
func (f *File[T]) Watch(ctx context.Context, told func(error)) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-f.kick:
		}
		if changed, err := f.Load(); changed || err != nil {
			told(err)
		}
	}
}
