package store

import (
	"database/sql"
	"os"
	"strings"
	"testing"
)

// Somebody tidies up while a run goes on: what is stored then is in a file that has no name any more.
func TestARecordThatGoesToARemovedOrReplacedFileIsNotStored(t *testing.T) {
	for name, tidyUp := range map[string]func(t *testing.T, path string){
		"removed": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"replaced": func(t *testing.T, path string) {
			other, from := newStore(t)
			mustAppend(t, other, Record{PointID: "other"})
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(from, path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, path := newStore(t)
			mustAppend(t, s, Record{PointID: "first"})
			tidyUp(t, path)
			_, err := s.Append(t.Context(), Record{PointID: "second"})
			if err == nil || !strings.Contains(err.Error(), "was removed or replaced while it was in use: could not append repetition 0 of point second") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestATriggerThatSwallowsARecordIsAnError(t *testing.T) {
	s, path := newStore(t)
	mustAppend(t, s, Record{PointID: "first"})
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Exec(`CREATE TRIGGER t BEFORE INSERT ON record BEGIN SELECT RAISE(IGNORE); END`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), Record{PointID: "second"}); err == nil || !strings.Contains(err.Error(), "the database took 0 of 1 records") {
		t.Errorf("got %v", err)
	}
	if existed, err := s.AppendOnce(t.Context(), Record{PointID: "third"}); err == nil {
		t.Errorf("appended once: %v", existed)
	}
}
