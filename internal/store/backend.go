package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/secret"
)

// backend is one of the databases that can hold a store.
type backend struct {
	open  func(a access, patience time.Duration) (*sql.DB, error)
	enter func(ctx context.Context, db *sql.DB, patience time.Duration) error // prepares it for the first append

	// openFrozen opens it for reading where nothing can be written. It returns nil if that is not possible without missing a record.
	openFrozen func() (*sql.DB, error)
	abandon    func() // removes what a failed open left
	tidy       func() // removes what reading left

	// diagnose says which problem an error of the database is, with a clause for people and the cause. The problem is empty if
	// the error is not the database's.
	diagnose func(err error, doing string) (Problem, string, error)

	// Statements; an empty one is not needed.
	tables string // lists the tables
	lock   string // begins a transaction that changes tables
	insert string // begins a transaction that appends

	now       string     // an SQL expression: milliseconds since 1970
	layouts   [][]string // layouts[n] are the statements that lead from layout n to n+1
	elsewhere string     // what to name instead of a database that is no store
}

// layout is the version of the tables, not of the records in them (that is Schema).
func (b *backend) layout() int { return len(b.layouts) }

// choose finds the backend for a store's path or URL, and the name that may be shown to anyone.
func choose(store string) (b *backend, name string, err error) {
	scheme, rest, found := strings.Cut(store, ":")
	switch {
	case store == "" || found && scheme == "sqlite" && rest == "":
		return nil, "", &Error{Problem: BadURL, Store: fmt.Sprintf("%q", store), Detail: "names no file: give a path, sqlite:path or postgres://…"}
	case found && (scheme == "postgres" || scheme == "postgresql"):
		if !strings.HasPrefix(rest, "//") {
			return nil, "", &Error{Problem: BadURL, Store: Printable(store), Detail: "is no URL of a database: postgres://user@host/database"}
		}
		b, err := postgres(store)
		return b, Printable(store), err
	case found && scheme == "sqlite":
		return sqliteFile(strings.TrimPrefix(rest, "//")), store, nil
	case found && strings.HasPrefix(rest, "//"):
		return nil, "", &Error{Problem: BadURL, Store: Printable(store), Detail: fmt.Sprintf("has the unknown scheme %q: allowed are a path, sqlite:path and postgres://…", scheme)}
	}
	if secret.In(store) || connection.MatchString(store) {
		return nil, "", &Error{Problem: BadURL, Store: Printable(store), Detail: "names no file; a database is named by its URL: postgres://user@host/database"}
	}
	return sqliteFile(store), store, nil
}

// connection matches a connection string of key=value pairs, as libpq takes them.
var connection = regexp.MustCompile(`(^|\s)(host|hostaddr|dbname|user)=\S`)

// IsURL reports whether store is a URL of a store, and not the path of a file.
func IsURL(store string) bool {
	scheme, _, found := strings.Cut(store, ":")
	return found && (scheme == "postgres" || scheme == "postgresql" || scheme == "sqlite")
}

// secrets are the parameters of a URL that no log may hold.
var secrets = []string{"password", "sslpassword"}

// Printable is a store's path or URL without its password, which may be shown to anyone.
func Printable(store string) string {
	scheme, _, isURL := strings.Cut(store, "://")
	if !isURL {
		return secret.Redact(store)
	}
	u, err := url.Parse(store)
	if err != nil { // its parts can't be told apart, so none is safe to show
		return scheme + "://…"
	}
	query := u.Query()
	for _, name := range secrets {
		if query.Has(name) {
			query.Set(name, "xxxxx")
			u.RawQuery = query.Encode()
		}
	}
	return u.Redacted()
}
