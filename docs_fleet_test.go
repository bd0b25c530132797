package brokermark_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/cli"
)

// Every command of the page on fleets has flags that the program knows; what they do is shown by the tests of internal/cli.
func TestTheCommandsOnFleetsAreCommands(t *testing.T) {
	text, err := os.ReadFile("docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", " ")) {
			line, _, _ = strings.Cut(line, " #")
			line, _, _ = strings.Cut(line, " | ")
			words := strings.Fields(strings.ReplaceAll(line, "'", ""))
			if len(words) == 0 || words[0] != "brokermark" {
				continue
			}
			seen++
			c, args, err := cli.Command().Find(words[1:])
			if err != nil || !c.Runnable() {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if err := c.ParseFlags(args); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d commands", seen)
	}
}
