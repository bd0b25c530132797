package brokermark_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced       = regexp.MustCompile("(?s)\n```.*?\n```")
	notInAnchor  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// pages are the Markdown files that people read.
func pages(t *testing.T) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || path != "." && strings.HasPrefix(d.Name(), ".")) {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if strings.HasSuffix(path, ".md") && !strings.HasPrefix(path, "site/content/") && !strings.HasPrefix(path, "bench/results/") {
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// anchors are the headings of a page as GitHub and the site name them.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(fenced.ReplaceAllString("\n"+text, "")) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			found[strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), ""), " ", "-")] = true
		}
	}
	return found
}

func TestEveryLinkInTheDocsLeadsSomewhere(t *testing.T) {
	checked := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range markdownLink.FindAllStringSubmatch(fenced.ReplaceAllString("\n"+string(text), ""), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, ":") { // another site
				continue
			}
			checked++
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			info, err := os.Stat(target)
			if err != nil {
				t.Errorf("%s links to %s, which isn't there", page, m[1])
				continue
			}
			if anchor == "" || info.IsDir() {
				continue
			}
			linked, err := os.ReadFile(target)
			if err != nil {
				t.Fatal(err)
			}
			if !anchors(string(linked))[anchor] {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d links were found", checked)
	}
}
