//go:build unix

package saltfile

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner that another file has: root rotates the salts of
// a server that is not root.
func keepOwner(f *os.File, like fs.FileInfo) error {
	stat, ok := like.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() && int(stat.Gid) == os.Getegid() {
		return nil
	}
	return f.Chown(int(stat.Uid), int(stat.Gid))
}
