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

// backend is what the databases that can hold a store differ in.
type backend struct {
	open      func(a access, patience time.Duration) (*sql.DB, error)
	frozen    func() (*sql.DB, error)                                             // for reading where nothing can be written; its DB is nil where that would miss something
	abandon   func()                                                              // takes back what a failed open left; nil: nothing
	tidy      func()                                                              // takes back what reading left; nil: nothing
	enter     func(ctx context.Context, db *sql.DB, patience time.Duration) error // before the first append
	diagnose  func(err error, doing string) (Problem, string, error)              // Problem "": the database has no say in err
	tables    string                                                              // lists the tables there are
	lock      string                                                              // begins a transaction that changes tables
	insert    string                                                              // begins a transaction that appends
	now       string                                                              // an expression: milliseconds since 1970
	layouts   [][]string                                                          // statement lists: layouts[n] leads from layout n to n+1
	elsewhere string                                                              // what to name instead of something foreign
}

// layout is the version of the tables, not of the records in them (that is Schema).
func (b *backend) layout() int { return len(b.layouts) }

// choose finds the backend for a store's URL, and the name under which people may see it.
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

// connection is a connection string of key=value pairs, as libpq takes them.
var connection = regexp.MustCompile(`(^|\s)(host|hostaddr|dbname|user)=\S`)

// IsURL tells a database's URL from the path of a file.
func IsURL(store string) bool {
	scheme, _, found := strings.Cut(store, ":")
	return found && (scheme == "postgres" || scheme == "postgresql" || scheme == "sqlite")
}

// secrets are the parameters of a URL that no log may hold.
var secrets = []string{"password", "sslpassword"}

// Printable is a store's path or URL as it may be shown to anyone: without its password.
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
