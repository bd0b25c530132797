package provision

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// holdFile lies in an instance's directory. The tool that owns the instance and every supervisor hold a shared lock on
// it, which the kernel drops when the last of them ends. Unlike process numbers a lock means the same in every
// container and on every machine that shares the directory.
const holdFile = "held"

// hold locks the instance's directory for as long as the file, or a copy of it in another process, is open. A new file gets
// its name when it is locked: one that nobody holds is that of a tool that ended.
func hold(dir string) (*os.File, error) {
	path := filepath.Join(dir, holdFile)
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	made := errors.Is(err, fs.ErrNotExist)
	if made {
		f, err = os.OpenFile(filepath.Join(dir, "."+holdFile), os.O_CREATE|os.O_EXCL|os.O_RDONLY|syscall.O_NOFOLLOW, privateFile)
	}
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH)
	if err == nil && made {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// seize takes the directory of an instance that nobody holds any more; nil: somebody does, or that can't be told.
func seize(dir string) *os.File {
	f, err := os.OpenFile(filepath.Join(dir, holdFile), os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		f.Close()
		return nil
	}
	return f
}

// remove deletes an instance's directory so that what says whose it is goes last: a removal that is cut off is
// finished by the next Sweep.
func remove(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	var errs []error
	for _, e := range entries {
		if e.Name() != stateFile && e.Name() != holdFile {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// unfinished tells that a directory holds nothing but what is written before its state: a tool ended while it made it.
func unfinished(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !slices.Contains([]string{holdFile, "." + holdFile, "." + stateFile}, e.Name()) {
			return false
		}
	}
	return true
}
