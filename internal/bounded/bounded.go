// Package bounded reads what somebody else wrote up to a limit, so that a wrong file or a broken server can't fill the
// memory. It knows nothing of what is read.
package bounded

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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

// File reads an ordinary file. Whatever its size is said to be, no more than the limit is read.
func File(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path) // before it is opened: opening a pipe waits for its other end
	if err != nil {
		return nil, err
	}
	if err := fits(info, limit); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
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
	switch {
	case info.IsDir():
		return errors.New("is a directory")
	case !info.Mode().IsRegular():
		return ErrNoFile
	case info.Size() > limit:
		return fmt.Errorf("%w: %d bytes, allowed are %d", ErrTooLong, info.Size(), limit)
	}
	return nil
}
