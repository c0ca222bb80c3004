package policyfile

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
)

// Bounds on what is read. They keep a wrong path (a log, a device, the root of
// a disk) from taking the memory of the process.
const (
	MaxFileBytes  = 16 << 20  // a file
	MaxTotalBytes = 128 << 20 // all files together; they stay in memory
	MaxFiles      = 10_000    // below one path
	maxEntries    = 100_000   // directory entries looked at below one path
	maxDepth      = 32        // directories below each other
)

// bounds are those of the above that a test would need many files to reach.
type bounds struct {
	files, entries int
	total          int64
}

// Defaults of Options.
const (
	defaultPoll  = 10 * time.Second
	defaultQuiet = 75 * time.Millisecond
	defaultDelay = 500 * time.Millisecond
)

// Options say what to load and how. Paths are required; the rest has defaults.
type Options struct {
	// Paths are files and directories, in order of precedence: where two files
	// contradict each other and neither is in service, the earlier wins.
	Paths []string

	// Compat loads as envoyproxy/ratelimit does: all files or none, whatever
	// their names; it is also passed on to the compiler.
	Compat bool
	// MergeDomains is passed on to the compiler.
	MergeDomains bool
	// Shadow and Quota are passed on to the compiler: every Envoy rule in
	// shadow_mode, or in quota_mode.
	Shadow, Quota bool
	// Private is passed on to the compiler: the names of private dimensions, nil
	// for its default.
	Private []string
	// Lease is passed on to the compiler: what policies do that do not say.
	Lease bool
	// DotFiles reads files and directories whose names begin with a dot, too.
	// Names that begin with two dots are never read by themselves.
	DotFiles bool

	// CacheDir is where the contents in service are kept for the next start, in
	// one file of mode 0600. Instances do not share it. Empty: nowhere.
	CacheDir string

	// Poll is how often files are looked at when no event says so; 0 is 10 s.
	Poll time.Duration
	// Quiet is how long no event must come before a change is read, so that a
	// file is not read half written; 0 is 75 ms. Files that keep changing are
	// read after Delay all the same; 0 is 500 ms.
	Quiet, Delay time.Duration

	// Parse and Compile are package policy's unless set. The compiler attributes
	// a problem between two files to the later of them.
	Parse   func(name string, data []byte) (*policy.File, []policy.Problem)
	Compile func(files []*policy.File) (*policy.Set, []policy.Problem)

	// Around, if not nil, is called when Watch is about to read files, and what it
	// returns when the outcome is in service: they may be many.
	Around func() (done func())

	events func() (events, error) // tests put their own in place of fsnotify
}

// New returns a Loader that has not looked at anything yet.
func New(o Options) (*Loader, error) {
	if len(o.Paths) == 0 {
		return nil, &weir.Error{
			Code: weir.CodeInvalid, Field: "paths", Message: "no file or directory is given",
			Hint: "name a policy file or a directory of them",
		}
	}
	l := &Loader{reload: make(chan struct{}, 1), bounds: bounds{MaxFiles, maxEntries, MaxTotalBytes}}
	if o.CacheDir != "" {
		abs, err := filepath.Abs(o.CacheDir)
		if err != nil {
			return nil, &weir.Error{Code: weir.CodeInvalid, Field: "cache", Message: "cannot resolve " + o.CacheDir, Err: err}
		}
		o.CacheDir = abs
	}
	for _, path := range o.Paths {
		if path == "" { // not the current directory: nobody means that by saying nothing
			return nil, &weir.Error{
				Code: weir.CodeInvalid, Field: "paths", Message: "a path is empty",
				Hint: "name a policy file or a directory of them; . is the current one",
			}
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, &weir.Error{Code: weir.CodeInvalid, Field: "paths", Message: "cannot resolve " + path, Err: err}
		}
		r := root{name: filepath.Clean(path), key: abs}
		if !slices.ContainsFunc(l.roots, func(have root) bool { return have.key == r.key }) {
			l.roots = append(l.roots, r)
		}
	}
	o.setDefaults()
	l.opts = o
	return l, nil
}

func (o *Options) setDefaults() {
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	if o.Quiet <= 0 {
		o.Quiet = defaultQuiet
	}
	if o.Delay <= 0 {
		o.Delay = max(defaultDelay, o.Quiet)
	}
	if o.Parse == nil {
		compat := o.Compat
		o.Parse = func(name string, data []byte) (*policy.File, []policy.Problem) { return Parse(name, data, compat) }
	}
	if o.Compile == nil {
		as := policy.Options{EnvoyCompat: o.Compat, MergeDomains: o.MergeDomains, EnvoyShadow: o.Shadow, EnvoyQuota: o.Quota, Private: o.Private, Lease: o.Lease}
		o.Compile = func(files []*policy.File) (*policy.Set, []policy.Problem) { return policy.Compile(files, as) }
	}
	if o.Around == nil {
		o.Around = func() func() { return func() {} }
	}
	if o.events == nil {
		o.events = newEvents
	}
}
