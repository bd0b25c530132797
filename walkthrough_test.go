package brokermark_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/testkit"
)

// page is a walkthrough: the files that it has its reader write, and the tests that it has them run.
type page struct {
	files map[string]string // path in the repository → text
	tests []string          // commands that begin with go test
}

var (
	namedFile = regexp.MustCompile("(?s)\n`([a-z][a-z0-9/_.-]+)`:\n\n```[a-z]*\n(.*?)\n```")
	testRun   = regexp.MustCompile(`(?m)^go test .*$`)
)

func readPage(t *testing.T, path string) page {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := page{files: map[string]string{}, tests: testRun.FindAllString(string(text), -1)}
	for _, m := range namedFile.FindAllStringSubmatch(string(text), -1) {
		p.files[m[1]] = m[2] + "\n"
	}
	return p
}

// overlay has the go command see the page's files as if they had been written.
func (p page) overlay(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for name, text := range p.files {
		at, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(at); err == nil {
			t.Fatalf("the page has its reader write %s, which is there already", name)
		}
		replace[at] = filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(replace[at], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhoFollowsAWalkthroughEndsWithTestsThatPass(t *testing.T) {
	testkit.Long(t)
	for name, c := range map[string]struct {
		files int
		runs  string // a test that must have been among those that ran
	}{
		"docs/adding-a-study.md":  {1, "TestTheStudiesThatComeAlongAreValid"},
		"docs/adding-a-report.md": {2, "TestStatusesCountsWhatEndedOtherwise"},
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			p := readPage(t, name)
			if len(p.files) != c.files || len(p.tests) != 1 {
				t.Fatalf("the page has %d files and %d tests, want %d and 1", len(p.files), len(p.tests), c.files)
			}
			args := append([]string{"test", "-v", "-vet=off", "-overlay", p.overlay(t)}, strings.Fields(p.tests[0])[2:]...)
			out, err := exec.Command("go", args...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: "+c.runs) {
				t.Errorf("%s: %v\n%s", p.tests[0], err, out)
			}
		})
	}
}

func TestTheFilesOfABrokerAreThoseThatTheWalkthroughNames(t *testing.T) {
	text, err := os.ReadFile("docs/adding-a-broker.md")
	if err != nil {
		t.Fatal(err)
	}
	_, listing, _ := strings.Cut(string(text), "brokers/example/\n")
	listing, _, _ = strings.Cut(listing, "```")
	files := 0
	for line := range strings.Lines(listing) {
		file, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if file == "" {
			continue
		}
		files++
		for _, broker := range []string{"kafka", "rabbitmq", "nats", "jetstream", "redis", "qpid"} {
			if _, err := os.Stat(filepath.Join("brokers", broker, file)); err != nil {
				t.Errorf("the page has its reader write %s; %s has none", file, broker)
			}
		}
	}
	if files < 6 {
		t.Errorf("only %d files of a broker are named", files)
	}
}
