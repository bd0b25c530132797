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
)

var layoutsPostgres = [][]string{{
	`CREATE TABLE record (
		id         BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		point_id   TEXT    NOT NULL,
		study      TEXT    NOT NULL,
		repetition INTEGER NOT NULL,
		status     TEXT    NOT NULL,
		began      BIGINT  NOT NULL, -- nanoseconds since 1970
		schema     INTEGER NOT NULL,
		body       JSON    NOT NULL  -- the whole record; JSON keeps its text, JSONB would not
	)`,
	`CREATE INDEX record_point ON record (point_id, repetition, status)`,
	`CREATE INDEX record_study ON record (study)`,
	`CREATE TABLE brokermark_store (layout INTEGER PRIMARY KEY)`,
}}

// maxConnections bounds the connections of one process to a server that a team shares.
const maxConnections = 4

// postgres is a store in the current schema of a PostgreSQL database.
func postgres(store string) (*backend, error) {
	bad := func(detail string) error {
		return &Error{Problem: BadURL, Store: Printable(store), Detail: detail}
	}
	u, err := url.Parse(store)
	if err != nil { // the parser's own words would quote a part of the password
		return nil, bad("is no readable URL: special characters in a password are written as %40 and so on")
	}
	config, err := pgx.ParseConfig(store)
	if err != nil {
		reason := "it can't be understood"
		if inner := errors.Unwrap(err); inner != nil { // the outer error would quote the URL
			reason = inner.Error()
		}
		return nil, bad("is no usable URL: " + reason)
	}
	if config.Database == "" {
		return nil, bad("names no database: postgres://user@host/database")
	}
	return &backend{
		open: func(_ access, patience time.Duration) (*sql.DB, error) {
			if !u.Query().Has("connect_timeout") {
				config.ConnectTimeout = patience
			}
			db := stdlib.OpenDB(*config)
			db.SetMaxOpenConns(maxConnections)
			return db, nil
		},
		enter:      func(context.Context, *sql.DB, time.Duration) error { return nil },
		openFrozen: func() (*sql.DB, error) { return nil, nil },
		abandon:    func() {},
		tidy:       func() {},
		diagnose:   func(err error, doing string) (Problem, string, error) { return diagnosePostgres(config, err, doing) },
		// If the current schema doesn't exist, no table is found, and creating one says why that is impossible.
		tables: `SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()`,
		lock:   fmt.Sprintf(`SET LOCAL lock_timeout = %d; SELECT pg_advisory_xact_lock(hashtext('brokermark'))`, defaultPatience.Milliseconds()),
		// Whatever the server's default, an append is on the disk when it returns. It waits for locks of ALTER TABLE and the like.
		insert:    fmt.Sprintf(`SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = %d`, defaultPatience.Milliseconds()),
		now:       `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`,
		layouts:   layoutsPostgres,
		elsewhere: "database, or a schema of its own with ?search_path=NAME",
	}, nil
}

// diagnosePostgres is the diagnosis of an error: of the server's own, or of the connection to it.
func diagnosePostgres(config *pgx.ConnConfig, err error, doing string) (Problem, string, error) {
	server := net.JoinHostPort(config.Host, fmt.Sprint(config.Port))
	var answered *pgconn.PgError
	if errors.As(err, &answered) {
		problem, detail := diagnoseState(config, answered.Code, doing)
		return problem, detail, errors.New(answered.Message)
	}
	var connecting *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &connecting) || errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded) {
		return Unreachable, fmt.Sprintf("can't be reached at %s: could not %s", server, doing), causeOf(err)
	}
	return "", "", err
}

// causeOf is why a connection failed, in one line and without the address, which the sentence about it has already.
func causeOf(err error) error {
	var failed *net.OpError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return lastLine(err)
}

// diagnoseState is the diagnosis of an SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html).
func diagnoseState(config *pgx.ConnConfig, code, doing string) (Problem, string) {
	switch {
	case code == "28P01" || code == "28000":
		return Denied, fmt.Sprintf("does not let user %q in", config.User)
	case code == "3D000":
		return BadURL, fmt.Sprintf("has no database %q: create it with createdb", config.Database)
	case code == "3F000":
		return BadURL, "has no schema to create tables in: create the one that search_path names"
	case code == "42501":
		return Denied, fmt.Sprintf("does not let user %q %s", config.User, doing)
	case code == "25006":
		return Denied, "is read-only, as a standby server is: could not " + doing
	case code == "55P03":
		return Locked, "is locked by somebody else: could not " + doing
	case code == "53100" || code == "53200":
		return Full, "has no room left: could not " + doing + "; earlier records are intact"
	case strings.HasPrefix(code, "53") || strings.HasPrefix(code, "57P") || strings.HasPrefix(code, "08"):
		return Unreachable, "takes no connection now: could not " + doing
	case strings.HasPrefix(code, "XX"):
		return Corrupt, "is damaged: could not " + doing
	case code == "42P01" || code == "42703":
		return Foreign, "lacks a table or column of brokermark's: could not " + doing
	}
	return Other, "could not " + doing
}

// lastLine is the last line of an error's text: pgx lists every address it tried on a line of its own.
func lastLine(err error) error {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return errors.New(strings.TrimSpace(lines[len(lines)-1]))
}
