package lab_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// Helpers of several test files: specs, ways to run them, and checks.

// simSpec returns a short, complete spec on the simulated broker.
func simSpec(edit func(*study.Spec)) study.Spec {
	s := study.Defaults()
	s.Broker, s.Delivery, s.Persistence, s.Acks = "sim", "at-least-once", "memory", "leader"
	s.Warmup = study.Warmup{For: study.Duration(100 * time.Millisecond)}
	s.Drain = study.Duration(2 * time.Second)
	setRate(&s, 2000, 300*time.Millisecond)
	if edit != nil {
		edit(&s)
	}
	return s
}

// runsOf returns the first repetition of each spec.
func runsOf(specs ...study.Spec) []study.Run {
	var runs []study.Run
	for i, s := range specs {
		runs = append(runs, study.Run{Point: &study.Point{ID: s.ID(), Study: "test", Label: fmt.Sprint("point ", i), Spec: s}, Repetition: 1})
	}
	return runs
}

func openStore(t *testing.T) *store.Store {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func readRecords(t *testing.T, db *store.Store) []store.Record {
	t.Helper()
	records, err := db.Records(context.Background(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// runPoint runs one spec and returns its record. If it is void because this process was paused, it
// is run up to four times; then the test is skipped. Tests that pause the process on purpose call
// runOnce, and tests that run beside others call runCounts.
func runPoint(t *testing.T, s study.Spec, o lab.Options) store.Record {
	t.Helper()
	var r store.Record
	for range 4 {
		if r = runOnce(t, s, o); !processPaused(r) {
			return r
		}
	}
	testkit.Undecided(t, "this machine was too busy four times: %s: %s", r.Status, r.Reason)
	return r
}

// runCounts runs one spec once and returns its record, which is ok or void. It is for tests that
// run beside others and judge only counts, stages or texts: the others may keep the generator late
// or its cores busy, and the counts hold all the same.
func runCounts(t *testing.T, s study.Spec, o lab.Options) store.Record {
	t.Helper()
	r := runOnce(t, s, o)
	if !countsHold(r) {
		t.Fatalf("%s: %s, %+v", r.Status, r.Reason, r.Result)
	}
	return r
}

// countsHold reports whether a record is ok, or void with what was counted.
func countsHold(r store.Record) bool {
	return r.Result != nil && (r.Status == store.OK || r.Status == store.Void)
}

// runOnce runs one spec once.
func runOnce(t *testing.T, s study.Spec, o lab.Options) store.Record {
	t.Helper()
	o.Store, o.Log = openStore(t), testLog{t}
	if _, err := lab.Run(t.Context(), runsOf(s), o); err != nil {
		t.Fatal(err)
	}
	records := readRecords(t, o.Store)
	if len(records) != 1 {
		t.Fatalf("%d records", len(records))
	}
	return records[0]
}

func hasDoubt(r store.Record, code string) bool {
	return slices.ContainsFunc(r.Doubts, func(d store.Doubt) bool { return d.Code == code })
}

// runUndisturbed runs a spec on the simulated broker and returns its record. If other processes disturbed it, it is run once more; a
// search repeats its own trials.
func runUndisturbed(t *testing.T, edit func(*study.Spec)) store.Record {
	t.Helper()
	s := longSpec(t, edit)
	r := runPoint(t, s, lab.Options{})
	if (hasDoubt(r, "busy-machine") || r.Status == store.Void) && s.Measure != "sustainable" {
		r = runPoint(t, s, lab.Options{})
	}
	return r
}

// longSpec returns a spec on the simulated broker whose measurement and load edit sets, with a
// longer warm-up and drain than simSpec's.
func longSpec(t *testing.T, edit func(*study.Spec)) study.Spec {
	t.Helper()
	testkit.NotShort(t)
	s := study.Defaults()
	s.Broker, s.Delivery, s.Persistence, s.Acks = "sim", "at-least-once", "memory", "leader"
	s.Warmup = study.Warmup{For: study.Duration(300 * time.Millisecond)}
	s.Drain = study.Duration(5 * time.Second)
	edit(&s)
	return s
}

// processPaused reports whether a record, or a rate of its curve, is void while this process was paused for at least half as long as
// the generator may be late: on a machine as busy as that, only counts can be tested. Under the race detector everything takes ten
// times as long, and the generator may be late for that alone.
func processPaused(r store.Record) bool {
	if r.Result == nil {
		return false
	}
	paused := func(s store.Status, p *store.Pauses) bool {
		return s == store.Void && p != nil && (testkit.Racing || p.Late.Max() > int64(5*time.Millisecond))
	}
	return paused(r.Status, r.Result.Pauses) ||
		slices.ContainsFunc(r.Result.Curve, func(l store.CurvePoint) bool { return paused(l.Status, l.Pauses) })
}

// testLog writes to the log of a test.
type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) { l.t.Logf("%s", p); return len(p), nil }

// setRate makes a spec offer a constant rate, in messages per second.
func setRate(s *study.Spec, rate float64, length time.Duration) {
	s.Measure, s.Load = "rate", study.Load{Shape: "constant", Rate: rate}
	s.Duration = study.Duration(length)
}

// checkNear fails the test unless got, a figure of r, is within share of want. It skips the test instead if r says that other
// processes used the machine.
func checkNear(t *testing.T, r store.Record, what string, got, want, share float64) {
	t.Helper()
	switch {
	case math.Abs(got-want) <= share*want:
	case hasDoubt(r, "busy-machine"):
		testkit.Undecided(t, "%s: %.4g instead of %.4g, and the record says why: %v", what, got, want, r.Doubts)
	default:
		t.Errorf("%s: %.4g, the truth is %.4g (within %g %%)", what, got, want, share*100)
	}
}

// newHost returns a host for brokers in a directory that is removed with the test. It is not t.TempDir, because brokers run as a user
// who can't enter that.
func newHost(t *testing.T) *provision.Host {
	t.Helper()
	dir, err := os.MkdirTemp("", "brokermark-lab-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	h, err := provision.NewHost(dir, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// sharedHost returns a host in the usual directory, where packages may be installed already: installing them takes minutes.
func sharedHost(t *testing.T) *provision.Host {
	t.Helper()
	testkit.Live(t)
	h, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// checkNothingLeft fails the test if a run has left a process or a directory behind.
func checkNothingLeft(t *testing.T, h *provision.Host) {
	t.Helper()
	if left := h.Running(); len(left) > 0 {
		t.Errorf("still running: %+v", left)
	}
	dirs, err := filepath.Glob(filepath.Join(h.Dir, "run", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if i, err := os.Stat(d); err == nil && i.IsDir() && !strings.HasPrefix(filepath.Base(d), ".") && filepath.Base(d) != "ports" {
			t.Errorf("%s is left behind", d)
		}
	}
}

// natsSpec returns a short, complete spec on NATS.
func natsSpec(edit func(*study.Spec)) study.Spec {
	return simSpec(func(s *study.Spec) {
		s.Broker, s.Delivery, s.Acks = "nats", "at-most-once", "none"
		setRate(s, 1000, 500*time.Millisecond)
		if edit != nil {
			edit(s)
		}
	})
}

// endings returns a line about how each record ended.
func endings(records []store.Record) string {
	var b strings.Builder
	for _, r := range records {
		fmt.Fprintf(&b, "%s: %s\n", r.Status, r.Reason)
	}
	return b.String()
}

// runSearch runs a search on sim with short trials.
func runSearch(t *testing.T, edit func(*study.Spec)) (store.Record, *store.Sustainable) {
	t.Helper()
	r := runUndisturbed(t, func(s *study.Spec) {
		s.Measure = "sustainable"
		s.Sustainable.Trial, s.Sustainable.Confirm = study.Duration(500*time.Millisecond), study.Duration(1500*time.Millisecond)
		s.Sustainable.Warmup = study.Duration(200 * time.Millisecond)
		s.Sustainable.Confirms = 1
		edit(s)
	})
	if r.Result == nil || r.Result.Sustainable == nil {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	for _, tr := range r.Result.Sustainable.Trials {
		t.Logf("%-8s %9.0f/s %s %s", tr.Kind, tr.Rate, tr.Verdict, tr.Reason)
	}
	return r, r.Result.Sustainable
}

// checkBounds fails the test unless the true rate lies within the bounds, and they are no wider than asked for. It skips the test
// instead if the record says that the search was disturbed.
func checkBounds(t *testing.T, r store.Record, low, high, truth, width float64) {
	t.Helper()
	switch {
	case low <= truth*1.0101 && high >= truth && high <= low*(1+width)*(1+1e-9): // the rule allows a growth of 1 %
	case disturbed(r):
		testkit.Undecided(t, "%.0f to %.0f/s around %.0f/s: %s %s, %v", low, high, truth, r.Status, r.Reason, r.Doubts)
	default:
		t.Errorf("%.0f to %.0f/s, the truth is %.0f/s: %s %s, %v", low, high, truth, r.Status, r.Reason, r.Doubts)
	}
}

// requireFound ends the test unless a search came to its end with a rate. It skips the test if the record says that the search was
// disturbed, and fails it otherwise: a search that had no time or no rate is wrong.
func requireFound(t *testing.T, r store.Record) {
	t.Helper()
	switch {
	case r.Result.Sustainable.Low > 0 && !hasDoubt(r, "incomplete-search"):
	case disturbed(r):
		testkit.Undecided(t, "%s: %s, %v", r.Status, r.Reason, r.Doubts)
	default:
		t.Fatalf("nothing was found, and nothing disturbed the search: %s: %s, %v", r.Status, r.Reason, r.Doubts)
	}
}

// disturbed is whether the record of a search says that this machine, not the broker, decided one of its trials.
func disturbed(r store.Record) bool {
	voided := func(trial store.Trial) bool { return trial.Verdict == string(store.Void) }
	return r.Status == store.Void || hasDoubt(r, "busy-machine") || slices.ContainsFunc(r.Result.Sustainable.Trials, voided)
}

// parseSpec returns the spec of a document with one point.
func parseSpec(t *testing.T, text string) study.Spec {
	t.Helper()
	s, err := study.Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil || len(points) != 1 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	return points[0].Spec
}
