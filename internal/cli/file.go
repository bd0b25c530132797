package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// file is an output in the making: what can't be finished leaves no half of a file and no old one destroyed.
type file struct {
	*os.File
	path string // to be; that of File itself where it is no ordinary file
}

// newFile begins a file that finish puts in path's place. What is there and is no ordinary file (a device, a pipe) is
// written to as it is: it must not be replaced.
func newFile(path string) (*file, error) {
	if fi, err := os.Stat(path); err == nil && !fi.Mode().IsRegular() && !fi.IsDir() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, cannotWrite(path, err)
		}
		return &file{f, path}, nil
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if fi, err := os.Stat(path); err == nil && fi.IsDir() {
		return nil, cannotWrite(path, &os.PathError{Op: "open", Path: path, Err: syscall.EISDIR})
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".brokermark-*")
	if err != nil {
		return nil, cannotWrite(path, err)
	}
	return &file{f, path}, nil
}

// finish gives the file its name. It returns err, or why that failed; then nothing has changed at path.
func (f *file) finish(err error) error {
	if err == nil && f.path != f.Name() {
		err = errors.Join(f.Chmod(0o644), f.Sync())
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if f.path != f.Name() {
		defer os.Remove(f.Name()) // after the rename there is nothing
		if err == nil {
			err = os.Rename(f.Name(), f.path)
		}
	}
	return cannotWrite(f.path, err)
}

// toFile writes path whole or not at all.
func toFile(path string, write func(io.Writer) error) error {
	f, err := newFile(path)
	if err != nil {
		return err
	}
	return f.finish(write(f))
}

// cannotWrite tells a path that is wrong, which is bad input, from a disk that is full or broken.
func cannotWrite(path string, err error) error {
	var inPath *os.PathError
	var link *os.LinkError
	cause := err
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
	for _, disk := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO} {
		if errors.Is(cause, disk) {
			return &failure{code: exitInternal, err: fmt.Errorf("%s can't be written: %w", path, cause), hint: "make room, or choose another place"}
		}
	}
	return badInput("%s can't be written: %w", path, cause)
}
