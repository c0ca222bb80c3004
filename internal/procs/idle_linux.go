package procs

import (
	"bytes"
	"os"
	"strconv"
)

// rest is how long the processors of the machine were idle, all of them together:
// the fourth column of the first line, and the fifth, in which they wait for a disk.
func rest() (ticks int64, ok bool) {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return 0, false
	}
	defer func() { _ = f.Close() }() // nothing was written
	var b [256]byte
	n, err := f.Read(b[:])
	if err != nil {
		return 0, false
	}
	return parseRest(b[:n])
}

func parseRest(b []byte) (ticks int64, ok bool) {
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	f := bytes.Fields(line)
	if len(f) < 6 || string(f[0]) != "cpu" {
		return 0, false
	}
	for _, s := range f[4:6] {
		n, err := strconv.ParseInt(string(s), 10, 62)
		if err != nil || n < 0 {
			return 0, false
		}
		ticks += n
	}
	return ticks, true
}
