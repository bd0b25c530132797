package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
)

// grownBytes is how a test of a simulated day says how much memory it has left behind.
var grownBytes = regexp.MustCompile(`(?m)^\s*=== ATTR\s+(\S+) grown_bytes (\d+)$`)

// day is the memory that a simulated day at 20,000/s takes, and an hour at 1,000,000/s: the tests that hold it say so.
func (b *bench) day(ctx context.Context) error {
	const most = 200e6 // of the whole process; the ledger and the samples are what grows with time
	progress("memory over a simulated day")
	test := exec.CommandContext(ctx, "go", "test", "-v", "-count", "1", "-run", "^TestADayOf", "./internal/measure", "./internal/worker")
	test.Env = append(os.Environ(), "BROKERMARK_LONG=1") // the whole day; a tenth of it otherwise
	out, err := test.CombinedOutput()
	if err != nil {
		return fmt.Errorf("a simulated day: %w\n%s", err, tail(string(out), 15))
	}
	s := section{Title: "A simulated day"}
	for _, m := range grownBytes.FindAllStringSubmatch(string(out), -1) {
		grown, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return err
		}
		s.Verdicts = append(s.Verdicts, atMost("memory after "+m[1], []float64{grown}, most, bytesForm))
	}
	if len(s.Verdicts) == 0 {
		return fmt.Errorf("a simulated day: the tests told of no memory\n%s", tail(string(out), 15))
	}
	b.report.Sections = append(b.report.Sections, s)
	return nil
}
