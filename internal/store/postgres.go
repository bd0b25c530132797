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

// connections bounds what one process takes of a server that a team shares.
const connections = 4

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
		var inner error
		if inner = errors.Unwrap(err); inner == nil {
			inner = errors.New("it can't be understood")
		}
		return nil, bad("is no usable URL: " + inner.Error())
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
			db.SetMaxOpenConns(connections)
			return db, nil
		},
		enter:    func(context.Context, *sql.DB, time.Duration) error { return nil },
		diagnose: func(err error, doing string) (Problem, string, error) { return diagnosePostgres(config, err, doing) },
		// Without a current schema nothing is found and creating says why it can't.
		tables: `SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()`,
		lock:   fmt.Sprintf(`SET LOCAL lock_timeout = %d; SELECT pg_advisory_xact_lock(hashtext('brokermark'))`, patience.Milliseconds()),
		// Whatever the server's default, an append is on the disk when it returns; the lock is for ALTER TABLE and the like.
		insert:    fmt.Sprintf(`SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = %d`, patience.Milliseconds()),
		now:       `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`,
		layouts:   layoutsPostgres,
		elsewhere: "database, or a schema of its own with ?search_path=NAME",
	}, nil
}

// diagnosePostgres says what happened, in a clause and a cause of one line.
func diagnosePostgres(config *pgx.ConnConfig, err error, doing string) (Problem, string, error) {
	server := net.JoinHostPort(config.Host, fmt.Sprint(config.Port))
	var said *pgconn.PgError
	if errors.As(err, &said) {
		problem, detail := sentencePostgres(config, said.Code, doing)
		return problem, detail, errors.New(said.Message)
	}
	var connecting *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &connecting) || errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded):
		return Unreachable, fmt.Sprintf("can't be reached at %s: could not %s", server, doing), causeOf(err)
	}
	return "", "", err
}

// causeOf is why a connection failed, without the address, which is said already.
func causeOf(err error) error {
	var failed *net.OpError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return lastLine(err)
}

// sentencePostgres is for what the server itself said; the codes are PostgreSQL's SQLSTATEs.
func sentencePostgres(config *pgx.ConnConfig, code, doing string) (Problem, string) {
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

// lastLine is the innermost cause; pgx lists every address it tried on a line of its own.
func lastLine(err error) error {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return errors.New(strings.TrimSpace(lines[len(lines)-1]))
}
