//go:build !unix

package procs

import (
	"errors"
	"time"
)

func used() (time.Duration, error) { return 0, errors.ErrUnsupported }
