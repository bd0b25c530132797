//go:build !portable

package provision

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A broker's output is kept up to mostLog, and then only its last part: a server that logs an error for every message would fill
// the disk within hours.
const (
	mostLog  = 256 << 20
	keptLog  = 64 << 20
	lookAtIt = 5 * time.Second
)

// trim frees the disk space of a log except its last part. The file keeps its length, so processes that append to it or read from
// it are not affected.
func trim(log *os.File, most, kept int64) {
	var s unix.Stat_t
	fd := int(log.Fd())
	if unix.Fstat(fd, &s) != nil || s.Mode&unix.S_IFMT != unix.S_IFREG || s.Blocks*512 <= most {
		return
	}
	if unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, s.Size-kept) != nil {
		_ = unix.Ftruncate(fd, 0) // the file system has no holes
	}
}

// trimLog trims this process's output, which is its broker's log, for as long as the process lives.
func trimLog() {
	for range time.Tick(lookAtIt) {
		trim(os.Stdout, mostLog, keptLog)
	}
}
