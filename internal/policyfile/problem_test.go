package policyfile

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
)

// TestUnreadable: what an operator is told of a path, and what to do.
func TestUnreadable(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "open", Path: "/x", Err: syscall.ENOENT}, "x: there is no such file or directory (create it, or correct the path or the link)"},
		{&fs.PathError{Op: "open", Path: "/x", Err: syscall.EACCES}, "x: may not be read (let the user that weir runs as read it)"},
		{&fs.PathError{Op: "read", Path: "/x", Err: syscall.EIO}, "x: cannot be read: input/output error"},
		{errors.New("odd"), "x: cannot be read: odd"},
	} {
		if got := unreadable("x", tc.err); got.String() != tc.want || got.Warning || got.Code == "" {
			t.Errorf("%v gives %q (%+v), want %q", tc.err, got.String(), got, tc.want)
		}
	}
}
