package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/brokermark/brokermark/internal/pgurl"
)

// maxConnections bounds the connections of this process: a team may share the server.
const maxConnections = 4

// postgres returns the backend for a store in the current schema of a PostgreSQL database.
func postgres(store string) (*backend, error) {
	config, err := parsePostgresURL(store)
	if err != nil {
		return nil, err
	}
	lockTimeout := fmt.Sprintf(`SET LOCAL lock_timeout = %d`, defaultPatience.Milliseconds())
	return &backend{
		open: func(_ access, patience time.Duration) (*sql.DB, error) {
			if !config.hasTimeout {
				config.ConnectTimeout = patience
			}
			db := stdlib.OpenDB(*config.ConnConfig)
			db.SetMaxOpenConns(maxConnections)
			return db, nil
		},
		enableAppends: func(ctx context.Context, db *sql.DB, _ time.Duration) error { return mayAppend(ctx, db) },
		openFrozen:    func() (*sql.DB, error) { return nil, nil },
		abandon:       func() {},
		appendable:    func() error { return nil },
		tidy:          func() {},
		unguard:       func() {},
		diagnose:      func(err error, action string) diagnosis { return diagnosePostgres(config.ConnConfig, err, action) },
		dialect: dialect{
			// If the current schema doesn't exist, this finds no table, and the CREATE TABLE that follows fails with the reason.
			tables: `SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()`,
			lock:   lockTimeout + `; SELECT pg_advisory_xact_lock(hashtext('brokermark'))`,
			// Independently of the server's default, a record is on the disk when its transaction has committed.
			insert:      `SET LOCAL synchronous_commit = on; ` + lockTimeout,
			now:         `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`,
			create:      tableStatements("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "JSON"), // keeps its text, JSONB would not
			alternative: "database, or a schema of its own with ?search_path=NAME",
		},
	}, nil
}

// mayAppend returns the error that the first append would return hours later if the user may not insert records or the server is
// read-only.
func mayAppend(ctx context.Context, db *sql.DB) error {
	var readOnly bool
	var inserts sql.NullBool // null: there is no table yet
	err := db.QueryRowContext(ctx, `SELECT current_setting('transaction_read_only')::boolean, has_table_privilege(to_regclass('record'), 'INSERT')`).Scan(&readOnly, &inserts)
	switch {
	case err != nil:
		return err
	case readOnly:
		return &pgconn.PgError{Code: readOnlyTransaction, Message: "transactions are read-only"}
	case inserts.Valid && !inserts.Bool:
		return &pgconn.PgError{Code: insufficientPrivilege, Message: "permission denied for table record"}
	}
	return nil
}

type postgresConfig struct {
	*pgx.ConnConfig
	hasTimeout bool // the URL sets connect_timeout
}

func parsePostgresURL(store string) (postgresConfig, error) {
	config, err := pgurl.Parse(store)
	if err != nil {
		return postgresConfig{}, &Error{Problem: BadURL, Store: Printable(store), Detail: err.Error()}
	}
	u, err := url.Parse(store)
	return postgresConfig{ConnConfig: config, hasTimeout: err == nil && u.Query().Has("connect_timeout")}, nil
}

// diagnosePostgres explains an error that the server answered with, or one of the connection to it.
func diagnosePostgres(config *pgx.ConnConfig, err error, action string) diagnosis {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		d := diagnoseState(config, answer.Code, action)
		d.cause = errors.New(answer.Message)
		return d
	}
	if why := pgurl.NoTLS(err); why != "" {
		return diagnosis{problem: BadURL, detail: why}
	}
	_, notConnected := errors.AsType[*pgconn.ConnectError](err)
	_, ofNetwork := errors.AsType[net.Error](err)
	if notConnected || ofNetwork || errors.Is(err, context.DeadlineExceeded) {
		server := net.JoinHostPort(config.Host, fmt.Sprint(config.Port))
		return diagnosis{Unreachable, fmt.Sprintf("can't be reached at %s: could not %s", server, action), connectionCause(err)}
	}
	return diagnosis{}
}

// connectionCause returns why a connection failed, in one line and without the address, which the sentence already has.
func connectionCause(err error) error {
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return failed.Err
	}
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n") // pgx lists every address it tried on a line of its own
	return errors.New(strings.TrimSpace(lines[len(lines)-1]))
}

// SQLSTATEs that are reported before an append as well as by it.
const (
	insufficientPrivilege = "42501"
	readOnlyTransaction   = "25006"
)

// diagnoseState explains a server's error by its SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html).
func diagnoseState(config *pgx.ConnConfig, code, action string) diagnosis {
	switch {
	case code == "28P01" || code == "28000":
		return diagnosis{problem: Denied, detail: fmt.Sprintf("does not let user %q in", config.User)}
	case code == "3D000":
		return diagnosis{problem: BadURL, detail: fmt.Sprintf("has no database %q: create it with createdb", config.Database)}
	case code == "3F000":
		return diagnosis{problem: BadURL, detail: "has no schema to create tables in: create the one that search_path names"}
	case code == insufficientPrivilege:
		return diagnosis{problem: Denied, detail: fmt.Sprintf("does not let user %q %s", config.User, action)}
	case code == readOnlyTransaction:
		return diagnosis{problem: Denied, detail: "is read-only, as a standby server is: could not " + action}
	case code == "55P03":
		return diagnosis{problem: Locked, detail: "is locked by another session: could not " + action}
	case code == "53100" || code == "53200":
		return diagnosis{problem: Full, detail: "has no room left: could not " + action + "; earlier records are intact"}
	case strings.HasPrefix(code, "53") || strings.HasPrefix(code, "57P") || strings.HasPrefix(code, "08"):
		return diagnosis{problem: Unreachable, detail: "takes no connection now: could not " + action}
	case strings.HasPrefix(code, "XX"):
		return diagnosis{problem: Corrupt, detail: "is damaged: could not " + action}
	case code == "42P01" || code == "42703":
		return diagnosis{problem: Foreign, detail: "lacks a table or column of brokermark's: could not " + action}
	}
	return diagnosis{problem: Other, detail: "could not " + action}
}
