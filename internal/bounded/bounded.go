// Package bounded reads files and answers from elsewhere up to a limit, so that a wrong file or a broken server can't fill the
// memory, and resolves paths without following links of other users. It knows nothing of the contents.
package bounded

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrTooLong is more than the limit.
var ErrTooLong = errors.New("too long")

// ErrNoFile is something that has no end, or none that is known: a device, a pipe.
var ErrNoFile = errors.New("not an ordinary file")

// Unmarked is a text without the byte order mark that some editors and spreadsheets begin it with, and no parser takes.
func Unmarked(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// All reads to the end of r.
func All(r io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLong, limit)
	}
	return text, err
}

// Open opens an ordinary file for reading. It doesn't wait, as to open a pipe does, and leaves devices closed.
func Open(path string) (*os.File, error) {
	f, _, err := open(path)
	return f, err
}

func open(path string) (f *os.File, info fs.FileInfo, err error) {
	info, err = os.Stat(path) // before it is opened: to open some devices is to use them
	if err == nil {
		err = ordinary(info)
	}
	if err != nil {
		return nil, nil, err
	}
	if f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil { // it may have become another
		err = ordinary(info)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// File reads an ordinary file. Whatever its size is said to be, no more than the limit is read.
func File(path string, limit int64) ([]byte, error) {
	f, info, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := fits(info, limit); err != nil {
		return nil, err
	}
	return All(f, limit)
}

// FileIn is File of a file system.
func FileIn(files fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if err := fits(info, limit); err != nil {
		return nil, err
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return All(f, limit)
}

func fits(info fs.FileInfo, limit int64) error {
	if err := ordinary(info); err != nil {
		return err
	}
	if info.Size() > limit {
		return fmt.Errorf("%w: %d bytes, allowed are %d", ErrTooLong, info.Size(), limit)
	}
	return nil
}

func ordinary(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("is a directory")
	case !info.Mode().IsRegular():
		return ErrNoFile
	}
	return nil
}
