package brokermark_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	proofRuns    = regexp.MustCompile(`-run '([^']+)'`)
	proofFolders = regexp.MustCompile(`\./(internal/\w+)`)
	testFunction = regexp.MustCompile(`(?ms)^func (Test\w+)\(.*?^}`)
	takesLong    = regexp.MustCompile(`testkit\.(Long|Thorough)\(`)
)

// Outside of ./brokers, make proof names the long tests by patterns. A test that none of them matches is never run.
func TestMakeProofRunsEveryLongTest(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(makefile), "\nproof:")
	recipe, _, _ = strings.Cut(recipe, "\nrace:")
	patterns := map[string][]*regexp.Regexp{} // by folder
	for line := range strings.Lines(recipe) {
		run := proofRuns.FindStringSubmatch(line)
		if run == nil || !strings.Contains(line, "BROKERMARK_LONG=1") {
			continue
		}
		pattern := regexp.MustCompile(run[1])
		if strings.Contains(line, "$(MEASURING)") {
			line += regexp.MustCompile(`(?m)^MEASURING := .*$`).FindString(string(makefile))
		}
		for _, folder := range proofFolders.FindAllStringSubmatch(line, -1) {
			patterns[folder[1]] = append(patterns[folder[1]], pattern)
		}
	}
	files, err := filepath.Glob("internal/*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	long := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range testFunction.FindAllSubmatch(source, -1) {
			if !takesLong.Match(test[0]) {
				continue
			}
			long++
			caught := false
			for _, pattern := range patterns[filepath.ToSlash(filepath.Dir(file))] {
				caught = caught || pattern.Match(test[1])
			}
			if !caught {
				t.Errorf("%s: no pattern of make proof matches %s", file, test[1])
			}
		}
	}
	if long < 10 {
		t.Errorf("%d long tests found: the search for them is wrong", long)
	}
}
