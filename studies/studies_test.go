package studies_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/brokermark/brokermark/studies"
)

func TestEveryFileOfAStudyIsCarried(t *testing.T) {
	for _, name := range studies.Names() {
		carried, err := studies.FS(name)
		if err != nil {
			t.Fatal(err)
		}
		err = fs.WalkDir(os.DirFS(name), ".", func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			want, _ := os.ReadFile(filepath.Join(name, path))
			if got, err := fs.ReadFile(carried, path); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %s: %v, or not as on disk", name, path, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestAStudyOnDiskIsOpenedByItsFolderOrItsDocument(t *testing.T) {
	dir := t.TempDir()
	document := filepath.Join(dir, studies.Document)
	if err := os.WriteFile(document, []byte("measure: peak\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, document} {
		files, err := studies.FS(name)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := fs.ReadFile(files, studies.Document); err != nil || string(text) != "measure: peak\n" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if _, err := studies.FS(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that isn't there is opened")
	}
}
