package lab_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/pgtest"
	"github.com/brokermark/brokermark/internal/study"
)

// Environment variables that turn this test binary into a runner: with the named store, and one that blocks in its first repetition.
const (
	runWithStore = "BROKERMARK_LAB_TEST_RUN_WITH"
	blockFirst   = "BROKERMARK_LAB_TEST_STUCK"
)

const (
	sharedPoints  = 3
	sharedRepeats = 4
	sharedLease   = time.Second
)

// sharedRuns returns short repetitions, without a schedule that a busy machine could miss.
func sharedRuns() []study.Run {
	var points []study.Point
	for seed := range int64(sharedPoints) {
		s := simSpec(func(s *study.Spec) {
			s.Measure, s.Count, s.Load, s.Seed = "count", study.Count{Messages: 200}, study.Load{Shape: "constant"}, seed
		})
		points = append(points, study.Point{ID: s.ID(), Study: "test", Label: fmt.Sprint("point ", seed), Spec: s})
	}
	return study.Order(points, sharedRepeats, 1, lab.SharedBroker)
}

// runShared runs sharedRuns. It prints a line when its first repetition has begun, and in the end how many it ran.
func runShared(url string) error {
	db, err := store.Open(url)
	if err != nil {
		return err
	}
	defer db.Close()
	ran, first := 0, true
	tally, err := lab.Run(context.Background(), sharedRuns(), lab.Options{Store: db, Lease: sharedLease, Watch: func(e lab.Event) {
		if e.Kind != lab.Began {
			return
		}
		ran++
		if first {
			fmt.Println("began")
			first = false
		}
		if os.Getenv(blockFirst) != "" {
			select {}
		}
	}})
	fmt.Printf("%d of %d\n", ran, ran+tally.Skipped)
	return err
}

// startRunner starts a runner and returns once its first repetition has begun, or there was none for it.
func startRunner(t *testing.T, url string, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(append(os.Environ(), runWithStore+"="+url), env...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the runner ended without a word")
	}
	return c, lines
}

// checkEachOnce checks that the store has every repetition once.
func checkEachOnce(t *testing.T, url string) []store.Record {
	t.Helper()
	db, err := store.OpenReadOnlyContext(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	records, seen := readRecords(t, db), map[string]int{}
	for _, r := range records {
		seen[fmt.Sprint(r.Label, ", repetition ", r.Repetition)]++
		if r.Status != store.OK {
			t.Errorf("%s: %s", r.Status, r.Reason)
		}
	}
	if len(records) != sharedPoints*sharedRepeats || len(seen) != sharedPoints*sharedRepeats {
		t.Errorf("%d records of %d repetitions, want %d of each: %v", len(records), len(seen), sharedPoints*sharedRepeats, seen)
	}
	return records
}

func stores(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "s.db")) })
	t.Run("postgres", func(t *testing.T) { test(t, pgtest.Database(t)) })
}

func TestTwoRunnersOfOneStoreShareTheWork(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, url string) {
		a, fromA := startRunner(t, url)
		b, fromB := startRunner(t, url)
		total := 0
		for _, lines := range []*bufio.Scanner{fromA, fromB} {
			var ran, all int
			if lines.Scan(); all == 0 {
				if _, err := fmt.Sscanf(lines.Text(), "%d of %d", &ran, &all); err != nil || all != sharedPoints*sharedRepeats || ran == 0 {
					t.Errorf("a runner says %q, %v; want some of all", lines.Text(), err)
				}
			}
			total += ran
		}
		for _, c := range []*exec.Cmd{a, b} {
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
		}
		if total != sharedPoints*sharedRepeats {
			t.Errorf("together they ran %d repetitions, want %d", total, sharedPoints*sharedRepeats)
		}
		checkEachOnce(t, url)
	})
}

func TestARepetitionOfAKilledRunnerIsDoneByAnotherAfterItsLease(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, url string) {
		doomed, _ := startRunner(t, url, blockFirst+"=1")
		b, fromB := startRunner(t, url)
		time.Sleep(3 * sharedLease) // renewed meanwhile
		killed := time.Now()
		if err := doomed.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = doomed.Wait() // "signal: killed"
		all := fmt.Sprint(sharedPoints * sharedRepeats)
		if fromB.Scan(); strings.TrimSpace(fromB.Text()) != all+" of "+all {
			t.Errorf("the other says %q, want that it ran all %s", fromB.Text(), all)
		}
		if err := b.Wait(); err != nil {
			t.Error(err)
		}
		records := checkEachOnce(t, url)
		if last := records[len(records)-1]; last.Began.Before(killed) {
			t.Errorf("the repetition of the killed one began %v before it was killed", killed.Sub(last.Began))
		}
	})
}

// A user may interrupt a run between two repetitions, when neither is under way.
func TestARunInterruptedBetweenRepetitionsRecordsNone(t *testing.T) {
	runs := sharedRuns()[:2]
	for _, when := range []string{"before the first", "asking whether it is needed", "skipping one", "claiming one"} {
		t.Run(when, func(t *testing.T) {
			db := openStore(t)
			stored := 0
			if when == "skipping one" {
				stored = 1
				done := lab.Blank(runs[0], store.Host{}, "test")
				done.Status = store.OK
				if _, err := db.Append(t.Context(), done); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if when == "before the first" {
				cancel()
			}
			var log strings.Builder
			tally, err := lab.Run(ctx, runs, lab.Options{
				Store: db, Log: &log,
				Enough: func(context.Context, study.Run) bool {
					switch when {
					case "asking whether it is needed":
						cancel()
					case "claiming one":
						lockStore(t, db)
						time.AfterFunc(100*time.Millisecond, cancel)
					}
					return false
				},
				Watch: func(e lab.Event) {
					if e.Kind == lab.Skipped {
						cancel()
					}
				},
			})
			if !errors.Is(err, context.Canceled) || tally != (lab.Tally{Skipped: stored}) || log.Len() > 0 {
				t.Errorf("%v, %+v, and the log says %q", err, tally, log.String())
			}
		})
	}
}

// lockStore keeps others from writing to a store until the test ends.
func lockStore(t *testing.T, db *store.Store) {
	t.Helper()
	other, err := sql.Open("sqlite", db.Name()+"?_txlock=exclusive")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	if _, err := other.Begin(); err != nil {
		t.Fatal(err)
	}
}
