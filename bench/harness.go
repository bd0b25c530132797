package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"golang.org/x/perf/benchfmt"
)

// harness runs the benchmark of internal/worker: the whole harness over a driver that only hands messages on.
func (b *bench) harness(ctx context.Context) error {
	progress("harness: go test -bench Harness")
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkHarness$", "-benchmem", "-benchtime", "1s",
		"-count", strconv.Itoa(b.pairs), "./internal/worker")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("harness: %w\n%s", err, tail(string(out), 15))
	}
	times, allocs := map[string][]float64{}, map[string][]float64{}
	var names []string
	results := benchfmt.NewReader(bytes.NewReader(out), "harness")
	for results.Scan() {
		r, ok := results.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		name := string(r.Name.Base())
		if _, parts := r.Name.Parts(); len(parts) > 0 {
			name = string(parts[0][1:])
		}
		if times[name] == nil {
			names = append(names, name)
		}
		t, _ := r.Value("sec/op")
		a, _ := r.Value("allocs/op")
		times[name], allocs[name] = append(times[name], t*1e9), append(allocs[name], a)
	}
	if len(names) == 0 {
		return fmt.Errorf("harness: the benchmark printed nothing\n%s", tail(string(out), 15))
	}
	s := section{Title: "Harness", Settings: "one producer in closed loop over a driver that delivers and confirms at once; per message, both directions"}
	for _, name := range names {
		most := 60.0 // ns
		if name == "1KiB" {
			most = 85
		}
		s.Verdicts = append(s.Verdicts,
			atMost("harness per message, "+name, times[name], most, timeForm),
			atMost("harness per message, "+name, allocs[name], 0, allocsForm))
	}
	b.report.Sections = append(b.report.Sections, s)
	return nil
}

// start times the whole process of brokermark version.
func (b *bench) start(ctx context.Context) error {
	const runs, most = 20, 50e6
	var times []float64
	for range runs {
		began := time.Now()
		if out, err := exec.CommandContext(ctx, b.tool, "version").CombinedOutput(); err != nil {
			return fmt.Errorf("%s version: %w\n%s", b.tool, err, out)
		}
		times = append(times, float64(time.Since(began)))
	}
	b.report.Sections = append(b.report.Sections, section{
		Title: "Start", Verdicts: []verdict{atMost("brokermark version, whole process", times, most, timeForm)},
	})
	return nil
}

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
