package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/testkit"
)

// locked is a store that takes nothing until free is called.
func locked(t *testing.T, path string) (s *Store, free func()) {
	t.Helper()
	s, err := open(t.Context(), path, appending, brief)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	exec := held(t, "sqlite", path, `BEGIN IMMEDIATE`)
	return s, func() { exec(`ROLLBACK`) }
}

// repetitions are those of all records that a store has.
func repetitions(t *testing.T, s *Store) string {
	t.Helper()
	records, err := s.Records(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var list []int
	for _, r := range records {
		list = append(list, r.Repetition)
	}
	return strings.Trim(fmt.Sprint(list), "[]")
}

func append1(t *testing.T, o *Outbox, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		r := record("a", n)
		r.Reason = strings.Repeat("x", 10_000) // more than is left of a page of the disk
		if err := o.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestARecordThatAFullDiskDoesNotTakeWaitsInTheNextFolder(t *testing.T) {
	for _, fits := range []bool{false, true} { // the first record
		full, fill := small(t, "200k")
		roomy := t.TempDir()
		s, free := locked(t, filepath.Join(t.TempDir(), "s.db"))
		o := s.Outbox(t.Logf, io.Discard, full, roomy)
		if !fits {
			fill()
		}
		append1(t, o, 1)
		fill()
		append1(t, o, 2, 3)
		if left := names(t, roomy); strings.Count(left, "brokermark-unstored-") != 1 {
			t.Errorf("in the second folder: %q", left)
		}
		free()
		if err := o.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := repetitions(t, s); got != "1 2 3" {
			t.Errorf("stored: %s", got)
		}
		if left := names(t, full) + names(t, roomy); left != "fill" {
			t.Errorf("left: %q", left)
		}
	}
}

func TestARecordThatNoFolderTakesIsALineOfJSON(t *testing.T) {
	s, _ := locked(t, filepath.Join(t.TempDir(), "s.db"))
	var last bytes.Buffer
	o := s.Outbox(t.Logf, &last, filepath.Join(t.TempDir(), "none"))
	if err := o.Append(t.Context(), record("a", 7)); err == nil || !strings.Contains(err.Error(), "line of JSON above") {
		t.Errorf("the record is nowhere: %v", err)
	}
	path := filepath.Join(t.TempDir(), "saved.jsonl")
	if err := os.WriteFile(path, last.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if saved, err := Collect(ReadRecords(path)); err != nil || len(saved) != 1 || saved[0].Repetition != 7 {
		t.Errorf("read back: %v, %v", saved, err)
	}
}

// Both projects call their store brokermark.db, and share the folder of the machine.
func TestRecordsAreDeliveredToTheStoreTheyWereMeasuredForOnly(t *testing.T) {
	shared := t.TempDir()
	t.Chdir(t.TempDir())
	s, _ := locked(t, "brokermark.db")
	a := s.Outbox(t.Logf, io.Discard, shared)
	append1(t, a, 1)
	if err := a.Close(t.Context()); err == nil {
		t.Fatal("delivered to a store that is locked")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(here, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	b, err := Open("brokermark.db")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	append1(t, b.Outbox(t.Logf, io.Discard, shared), 2)
	if got := repetitions(t, b); got != "2" {
		t.Errorf("stored in another project's store: %s", got)
	}
	for _, path := range []string{"sqlite:" + filepath.Join(link, "brokermark.db"), filepath.Join(here, "brokermark.db")} {
		again, err := open(t.Context(), path, appending, brief)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if o := again.Outbox(t.Logf, io.Discard, shared); len(o.waiting) != 1 {
			t.Errorf("as %s the store does not find what waits for it", path)
		} else {
			o.waiting[0].Close()
		}
	}
}

func TestAFileThatAnotherUserLeftIsNotDelivered(t *testing.T) {
	if os.Geteuid() != 0 {
		testkit.Lacks(t, "only root can make a file of another user")
	}
	o, s, dir, _ := outbox(t, filepath.Join(t.TempDir(), "s.db"))
	leave(t, o, dir, "1", line(t, record("a", 1)))
	if err := os.Chown(filepath.Join(dir, o.named("1")), 60998, 60998); err != nil {
		t.Fatal(err)
	}
	var said []string
	o = s.Outbox(func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }, io.Discard, dir)
	append1(t, o, 2)
	if got := repetitions(t, s); got != "2" {
		t.Errorf("stored: %s", got)
	}
	if text := strings.Join(said, "\n"); !strings.Contains(text, "belongs to another user") || !strings.Contains(text, o.named("1")) {
		t.Errorf("said: %s", text)
	}
}

// Two runners with one store: while one makes its file, the other looks for files that were left.
func TestAFileThatIsBeingMadeIsNotTakenForOneThatWasLeft(t *testing.T) {
	s, _ := locked(t, filepath.Join(t.TempDir(), "s.db"))
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			o := s.Outbox(func(string, ...any) {}, io.Discard, dir)
			for _, w := range o.waiting {
				_ = w.remove() // as after the delivery of all its records
			}
		}
	}()
	o := s.Outbox(t.Logf, io.Discard, dir)
	for n := range 2000 {
		file, err := o.newFile([]byte(line(t, record("a", n+1))))
		if err != nil {
			t.Fatal(err)
		}
		if !file.inPlace() {
			t.Fatalf("file %d was removed while its run lives", n)
		}
		if err := file.remove(); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	<-ended
}

func TestWhatAKilledProcessHadNotNamedIsRemoved(t *testing.T) {
	o, s, dir, _ := outbox(t, filepath.Join(t.TempDir(), "s.db"))
	if err := os.WriteFile(filepath.Join(dir, "."+o.named("1")), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Outbox(t.Logf, io.Discard, dir)
	if left := names(t, dir); left != "" {
		t.Errorf("left: %s", left)
	}
}

func TestAWaitingFileThatVanishesLosesNothing(t *testing.T) {
	for _, folder := range []string{"stays", "vanishes"} {
		s, free := locked(t, filepath.Join(t.TempDir(), "s.db"))
		dir, other := filepath.Join(t.TempDir(), "dir"), t.TempDir()
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		o := s.Outbox(t.Logf, io.Discard, dir, other)
		append1(t, o, 1, 2)
		vanish := func() {
			for _, w := range o.waiting {
				if err := os.Remove(w.Name()); err != nil {
					t.Fatal(err)
				}
			}
		}
		vanish()
		if folder == "vanishes" {
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
		}
		append1(t, o, 3)
		vanish()
		free()
		append1(t, o, 4)
		if err := o.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := repetitions(t, s); got != "1 2 3 4" {
			t.Errorf("the folder %s: stored are %s", folder, got)
		}
	}
}

func TestWhatVanishedIsInAFileAgainWhenTheRunEnds(t *testing.T) {
	s, free := locked(t, filepath.Join(t.TempDir(), "s.db"))
	dir := t.TempDir()
	o := s.Outbox(t.Logf, io.Discard, dir)
	append1(t, o, 1, 2)
	if err := os.Remove(o.waiting[0].Name()); err != nil {
		t.Fatal(err)
	}
	var unstored *Unstored
	if err := o.Close(t.Context()); !errors.As(err, &unstored) || unstored.Records != 2 {
		t.Fatalf("at the end: %v", err)
	}
	free()
	append1(t, s.Outbox(t.Logf, io.Discard, dir), 3)
	if got := repetitions(t, s); got != "1 2 3" {
		t.Errorf("stored: %s", got)
	}
}

func TestARecordWithFiguresThatAreNotFiniteIsKept(t *testing.T) {
	o, s, _, _ := outbox(t, filepath.Join(t.TempDir(), "s.db"))
	knee := math.Inf(1)
	r := record("a", 1)
	r.Spec.Server = map[string]any{"ratio": math.NaN(), "name": "kept"}
	r.Result = &Result{Measurement: Measurement{PublishRate: math.NaN(), ReceiveRate: 12.5}, Given: map[string]float64{"knee": knee}}
	if err := o.Append(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	records, err := s.Records(t.Context(), Filter{})
	if err != nil || len(records) != 1 {
		t.Fatalf("%d records: %v", len(records), err)
	}
	got := records[0]
	if got.Result.ReceiveRate != 12.5 || got.Spec.Server["name"] != "kept" || !math.IsNaN(r.Result.PublishRate) {
		t.Errorf("stored: %+v", got.Result.Measurement)
	}
	if len(got.Doubts) != 1 || !got.Doubts[0].Is(doubt.NoFigure) {
		t.Fatalf("doubts: %v", got.Doubts)
	}
	for _, want := range []string{"spec.server.ratio (NaN)", "result.publish_rate (NaN)", "result.given.knee (+Inf)"} {
		if !strings.Contains(got.Doubts[0].Text, want) {
			t.Errorf("%q does not name %s", got.Doubts[0].Text, want)
		}
	}
	if body, err := encode(r); err != nil || !bytes.Contains(body, []byte(`"publish_rate":null`)) {
		t.Errorf("%s, %v", body, err)
	}
}
