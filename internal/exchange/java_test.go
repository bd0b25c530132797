package exchange

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) {
	provision.Main() // Maven runs below a supervisor, which is this program
	os.Exit(m.Run())
}

// reference is the class path of HdrHistogram itself, fetched by its package name.
func reference(t *testing.T) string {
	t.Helper()
	testkit.Live(t)
	dir, err := os.MkdirTemp("", "brokermark-exchange-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // Maven runs as a user of its own
		t.Fatal(err)
	}
	i := provision.Install{Version: "2.2.2", Dir: dir, Log: t.Logf}
	if err := i.Maven(context.WithoutCancel(t.Context()), os.DirFS("testdata"), "org.hdrhistogram:HdrHistogram:2.2.2"); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(i.Dir, "lib", "*")
}

var (
	percentileLine = regexp.MustCompile(`(?m)^ *([0-9.]+) +([0-9.]+) +(\d+)`)
	totalCount     = regexp.MustCompile(`Total count += +(\d+)\]`)
)

// TestJavasHdrHistogramReadsTheLog merges the intervals of a point with the reference implementation's own tool and
// compares what it makes of them with the merged histograms of the store, and with the text we write ourselves.
func TestJavasHdrHistogramReadsTheLog(t *testing.T) {
	classes := reference(t)
	records := storetest.Demo()
	kind := e2e(t)
	var log bytes.Buffer
	if err := WriteHlog(&log, records, kind); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "e2e.hlog")
	if err := os.WriteFile(path, log.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	merged := map[string]hist.Snapshot{}
	for _, r := range records {
		for _, i := range intervals(r, kind) {
			merged[i.tag] = merged[i.tag].Merge(i.latency)
		}
	}
	compared := 0
	for _, d := range results.Distributions(results.Of(records).Points, kind) {
		want, ok := merged[d.Point.ID]
		if !ok || compared == 4 { // each costs the start of a virtual machine
			continue
		}
		compared++
		name := filepath.Join(dir, fmt.Sprint("read", compared))
		out, err := exec.CommandContext(t.Context(), "java", "-cp", classes, "org.HdrHistogram.HistogramLogProcessor",
			"-i", path, "-tag", d.Point.ID, "-o", name, "-outputValueUnitRatio", "1000000").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		read, err := os.ReadFile(name + ".hgrm")
		if err != nil {
			t.Fatal(err)
		}
		if got := totalCount.FindSubmatch(read); got == nil || string(got[1]) != strconv.FormatInt(want.Count(), 10) {
			t.Errorf("%s: Java counts %s values, want %d", d.Point.ID, got, want.Count())
		}
		lines := percentileLine.FindAllStringSubmatch(string(read), -1)
		if len(lines) < 10 {
			t.Fatalf("%s: Java reads only %d percentiles:\n%s", d.Point.ID, len(lines), read)
		}
		for _, l := range lines {
			value, _ := strconv.ParseFloat(l[1], 64)
			count, _ := strconv.ParseInt(l[3], 10, 64)
			if quantile := float64(want.Quantile(float64(count) / float64(want.Count()))); !near(value*1e6, quantile) {
				t.Errorf("%s: Java reads %v ms up to value %d, want %v", d.Point.ID, value, count, quantile/1e6)
			}
		}
		sameText(t, d, kind, string(read))
	}
	if compared != 4 {
		t.Errorf("%d points compared", compared)
	}
}

// sameText holds our percentile text to Java's, line by line: values within the precision, since Java adds up what was
// rounded repetition by repetition, everything else to the letter.
func sameText(t *testing.T, d results.Distribution, kind results.LatencyKind, java string) {
	t.Helper()
	var ours bytes.Buffer
	if err := WriteHgrm(&ours, d, kind); err != nil {
		t.Fatal(err)
	}
	table := func(text string) []string {
		var lines []string
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				lines = append(lines, strings.Join(strings.Fields(line), " "))
			}
		}
		return lines
	}
	a, b := table(ours.String()), table(java)
	if len(a) != len(b) {
		t.Errorf("%s: %d lines, Java writes %d", d.Point.ID, len(a), len(b))
	}
	for i := range min(len(a), len(b)) {
		value, rest, _ := strings.Cut(a[i], " ")
		values, rests, _ := strings.Cut(b[i], " ")
		x, err := strconv.ParseFloat(value, 64)
		y, err2 := strconv.ParseFloat(values, 64)
		if rest != rests || i > 0 && (err != nil || err2 != nil || !near(x*1e6, y*1e6)) {
			t.Errorf("%s: line %d is %q, Java writes %q", d.Point.ID, i, a[i], b[i])
			return
		}
	}
}
