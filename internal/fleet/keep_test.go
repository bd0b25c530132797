package fleet

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestKeptResultsArePrivateAndTheirWorkDirectoryIsNot(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	home := filepath.Join(t.TempDir(), "brokermark")
	f, err := createLocked(filepath.Join(home, "results", "trial"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for path, want := range map[string]fs.FileMode{home: 0o755, filepath.Join(home, "results"): 0o700, f.Name(): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the mode %o, want %o", path, got, want)
		}
	}
}

// Where others may put files, they may put a link at the path of a result, or a result of their own.
func TestNoResultIsKeptInOrTakenFromADirectoryThatOthersMayChange(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	if f, err := createLocked(filepath.Join(dir, "trial")); err == nil {
		t.Errorf("%s was made", f.Name())
		_ = f.Close()
	}
	theirs := filepath.Join(dir, "theirs")
	if err := os.WriteFile(theirs, []byte("no result"), 0o600); err != nil {
		t.Fatal(err)
	}
	if k := findLeftover(dir, Info{}); k != nil {
		t.Errorf("took %v", k)
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Errorf("looked into, and removed: %v", err)
	}
}
