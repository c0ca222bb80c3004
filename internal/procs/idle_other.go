//go:build !linux

package procs

func rest() (ticks int64, ok bool) { return 0, false }
