package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/brokermark/brokermark/internal/cli"
)

// piped runs the program with a file for its output, which is how wide COLUMNS says.
func piped(t *testing.T, columns int, args ...string) string {
	t.Helper()
	t.Setenv("COLUMNS", strconv.Itoa(columns))
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var complaints bytes.Buffer
	cli.Main(t.Context(), args, strings.NewReader(""), out, &complaints)
	text, err := os.ReadFile(out.Name())
	if err != nil || len(text) == 0 {
		t.Fatalf("%v; nothing was printed: %s", err, &complaints)
	}
	return string(text)
}

// What is piped says how wide it may be by COLUMNS.
func TestWhatIsPrintedFitsTheTerminal(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "s.db")
	sweep := short("--store", db, "--axis", "client.latency=1ms,2ms", "--axis", "inFlight.messages=10,20", "--axis", "topics=1,2", "--set", "count.messages=20")
	brokermark(t, sweep...).want(t, 0)
	for _, width := range []int{80, 200} {
		for _, args := range [][]string{
			{"check", "head-to-head"},
			{"check", "rabiee-2018"},
			append([]string{"check"}, sweep[1:]...),
			{"report", "--store", db},
			{"report", "recommend", "--store", db},
			{"report", "headtohead", "--store", db},
			{"report", "ledger", "--store", db},
			{"compare", "topics=1", "topics=2", "--store", db},
			{"list", "brokers"},
			{"list", "settings", "kafka"},
			{"list", "metrics"},
			{"list", "studies"},
			{"export", "--help"},
			{"list", "guarantees"},
			{"doctor"},
		} {
			name := strings.Join(args, " ") + " at " + strconv.Itoa(width)
			for line := range strings.Lines(piped(t, width, args...)) {
				line = strings.TrimRight(line, "\n")
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%s has a line of %d: %s", name, n, line)
				}
				if words := strings.Fields(line); utf8.RuneCountInString(line) > 120 && len(words) > 12 && !strings.Contains(line, "  ") {
					t.Errorf("%s has a sentence of %d columns: %s", name, utf8.RuneCountInString(line), line)
				}
			}
		}
	}
}

// A plan that doesn't fit leaves the points' IDs out, which every other format has, before it is cut into parts.
func TestAPlanIsOneTableInANarrowTerminal(t *testing.T) {
	out := piped(t, 80, "check", "head-to-head")
	if n := strings.Count(out, "\n #  "); n != 1 || strings.Contains(out, "  point") {
		t.Errorf("%d tables:\n%s", n, out)
	}
	if out := piped(t, 120, "check", "head-to-head"); !strings.Contains(out, " #  point ") {
		t.Errorf("where there is room the points' IDs are missing:\n%s", out)
	}
	if out := brokermark(t, "check", "head-to-head", "--format", "csv").want(t, 0).out; !strings.HasPrefix(out, "number,point,broker,") {
		t.Errorf("for machines:\n%.200s", out)
	}
}

func TestAPlanSaysOnceWhatAllItsPointsShare(t *testing.T) {
	out := brokermark(t, append([]string{"check"}, short("--axis", "client.latency=1ms,2ms", "--axis", "inFlight.messages=10,20")[1:]...)...).want(t, 0).out
	words := strings.Join(strings.Fields(out), " ")
	if !strings.Contains(words, "All points: sim, count, at-least-once, 100.") || strings.Contains(words, "client.latency=") || strings.Count(words, "at-least-once") != 1 {
		t.Errorf("the plan of a sweep:\n%s", out)
	}
	if out := brokermark(t, append([]string{"check"}, short()[1:]...)...).want(t, 0).out; strings.Contains(out, "All points") {
		t.Errorf("the plan of one point:\n%s", out)
	}
}
