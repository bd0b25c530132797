package fleet

import (
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
