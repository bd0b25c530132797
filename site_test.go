package brokermark_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/testkit"
)

// Building the site fails by itself where a link leads nowhere; what is left is that no page is missing.
func TestTheSiteHasAPageForEveryDocumentAndAllResultsInItsGallery(t *testing.T) {
	testkit.Long(t) // installs a generator of sites
	if out, err := exec.Command("make", "site").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	gallery := read(t, "site/public/gallery/index.html")
	for _, pattern := range []string{"docs/*.md", "docs/decisions/*.md", "docs/results/*.md", "brokers/*/README.md", "studies/*/README.md", "*.md"} {
		sources, err := filepath.Glob(pattern)
		if err != nil || len(sources) == 0 {
			t.Fatalf("%s: %v, %v", pattern, sources, err)
		}
		for _, source := range sources {
			name := strings.TrimSuffix(source, ".md")
			page := filepath.Join("site/public", strings.ToLower(name), "index.html")
			if source == "README.md" || source == "docs/results/README.md" {
				page = filepath.Join("site/public", filepath.Dir(source), "index.html")
			}
			if _, err := os.Stat(page); err != nil {
				t.Errorf("%s is not on the site: %v", source, err)
			}
			if pattern == "docs/results/*.md" && filepath.Base(source) != "README.md" && !strings.Contains(gallery, name+"/") {
				t.Errorf("the gallery doesn't lead to %s", source)
			}
		}
	}
	if report := read(t, "site/public/gallery/advise.html"); !strings.Contains(report, "jetstream") || !strings.Contains(gallery, "advise.html") {
		t.Error("the gallery has no report as the program writes it")
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
