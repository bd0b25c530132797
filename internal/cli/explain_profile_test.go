package cli

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/brokermark/brokermark/internal/explain"
	"github.com/brokermark/brokermark/internal/study"
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

// Its name is known beforehand, so that another user may have put one there with drawings, profiles, and links to files of this user's.
func TestAFolderOfOthersWithDrawingsIsNotTakenForOneThatIsFinished(t *testing.T) {
	dir, theirs, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "file")
	for _, err := range []error{
		os.WriteFile(file, []byte("precious"), 0o600), os.WriteFile(filepath.Join(theirs, "a.svg"), nil, 0o600),
		os.WriteFile(filepath.Join(theirs, "x.folded"), []byte("a;b 1\n"), 0o600), os.Symlink(file, filepath.Join(theirs, "x.svg")),
		os.Symlink(theirs, filepath.Join(dir, "explain-1")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s, e := &shell{out: io.Discard, err: io.Discard}, &explained{about: explain.Case{Study: "explain-1"}}
	err := s.profileRun(t.Context(), runOptions{store: filepath.Join(dir, "x.db")}, e, study.Point{}, nil)
	if codeOf(err) != exitInput {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "precious" {
		t.Errorf("the file has become %q: %v", text, err)
	}
}
