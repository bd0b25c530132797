package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/brokermark/brokermark/internal/bounded"
)

// file is an output file that appears at its path when it is complete. Until then it has another name, so that what can't be
// finished leaves no half of a file and doesn't destroy an old one.
type file struct {
	*os.File
	path string // equal to its Name for a device or a pipe
}

// newFile begins a file that finish puts at path. A device or a pipe that is there is written to as it is: it must not be
// replaced.
func newFile(path string) (*file, error) {
	path, err := bounded.OwnPath(path)
	if err != nil {
		return nil, badInput("%s can't be written: %w", path, err)
	}
	info, err := os.Stat(path)
	isDir := err == nil && info.IsDir()
	isDevice := err == nil && !info.IsDir() && !info.Mode().IsRegular()
	var f *os.File
	switch {
	case isDir:
		err = &os.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case isDevice && info.Mode()&os.ModeNamedPipe != 0:
		f, err = openPipe(path)
	case isDevice:
		f, err = os.OpenFile(path, os.O_WRONLY, 0)
	case isSQLite(path):
		return nil, aStore(path)
	default:
		f, err = os.CreateTemp(filepath.Dir(path), ".brokermark-*")
	}
	if err == nil && isDevice {
		if open, errStat := f.Stat(); errStat != nil || !os.SameFile(info, open) { // a pipe of another user, who has put a link in its place
			err = errors.Join(&os.PathError{Op: "open", Path: path, Err: errors.New("it was replaced meanwhile")}, f.Close())
		}
	}
	if err != nil {
		return nil, cannotWrite(path, err)
	}
	return &file{f, path}, nil
}

// pipePatience is how long a pipe may be without a reader.
const pipePatience = 2 * time.Second

// openPipe opens a pipe for writing. It doesn't wait for ever for a reader: the pipe may be another user's, who expected a report there.
func openPipe(path string) (*os.File, error) {
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		switch {
		case !errors.Is(err, syscall.ENXIO):
			return f, err
		case time.Since(began) > pipePatience:
			return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("it is a pipe that nothing reads")}
		}
	}
}

// finish puts the file at its path, unless err says that it couldn't be written. It returns err, or why that failed; then nothing
// has changed at path.
func (f *file) finish(err error) error {
	replaces := f.path != f.Name()
	if err == nil && replaces {
		err = errors.Join(f.Chmod(0o644), f.Sync())
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if replaces {
		defer os.Remove(f.Name())           // does nothing after the rename
		if err == nil && isSQLite(f.path) { // made since newFile, by the same run
			return aStore(f.path)
		}
		if err == nil {
			err = os.Rename(f.Name(), f.path)
		}
	}
	return cannotWrite(f.path, err)
}

// isSQLite reports whether the ordinary file at path is a SQLite file. No output is one, but a store is.
func isSQLite(path string) bool {
	const begin = "SQLite format 3\x00"
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(begin))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == begin
}

// aStore says that a path is no place for an output.
func aStore(path string) error {
	return badInput("%s can't be written: it is a SQLite file, such as a store of results; name another file", path)
}

// toFile writes path whole or not at all.
func toFile(path string, write func(io.Writer) error) error {
	f, err := newFile(path)
	if err != nil {
		return err
	}
	return f.finish(write(f))
}

// cannotWrite adds the path to an error of writing a file. A path that is wrong is bad input; a disk that is full or broken is not.
func cannotWrite(path string, err error) error {
	var inPath *os.PathError
	var link *os.LinkError
	var cause error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &inPath):
		cause = inPath.Err
	case errors.As(err, &link):
		cause = link.Err
	default:
		return fmt.Errorf("write %s: %w", path, err)
	}
	ofDisk := func(code syscall.Errno) bool { return errors.Is(cause, code) }
	if slices.ContainsFunc([]syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO}, ofDisk) {
		return &failure{code: exitInternal, err: fmt.Errorf("%s can't be written: %w", path, cause), hint: "make room, or choose another place"}
	}
	return badInput("%s can't be written: %w", path, cause)
}
