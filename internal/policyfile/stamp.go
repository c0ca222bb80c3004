package policyfile

import (
	"io/fs"
	"time"
)

// raceWindow is how old a change must be, when a file is read, for the next
// change to show in its stamp: the coarsest clock of a file system in use (FAT,
// some network ones) counts in steps of two seconds.
const raceWindow = 2 * time.Second

// stamp tells, without reading a file, whether it may have changed. Equal
// stamps mean equal contents unless the stamp was fresh when the file was read.
type stamp struct {
	direct   string // where it is, without links
	size     int64
	modified int64 // ns since the epoch
	changed  int64 // ns since the epoch, of contents or attributes; 0 where the system does not tell
	dev, ino uint64
}

func stampOf(direct string, info fs.FileInfo) stamp {
	s := stamp{direct: direct, size: info.Size(), modified: info.ModTime().UnixNano()}
	s.addSystem(info)
	return s
}

// fresh tells whether a change right after now could leave s as it is.
func (s stamp) fresh(now time.Time) bool {
	return max(s.modified, s.changed) > now.Add(-raceWindow).UnixNano()
}
