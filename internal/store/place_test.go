package store

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/brokermark/brokermark/internal/store/pgtest"
)

// place is a kind of database that can hold a store. What holds in one has to hold in the other.
type place struct {
	name   string
	driver string
	fresh  func(t *testing.T) string // the URL of one with nothing in it
}

var places = []place{
	{"sqlite", "sqlite", func(t *testing.T) string { return filepath.Join(t.TempDir(), "s.db") }},
	{"postgres", "pgx", func(t *testing.T) string { return pgtest.Database(t) }},
}

// everywhere runs a test in every kind of database.
func everywhere(t *testing.T, test func(t *testing.T, p place)) {
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) { test(t, p) })
	}
}

// exec runs statements behind the store's back.
func (p place) exec(t *testing.T, url, statements string) {
	t.Helper()
	db, err := sql.Open(p.driver, url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

// store is a new one, with its URL.
func (p place) store(t *testing.T) (*Store, string) {
	t.Helper()
	url := p.fresh(t)
	s, err := Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, url
}
