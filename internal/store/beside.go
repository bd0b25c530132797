package store

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// strangeBeside says of the files that SQLite would find beside the store at path whether somebody else may have put them there; empty if
// not. From a journal SQLite writes pages back, or cuts the store off, whoever made the journal.
func strangeBeside(path string, store os.FileInfo) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil || folder.Mode()&os.ModeSticky == 0 { // else who shares a folder shares a store
		return ""
	}
	trusted := []int{0, os.Geteuid(), ownerOf(store)}
	for _, suffix := range []string{"-journal", "-wal", "-shm"} {
		info, err := os.Lstat(path + suffix)
		if err == nil && !slices.Contains(trusted, ownerOf(info)) {
			return "has a file beside it that another user made, which would change what it holds: " + path + suffix + "; name a store in a folder of yours"
		}
	}
	return ""
}

// ownerOf returns the user that a file belongs to.
func ownerOf(info os.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return os.Geteuid()
}
