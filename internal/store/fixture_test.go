package store

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// OpenReadOnly is OpenReadOnlyContext in the form of Open.
func OpenReadOnly(url string) (*Store, error) { return OpenReadOnlyContext(context.Background(), url) }

func newStore(t *testing.T) (*Store, string) {
	t.Helper()
	return places[0].store(t)
}

func mustAppend(t *testing.T, s *Store, r Record) int64 {
	t.Helper()
	id, err := s.Append(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func pointIDs(t *testing.T, path string) []string {
	t.Helper()
	s, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	records, err := s.Records(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range records {
		ids = append(ids, r.PointID)
	}
	return ids
}

func writes(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func executes(statement string) func(*testing.T, string) {
	return func(t *testing.T, path string) { places[0].exec(t, path, statement) }
}

func ofLayout(n int) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		closedStore(t, path)
		executes(fmt.Sprintf(`UPDATE brokermark_store SET layout = %d`, n))(t, path)
		executes(`PRAGMA journal_mode = DELETE`)(t, path) // one file, so that "unchanged" is easily seen
	}
}

func damaged(t *testing.T, path string) {
	closedStore(t, path)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(file[100:]) // the header alone is left
	writes(string(file))(t, path)
}

func cutOff(t *testing.T, path string) {
	closedStore(t, path)
	if err := os.Truncate(path, 5000); err != nil {
		t.Fatal(err)
	}
}

func closedStore(t *testing.T, path string) {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, Record{PointID: "p", Reason: strings.Repeat("x", 20_000)})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
