// Package socket does what drivers need below their clients: dial, pause between attempts, put TLS on the connection,
// gather small writes, and cut blocked calls. It knows no protocol.
package socket

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// Dial connects to address and puts TLS on the connection unless conf is nil; the server's name is address' host unless
// conf has another.
func Dial(ctx context.Context, address string, conf *tls.Config) (net.Conn, error) {
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil || conf == nil {
		return raw, err
	}
	secured := tls.Client(raw, ForServer(conf, address))
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("TLS handshake with %s: %w", address, err)
	}
	return secured, nil
}

// ForServer returns a copy of conf with the host of address as the server's name, unless conf has one. Nil stays nil.
func ForServer(conf *tls.Config, address string) *tls.Config {
	if conf == nil {
		return nil
	}
	conf = conf.Clone()
	if conf.ServerName == "" {
		conf.ServerName, _, _ = net.SplitHostPort(address)
	}
	return conf
}

// Pause waits between two attempts, until ctx ends at most, and returns the error of ctx.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return ctx.Err()
}

// InTurn dials addresses one after the other, beginning with the one whose turn it is for id, until one succeeds.
func InTurn[T any](addresses []string, id int, dial func(address string) (T, error)) (T, error) {
	var none T
	var errs []error
	for i := range addresses {
		made, err := dial(addresses[(id+i)%len(addresses)])
		if err == nil {
			return made, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return none, errors.New("no address to connect to")
	}
	return none, errors.Join(errs...)
}
