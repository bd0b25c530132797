package brokermark_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// make proof fuzzes those that DECODERS names: a target that isn't there would never be run.
func TestEveryFuzzTargetIsAmongTheDecodersOfTheMakefile(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	target := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(f \*testing\.F\)`)
	found := 0
	err = filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range target.FindAllStringSubmatch(string(text), -1) {
			found++
			if name := filepath.ToSlash(filepath.Dir(path)) + ":" + m[1]; !regexp.MustCompile(regexp.QuoteMeta(name) + `\s`).Match(makefile) {
				t.Errorf("%s is not among DECODERS", name)
			}
		}
		return err
	})
	if err != nil || found < 20 {
		t.Errorf("%d targets found, %v", found, err)
	}
}
