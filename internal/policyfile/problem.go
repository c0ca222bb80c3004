package policyfile

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/weirlimit/weir/policy"
)

// problem is one that concerns a file as a whole.
func problem(name, code, message, hint string) policy.Problem {
	return policy.Problem{At: policy.Position{File: name}, Code: code, Message: message, Hint: hint}
}

func warning(name, code, message, hint string) policy.Problem {
	p := problem(name, code, message, hint)
	p.Warning = true
	return p
}

// unreadable says why a path could not be looked at or read.
func unreadable(name string, err error) policy.Problem {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the path is the problem's position
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return problem(name, "not-found", "there is no such file or directory", "create it, or correct the path or the link")
	case errors.Is(err, fs.ErrPermission):
		return problem(name, "no-permission", "may not be read", "let the user that weir runs as read it")
	}
	return problem(name, "unreadable", fmt.Sprintf("cannot be read: %v", err), "")
}
