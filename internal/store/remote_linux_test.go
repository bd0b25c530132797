//go:build !portable

package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAStoreOnAFileSystemOfTheNetworkIsRefused(t *testing.T) {
	statfs = func(path string, fs *unix.Statfs_t) error {
		if _, err := os.Stat(path); err != nil {
			return err
		}
		fs.Type = unix.NFS_SUPER_MAGIC
		return nil
	}
	t.Cleanup(func() { statfs = unix.Statfs })
	path := filepath.Join(t.TempDir(), "s.db")
	const want = "lies on a file system of the network (NFS)"
	if _, err := Open(path); ProblemOf(err) != BadURL || !strings.Contains(err.Error(), want) {
		t.Errorf("a new store: %v", err)
	}
	statfs = unix.Statfs
	withRecord(t, path, "first")
	statfs = func(_ string, fs *unix.Statfs_t) error { fs.Type = unix.NFS_SUPER_MAGIC; return nil }
	if err := Appendable(path); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("one that is there: %v", err)
	}
	if got := pointIDs(t, path); len(got) != 1 {
		t.Errorf("read: %v", got)
	}
}
