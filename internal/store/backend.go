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

// backend holds what differs between the databases that can hold a store: SQLite (a file) and PostgreSQL (a server).
type backend struct {
	dialect

	file string // path; empty for a server

	open func(mode access, patience time.Duration) (*sql.DB, error)

	// enableAppends configures an opened database before its first append.
	enableAppends func(ctx context.Context, db *sql.DB, patience time.Duration) error

	// openFrozen opens the database for reading without writing any file. It returns nil if it would miss records that way.
	openFrozen func() (*sql.DB, error)

	appendable func() error // why nothing can be appended, as far as that is known without opening it

	abandon func() // removes the files that a failed open left on a full disk
	tidy    func() // removes the files that reading left
	unguard func() // removes the files that open has made, when the database is closed

	// diagnose explains an error of the database. action completes "could not …".
	diagnose func(err error, action string) diagnosis
}

// dialect is the SQL of one database, and the word that errors use for it. An empty statement means that the database needs none.
type dialect struct {
	tables string   // lists the names of all tables
	madeUp []string // list what computes the rows of tables when they are read
	lock   string   // first statement of a transaction that changes tables
	insert string   // first statement of a transaction that appends a record
	now    string   // expression for the current time in milliseconds since 1970

	create []string // creates the tables

	alternative string // completes "name another …" when the database belongs to another program
}

// choose returns the backend for a store, and the store's name without a password. store is one of
//
//	results.db, sqlite:results.db              a SQLite file
//	postgres://user@host/database?search_path=bench   a schema in a PostgreSQL database
func choose(store string) (*backend, string, error) {
	bad := func(name, detail string) (*backend, string, error) {
		return nil, "", &Error{Problem: BadURL, Store: name, Detail: detail}
	}
	scheme, rest, hasScheme := strings.Cut(store, ":")
	isServer := hasScheme && isPostgres(scheme)
	isFile := hasScheme && scheme == "sqlite"
	switch {
	case store == "" || isFile && rest == "":
		return bad(fmt.Sprintf("%q", store), "names no file: give a path, sqlite:path or postgres://…")
	case isServer && !strings.HasPrefix(rest, "//"):
		return bad(Printable(store), "is no URL of a database: postgres://user@host/database")
	case isServer:
		b, err := postgres(store)
		return b, Printable(store), err
	case isFile:
		return sqliteFile(strings.TrimPrefix(rest, "//")), store, nil
	case hasScheme && strings.HasPrefix(rest, "//"):
		return bad(Printable(store), fmt.Sprintf("has the unknown scheme %q: allowed are a path, sqlite:path and postgres://…", scheme))
	case secret.In(store) || connectionString.MatchString(store):
		return bad(Printable(store), "names no file; a database is named by its URL: postgres://user@host/database")
	}
	return sqliteFile(store), store, nil
}

func isPostgres(scheme string) bool { return scheme == "postgres" || scheme == "postgresql" }

// connectionString matches libpq's other notation for a database: "host=db user=me dbname=bench".
var connectionString = regexp.MustCompile(`(^|\s)(host|hostaddr|dbname|user)=\S`)

// IsURL reports whether store has a scheme of a store's URL. Otherwise it is the path of a file.
func IsURL(store string) bool {
	scheme, _, found := strings.Cut(store, ":")
	return found && (isPostgres(scheme) || scheme == "sqlite")
}

// Printable returns a store's path or URL without its passwords.
func Printable(store string) string {
	scheme, _, isURL := strings.Cut(store, "://")
	if !isURL {
		return secret.Redact(store)
	}
	u, err := url.Parse(store)
	if err != nil { // any part of it may be the password
		return scheme + "://…"
	}
	query := u.Query()
	for _, parameter := range []string{"password", "sslpassword"} {
		if query.Has(parameter) {
			query.Set(parameter, "xxxxx")
			u.RawQuery = query.Encode()
		}
	}
	return u.Redacted()
}
