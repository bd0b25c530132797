// Package pgurl reads URLs of PostgreSQL databases. It knows nothing of their contents.
package pgurl

import (
	"errors"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Parse returns how to connect to the database at address, postgres://user:password@host/database. A server on another machine is reached
// by TLS alone unless the URL or PGSSLMODE says otherwise. The error is a clause, and holds no part of the address: its password may stand
// anywhere in what can't be read.
func Parse(address string) (*pgx.ConnConfig, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("is no readable URL: special characters in a password are written as %40 and so on")
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		reason := "it can't be understood"
		if inner := errors.Unwrap(err); inner != nil { // only the outer error quotes the URL
			reason = inner.Error()
		}
		return nil, errors.New("is no usable URL: " + reason)
	}
	if config.Database == "" {
		return nil, errors.New("names no database: postgres://user@host/database")
	}
	if !u.Query().Has("sslmode") && os.Getenv("PGSSLMODE") == "" {
		encryptBeyondHere(config)
	}
	return config, nil
}

// encryptBeyondHere drops the ways without TLS to other machines. The usual sslmode, prefer, sends the password as plain text where the
// server, or another one between, answers that it has no TLS.
func encryptBeyondHere(config *pgx.ConnConfig) {
	encrypted := map[string]bool{config.Host: config.TLSConfig != nil}
	for _, way := range config.Fallbacks {
		encrypted[way.Host] = encrypted[way.Host] || way.TLSConfig != nil
	}
	config.Fallbacks = slices.DeleteFunc(config.Fallbacks, func(way *pgconn.FallbackConfig) bool {
		here := way.Host == "localhost" || net.ParseIP(way.Host).IsLoopback() // a name is no IP address
		return way.TLSConfig == nil && encrypted[way.Host] && !here
	})
}

// NoTLS says what to do, as a clause about the server, if a connection failed because it has no TLS. Otherwise it is empty.
func NoTLS(err error) string {
	if err == nil || !strings.HasSuffix(err.Error(), "server refused TLS connection") {
		return ""
	}
	return "can't be reached encrypted: its server has no TLS; end its URL with sslmode=disable to do without"
}
