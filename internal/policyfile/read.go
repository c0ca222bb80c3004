package policyfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/weirlimit/weir/policy"
)

// reading is what reading a file gave.
type reading struct {
	data  []byte
	torn  bool // it changed meanwhile
	wrong *policy.Problem
}

// read reads a file that scan found. It allows room bytes, of what all files
// may take together.
func read(f *found, room int64) reading {
	fail := func(p policy.Problem) reading { return reading{wrong: &p} }
	if f.stamp.size > MaxFileBytes {
		return fail(problem(f.name, "too-large",
			fmt.Sprintf("%d bytes are more than %d MiB", f.stamp.size, MaxFileBytes>>20), "split it into several files"))
	}
	if f.stamp.size > room {
		return fail(problem(f.name, "too-large",
			"all files together are too large", fmt.Sprintf("remove what is no longer in use: %d MiB are read in all", MaxTotalBytes>>20)))
	}
	// By its given path, not the one without links: what is read and what a
	// second look finds must be reached in the same way.
	file, err := os.Open(f.key)
	if err != nil {
		return reading{torn: os.IsNotExist(err), wrong: ptr(unreadable(f.name, err))}
	}
	defer shut(file)
	info, err := file.Stat()
	if err != nil {
		return fail(unreadable(f.name, err))
	}
	if !info.Mode().IsRegular() {
		return reading{torn: true, wrong: ptr(problem(f.name, "not-a-file", "is not a regular file", ""))}
	}
	data := make([]byte, f.stamp.size)
	n, err := io.ReadFull(file, data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fail(unreadable(f.name, err))
	}
	return reading{data: data[:n], torn: changed(f, file)}
}

// changed tells whether what was read may not be what scan saw.
func changed(f *found, file fs.File) bool {
	info, err := file.Stat()
	return err != nil || stampOf(f.stamp.direct, info) != f.stamp
}

// shut closes a file that was only read: there is nothing to lose.
func shut(f io.Closer) { _ = f.Close() }

func ptr[T any](v T) *T { return &v }
