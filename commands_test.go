package brokermark_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/cli"
)

var typed = regexp.MustCompile("(?s)\n```(?:sh)?\n(.*?)\n```")

// commands are the lines of a page's code blocks that a reader types, without comments and what reads their output.
func commands(t *testing.T, page string) []string {
	t.Helper()
	var list []string
	for _, block := range typed.FindAllStringSubmatch(read(t, page), -1) {
		for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", " ")) {
			line, _, _ = strings.Cut(line, " #")
			line, _, _ = strings.Cut(line, " | ")
			list = append(list, strings.TrimSpace(strings.TrimPrefix(line, "$ ")))
		}
	}
	return list
}

// What a page has its reader type are commands, flags and targets that there are; internal/cli tests what they do.
func TestWhatTheDocsHaveTheirReadersTypeIsThere(t *testing.T) {
	programs, targets := 0, 0
	for _, page := range pages(t) {
		if strings.HasPrefix(page, "docs/decisions/") || strings.HasPrefix(page, "docs/results/") { // of the past
			continue
		}
		for _, line := range commands(t, page) {
			words := strings.Fields(strings.ReplaceAll(line, "'", ""))
			switch {
			case len(words) < 2:
			case words[0] == "brokermark":
				programs++
				c, args, err := cli.Command().Find(words[1:])
				if err != nil || !c.Runnable() {
					t.Errorf("%s: %s: %v", page, line, err)
				} else if err := c.ParseFlags(args); err != nil {
					t.Errorf("%s: %s: %v", page, line, err)
				}
			case words[0] == "make":
				targets++
				if out, err := exec.Command("make", "-n", words[1]).CombinedOutput(); err != nil {
					t.Errorf("%s: %s: %v\n%s", page, line, err, out)
				}
			}
		}
	}
	if programs < 30 || targets < 6 {
		t.Errorf("only %d commands and %d targets were found", programs, targets)
	}
}

func TestEveryExitCodeIsInTheDocs(t *testing.T) {
	text := read(t, "docs/commands.md")
	for _, e := range cli.ExitCodes {
		if !strings.Contains(text, "| "+e.Meaning+" |") {
			t.Errorf("docs/commands.md lacks the exit code %d for %q", e.Code, e.Meaning)
		}
	}
}
