// Command ladder reads what go test -json wrote into the files that are given, and ends make test. It lists the tests that passed only
// when they were run again, each with its first failure, and those that were skipped because the machine lacks something or was too busy.
// It fails where a test was skipped for another reason than those of package testkit, where CI's machine lacks something, and where no test passed.
// It knows nothing of what the tests test.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/testkit"
)

func main() {
	tests := map[name]*outcome{}
	for _, path := range os.Args[1:] {
		if err := read(path, tests); err != nil {
			fmt.Fprintln(os.Stderr, "ladder:", err)
			os.Exit(1)
		}
	}
	if !report(os.Stdout, tests, os.Getenv("CI") != "") {
		os.Exit(1)
	}
}

// event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

type name struct{ pkg, test string }

func (n name) String() string {
	return strings.TrimPrefix(n.pkg, "github.com/brokermark/brokermark/") + " " + n.test
}

// outcome is how a test ended, the last time that it was run.
type outcome struct {
	action string // pass, fail or skip; empty while it runs
	output strings.Builder
	first  string // the output of the first run that failed, where it was run again
}

func read(path string, tests map[name]*outcome) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		var e event
		if err := cmp.Or(err, json.Unmarshal(line, &e)); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if e.Test == "" {
			continue
		}
		at := name{e.Package, e.Test}
		o := tests[at]
		if o == nil {
			o = &outcome{}
			tests[at] = o
		}
		o.add(e)
	}
}

func (o *outcome) add(e event) {
	switch e.Action {
	case "run":
		if o.action == "fail" {
			o.first = cmp.Or(o.first, o.output.String())
		}
		o.action = ""
		o.output.Reset()
	case "output":
		o.output.WriteString(e.Output)
	case "pass", "fail", "skip":
		o.action = e.Action
	}
}

// why finds the reason of a skip, which package testkit begins with its kind.
var why = regexp.MustCompile(`(?m)^ +[\w.-]+\.go:\d+: (` + strings.Join([]string{
	testkit.TakesLong, testkit.NeedsBrokers, testkit.NotApplicable, testkit.Lacking, testkit.Busy,
}, "|") + `): (.*)$`)

// report writes what is worth knowing and reports whether the run counts.
func report(w io.Writer, tests map[name]*outcome, ci bool) bool {
	count, kinds := map[string]int{}, map[string]int{}
	var again, lacking, busy, unexpected []string
	for _, at := range slices.SortedFunc(maps.Keys(tests), func(a, b name) int { return strings.Compare(a.String(), b.String()) }) {
		o := tests[at]
		count[o.action]++
		if o.first != "" {
			again = append(again, fmt.Sprintf("%v: %s; first:\n%s", at, o.action, indented(o.first)))
		}
		if o.action != "skip" {
			continue
		}
		found := why.FindStringSubmatch(o.output.String())
		switch {
		case found == nil:
			unexpected = append(unexpected, fmt.Sprintf("%v:\n%s", at, indented(o.output.String())))
		case found[1] == testkit.Lacking:
			lacking = append(lacking, fmt.Sprintf("%v: %s", at, found[2]))
		case found[1] == testkit.Busy:
			busy = append(busy, fmt.Sprintf("%v: %s", at, found[2]))
		default:
			kinds[found[1]]++
		}
	}
	list(w, "run again after a failure", again)
	list(w, "skipped, because this machine lacks something", lacking)
	list(w, "skipped, because this machine was too busy to judge", busy)
	list(w, "skipped without a reason of package testkit: failed", unexpected)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(w, "skipped, %s: %d\n", kind, kinds[kind])
	}
	ends := len(unexpected) == 0 && count["fail"] == 0 && count[""] == 0 && count["pass"] > 0
	if ci && len(lacking) > 0 {
		fmt.Fprintln(w, "failed: CI's machine must lack nothing")
		ends = false
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", count["pass"], count["fail"]+count[""], count["skip"])
	return ends
}

func list(w io.Writer, title string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(w, "%s:\n  %s\n", title, strings.Join(lines, "\n  "))
	}
}

// indented returns the last lines of an output, which say how it ended.
func indented(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return "    " + strings.Join(lines[max(0, len(lines)-15):], "\n    ")
}
