package web

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sources are what the bundle is built from.
func sources(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("src/*")
	if err != nil || len(list) < 10 {
		t.Fatalf("%d sources, %v", len(list), err)
	}
	return append(list, "package.json", "package-lock.json")
}

func TestTheCommittedBundleIsBuiltFromTheseSources(t *testing.T) {
	built, err := os.ReadFile("dist/sources.sha256")
	if err != nil {
		t.Fatal(err)
	}
	list := sources(t)
	for _, name := range list {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if line := fmt.Sprintf("%x  %s\n", sha256.Sum256(text), name); !strings.Contains(string(built), line) {
			t.Errorf("%s has changed since the bundle was built: make web, and commit web/dist", name)
		}
	}
	if lines := strings.Count(string(built), "\n"); lines != len(list) {
		t.Errorf("the bundle was built from %d files, now there are %d: make web, and commit web/dist", lines, len(list))
	}
}

func TestTheBundleIsAScriptAndAStyleSheet(t *testing.T) {
	js, css := Bundle()
	if len(js) < 100_000 || !strings.Contains(css, "{") {
		t.Errorf("the script has %d bytes, the style sheet %d", len(js), len(css))
	}
}
