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

// waitingFile is a file of records that wait for their store. It is locked while its run lives, and readable here also when it was
// removed.
type waitingFile struct {
	*os.File
	path    string
	records int
	size    int64 // bytes of whole lines
}

// errInUse says that the run of a file goes on, or has ended with the file removed.
var errInUse = errors.New("its run goes on")

// newWaitingFile makes a file in dir by a pattern as os.CreateTemp takes it. It has a name that begins with a dot until it is locked:
// by its own name another run would take it for one that was left.
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
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, fs.ErrNotExist) { // else removeNameless was faster
			return nil, errors.Join(err, os.Remove(f.Name()))
		}
	}
}

// exclusiveNow is a lock that isn't waited for.
const exclusiveNow = syscall.LOCK_EX | syscall.LOCK_NB

// syncFolder returns when the names of the files in a folder are on the disk, if its file system can be told to write them.
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

// removeNameless removes files that newWaitingFile had made and not named when its process was killed.
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

// check refuses a file that this program didn't write: what another user put there is no record of this one.
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

// add writes lines behind the last whole line, to the disk, and removes one that was cut off. After an error the file has none of them.
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

// setAside gives the file a name by which no run adopts it, and ends its lock. It returns that name.
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

// maxSetAside bounds the damaged files that one name may leave.
const maxSetAside = 100

// remove deletes the file, if it is still there, and ends its lock.
func (w *waitingFile) remove() error {
	defer w.Close()
	if err := os.Remove(w.Name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
