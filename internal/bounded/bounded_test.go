package bounded

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

type endless struct{ read *int64 }

func (e endless) Read(p []byte) (int, error) {
	*e.read += int64(len(p))
	return len(p), nil
}

func TestNothingIsReadBeyondTheLimit(t *testing.T) {
	var read int64
	if _, err := All(endless{&read}, 1000); !errors.Is(err, ErrTooLong) || read > 100_000 {
		t.Errorf("%d bytes were read: %v", read, err)
	}
	if text, err := All(strings.NewReader("1234"), 4); err != nil || string(text) != "1234" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := All(io.MultiReader(strings.NewReader("1"), broken{}), 4); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestFilesWithoutAnEndAreRefusedBeforeTheyAreRead(t *testing.T) {
	dir := t.TempDir()
	pipe, huge, small := filepath.Join(dir, "pipe"), filepath.Join(dir, "huge"), filepath.Join(dir, "small")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(small, []byte("x"), 0o600), os.WriteFile(huge, nil, 0o600), os.Truncate(huge, 10<<30)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{pipe: ErrNoFile, "/dev/zero": ErrNoFile, huge: ErrTooLong, filepath.Join(dir, "none"): os.ErrNotExist} {
		if _, err := File(path, 1<<20); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if _, err := File(dir, 1<<20); err == nil {
		t.Error("a directory was read")
	}
	if text, err := File(small, 1); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
	files := os.DirFS(dir)
	for name, want := range map[string]error{"pipe": ErrNoFile, "huge": ErrTooLong, "none": os.ErrNotExist, "small": nil} {
		if _, err := FileIn(files, name, 1<<20); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	// The kernel says of its memory that it is an ordinary file.
	if _, err := os.Stat("/proc/kcore"); err == nil {
		if _, err := File("/proc/kcore", 1<<20); !errors.Is(err, ErrTooLong) {
			t.Errorf("/proc/kcore: %v", err)
		}
	}
}
