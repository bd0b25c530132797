package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/brokermark/brokermark/internal/testkit"
)

// small is a folder on a disk of its own that has so many bytes, and fill takes what is left of them.
func small(t *testing.T, size string) (dir string, fill func()) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		testkit.Lacks(t, "no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir, func() {
		f, err := os.Create(filepath.Join(dir, "fill"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
	}
}

// names lists what is in a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

// withRecord leaves a closed store with one record.
func withRecord(t *testing.T, path, id string) {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, Record{PointID: id})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAFullDiskIsSaidInASentenceAndLeavesNoFiles(t *testing.T) {
	dir, fill := small(t, "200k")
	path := filepath.Join(dir, "s.db")
	withRecord(t, path, "first")
	fill()
	for _, file := range []string{"s.db", "new.db"} {
		_, err := Open(filepath.Join(dir, file))
		if ProblemOf(err) != Full || !strings.Contains(err.Error(), file+" has no room left, its disk is full: could not ") || strings.ContainsAny(err.Error(), "()") {
			t.Errorf("%s: %v", file, err)
		}
	}
	if left := names(t, dir); left != "fill s.db" {
		t.Errorf("left behind: %s", left)
	}
	// Reports don't need room.
	if got := pointIDs(t, path); len(got) != 1 || got[0] != "first" {
		t.Errorf("read on a full disk: %v", got)
	}
	if left := names(t, dir); left != "fill s.db" {
		t.Errorf("left behind by reading: %s", left)
	}
	if err := os.Remove(filepath.Join(dir, "fill")); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mustAppend(t, s, Record{PointID: "second"})
}

func TestADiskThatFillsUpRefusesTheRecordAndTakesTheNextOne(t *testing.T) {
	dir, fill := small(t, "400k")
	path := filepath.Join(dir, "s.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mustAppend(t, s, Record{PointID: "first"})
	fill()
	_, err = s.Append(t.Context(), Record{PointID: "big", Reason: strings.Repeat("x", 1<<20)})
	if ProblemOf(err) != Full || !strings.Contains(err.Error(), "its disk is full: could not append") {
		t.Errorf("got %v, want Full", err)
	}
	if err := os.Remove(filepath.Join(dir, "fill")); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, Record{PointID: "second"})
	if got := pointIDs(t, path); strings.Join(got, " ") != "first second" {
		t.Errorf("stored: %v", got)
	}
}

// What was there before, and what holds something, isn't ours to remove.
func TestAFailedOpenRemovesOnlyWhatItMade(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	for _, c := range []struct{ name, before, after, want string }{
		{"nothing there", "", "s.db s.db-wal s.db-shm", ""},
		{"an empty file of the user's", "s.db", "s.db-wal s.db-shm", "s.db"},
		{"a log of another process", "s.db s.db-wal", "s.db-shm", "s.db s.db-wal"},
	} {
		for _, name := range strings.Fields(c.before) {
			writes("")(t, filepath.Join(dir, name))
		}
		existed := existingFiles(path)
		for _, name := range strings.Fields(c.after) {
			writes("")(t, filepath.Join(dir, name))
		}
		abandon(path, existed)
		if got := names(t, dir); got != c.want {
			t.Errorf("%s: left are %q, want %q", c.name, got, c.want)
		}
		for _, name := range strings.Fields(c.want) {
			_ = os.Remove(filepath.Join(dir, name))
		}
	}
	writes("something")(t, path)
	writes(strings.Repeat("x", minIndexSize))(t, path+"-shm")
	abandon(path, map[string]bool{})
	if got := names(t, dir); got != "s.db s.db-shm" {
		t.Errorf("of files that hold something are left %q", got)
	}
}

// Another process opened the store after this one looked which files are there. Its log is empty after a checkpoint.
func TestAFailedOpenRemovesNoLogThatAnotherProcessUses(t *testing.T) {
	s, path := newStore(t)
	mustAppend(t, s, Record{PointID: "first"})
	if _, err := s.db.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	abandon(path, map[string]bool{})
	if got := names(t, filepath.Dir(path)); got != "s.db s.db-shm s.db-wal" {
		t.Errorf("left are %s", got)
	}
	mustAppend(t, s, Record{PointID: "second"})
	if got := pointIDs(t, path); strings.Join(got, " ") != "first second" {
		t.Errorf("stored: %v", got)
	}
}

func TestReadingLeavesNothingBesideTheStore(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	withRecord(t, path, "first")
	pointIDs(t, path)
	if left := names(t, dir); left != "s.db" {
		t.Errorf("left behind: %s", left)
	}
	// What a run has beside it stays, and goes with it.
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, Record{PointID: "second"})
	if got := pointIDs(t, path); len(got) != 2 {
		t.Errorf("read beside a run: %v", got)
	}
	mustAppend(t, s, Record{PointID: "third"})
	if got := pointIDs(t, path); len(got) != 3 {
		t.Errorf("read beside a run that goes on: %v", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left := names(t, dir); left != "s.db" {
		t.Errorf("left behind: %s", left)
	}
}

func TestAStoreWhereNothingMayBeWrittenIsRead(t *testing.T) {
	dir, _ := small(t, "400k")
	path := filepath.Join(dir, "s.db")
	withRecord(t, path, "first")
	sealed := func(flags uintptr) {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, "size=400k"); err != nil {
			t.Fatal(err)
		}
	}
	sealed(syscall.MS_RDONLY)
	if got := pointIDs(t, path); len(got) != 1 || got[0] != "first" {
		t.Errorf("read: %v", got)
	}
	sealed(0)
	// What waits in the log of a run that was killed would be missed.
	if err := os.WriteFile(path+"-wal", make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	sealed(syscall.MS_RDONLY)
	if _, err := OpenReadOnly(path); ProblemOf(err) != Other || !strings.Contains(err.Error(), "s.db can't be opened") {
		t.Errorf("with a log beside it: %v", err)
	}
	sealed(0)
}
