package provision

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// holdFile lies in an instance's directory. The tool that owns the instance and every supervisor hold a shared lock on it, which
// the kernel releases when the last of them ends. Unlike process numbers, a lock is valid in every container and on every machine
// that shares the directory.
const holdFile = "held"

// hold locks the instance's directory for as long as the file, or a copy of it in another process, is open. A new file gets its
// name only once it is locked: if a named file has no lock, its tool has ended.
func hold(dir string) (*os.File, error) {
	path := filepath.Join(dir, holdFile)
	f, err := openLocked(path, os.O_RDONLY, syscall.LOCK_SH)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	f, err = openLocked(filepath.Join(dir, "."+holdFile), os.O_CREATE|os.O_EXCL, syscall.LOCK_SH)
	if err != nil {
		return nil, err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// seize locks the directory of an instance that no process holds; nil if one does, or if that is unknown.
func seize(dir string) *os.File {
	f, _ := openLocked(filepath.Join(dir, holdFile), os.O_RDONLY, exclusiveNow)
	return f
}

// exclusiveNow takes an exclusive lock or fails with EWOULDBLOCK, instead of waiting, if another process has one.
const exclusiveNow = syscall.LOCK_EX | syscall.LOCK_NB

// openLocked opens a file that is no link and locks it as flock(2) does: LOCK_SH, LOCK_EX. The lock goes with the last copy
// of the open file. After an error the file is nil.
func openLocked(path string, flags, lock int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|syscall.O_NOFOLLOW, privateFile)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), lock); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// remove deletes an instance's directory, its ownership files last, so that the next command can finish an interrupted removal.
func remove(dir string) error {
	letGo(dir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Name() != stateFile && e.Name() != holdFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// unfinished reports whether a directory holds only files that are written before its state: the tool ended while it prepared the
// directory.
func unfinished(dir string) bool {
	entries, err := os.ReadDir(dir)
	more := func(e fs.DirEntry) bool {
		return !slices.Contains([]string{holdFile, "." + holdFile, "." + stateFile}, e.Name())
	}
	return err == nil && !slices.ContainsFunc(entries, more)
}
