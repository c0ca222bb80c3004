package policyfile

import (
	"io/fs"
	"syscall"
)

// addSystem adds what a program cannot set back, as it can the time of
// modification.
func (s *stamp) addSystem(info fs.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.changed = st.Ctim.Nano()
		s.dev, s.ino = uint64(st.Dev), st.Ino
	}
}
