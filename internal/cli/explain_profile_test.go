package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// The folder is beside the store, where another user may have put a link or a file of that name.
func TestProfilesAreWrittenIntoAFolderOfThisUserOnly(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "explain-1")
	for range 2 {
		if err := makeOwn(folder); err != nil {
			t.Fatal(err)
		}
	}
	link, file := filepath.Join(dir, "explain-2"), filepath.Join(dir, "explain-3")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, file} {
		if err := makeOwn(path); codeOf(err) != exitInput {
			t.Errorf("%s: %v", path, err)
		}
	}
}
