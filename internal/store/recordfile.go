package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxWaiting bounds the file of an outbox, in bytes.
const maxWaiting = 1 << 30

// waitingFile is a file of records that wait for their store. It is locked while its run lives, and this process can read it even
// after its deletion.
type waitingFile struct {
	*os.File
	path    string
	records int
	size    int64 // bytes of whole lines
}

// errInUse means that the file's run is still alive, or has ended and deleted the file.
var errInUse = errors.New("its run goes on")

// newWaitingFile creates a file in dir by a pattern as os.CreateTemp takes it. Until it is locked its name begins with a dot:
// under its own name another run would adopt it.
func newWaitingFile(dir, pattern string) (*waitingFile, error) {
	for {
		f, err := os.CreateTemp(dir, "."+pattern)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, strings.TrimPrefix(filepath.Base(f.Name()), "."))
		if err = syscall.Flock(int(f.Fd()), exclusiveNow); err == nil {
			err = os.Rename(f.Name(), path)
		}
		if err == nil {
			w := &waitingFile{File: f, path: path}
			if err = syncFolder(dir); err != nil {
				return nil, errors.Join(err, w.remove())
			}
			return w, nil
		}
		f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, fs.ErrNotExist) { // otherwise removeNameless was faster
			return nil, errors.Join(err, os.Remove(f.Name()))
		}
	}
}

// exclusiveNow locks a file, or fails at once if another process has the lock.
const exclusiveNow = syscall.LOCK_EX | syscall.LOCK_NB

// syncFolder waits until the names of the files in a folder are on the disk, if the file system supports that.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// removeNameless removes files of processes that were killed in newWaitingFile, before the file had its name.
func removeNameless(pattern string) {
	paths, _ := filepath.Glob(pattern)
	for _, path := range paths {
		if w, err := adoptWaitingFile(path); err == nil {
			_ = w.remove()
		}
	}
}

// adoptWaitingFile opens and locks the file of an earlier run of this user. It returns errInUse if that run goes on.
func adoptWaitingFile(path string) (*waitingFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	w := &waitingFile{File: f, path: path}
	if err := w.check(); err != nil {
		f.Close()
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), exclusiveNow); err != nil || !w.inPlace() {
		f.Close()
		return nil, errInUse
	}
	text, err := io.ReadAll(w.content())
	if err != nil {
		f.Close()
		return nil, err
	}
	w.records, w.size = bytes.Count(text, []byte("\n")), int64(bytes.LastIndexByte(text, '\n')+1)
	return w, nil
}

// check refuses a file that this program didn't write: another user may have put it there.
func (w *waitingFile) check() error {
	info, err := w.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxWaiting {
		return fmt.Errorf("not an ordinary file of at most %d bytes", maxWaiting)
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return errors.New("the file belongs to another user")
	}
	return nil
}

// Name returns the path of the file.
func (w *waitingFile) Name() string { return w.path }

// inPlace reports whether the file is still the one at its path.
func (w *waitingFile) inPlace() bool {
	own, err := w.Stat()
	there, missing := os.Lstat(w.path)
	return err == nil && missing == nil && os.SameFile(own, there)
}

// content reads the file from its beginning.
func (w *waitingFile) content() io.Reader { return io.NewSectionReader(w.File, 0, maxWaiting) }

// lines returns the whole lines of the file, as far as they can be read.
func (w *waitingFile) lines() []byte {
	text, _ := io.ReadAll(io.NewSectionReader(w.File, 0, w.size))
	return text
}

// add writes lines to the disk after the last whole line, and removes an incomplete one. After an error the file has none of the lines.
func (w *waitingFile) add(lines []byte) error {
	err := w.Truncate(w.size)
	if err == nil {
		_, err = w.WriteAt(lines, w.size)
	}
	if err = errors.Join(err, w.Sync()); err != nil {
		return errors.Join(err, w.Truncate(w.size))
	}
	w.records += bytes.Count(lines, []byte("\n"))
	w.size += int64(len(lines))
	return nil
}

// setAside renames the file so that no run adopts it, unlocks it, and returns the new name.
func (w *waitingFile) setAside() (string, error) {
	path := w.Name() + ".damaged"
	for n := 2; os.Link(w.Name(), path) != nil; n++ { // unlike a rename, a link replaces no file
		if n > maxSetAside {
			return "", fmt.Errorf("set %s aside: no name up to %s is free, or the folder allows none", w.Name(), path)
		}
		path = fmt.Sprintf("%s.damaged-%d", w.Name(), n)
	}
	return path, w.remove()
}

// maxSetAside bounds the damaged files with the same base name.
const maxSetAside = 100

// remove deletes the file, if it is still there, and ends its lock.
func (w *waitingFile) remove() error {
	defer w.Close()
	if err := os.Remove(w.Name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
