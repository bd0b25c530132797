package brokermark_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestEveryDoubtIsExplained(t *testing.T) {
	method, err := os.ReadFile("docs/method.md")
	if err != nil {
		t.Fatal(err)
	}
	stated := regexp.MustCompile(`(?:doubt\(|\bd\.add\(|Doubt\w+ += |Doubt\{(?:Code: )?|\bCode: )"([a-z][a-z0-9-]+)"`)
	found := map[string]bool{}
	err = filepath.WalkDir("internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "storetest") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range stated.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 20 {
		t.Errorf("only %d doubts found in the program: %v", len(found), found)
	}
	for code := range found {
		if !strings.Contains(string(method), "`"+code+"`") {
			t.Errorf("docs/method.md doesn't explain the doubt %s", code)
		}
	}
}
