package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// limits are how long a client may take, and how many there may be: a slow one holds a connection, but no producer.
type limits struct {
	header time.Duration // for the head of a request
	read   time.Duration // for all of it
	write  time.Duration // from then on until the answer was taken, publishing included
	idle   time.Duration // between two
	stop   time.Duration // for requests under way when the server stops

	connections int // at a time; further ones wait
}

var usual = limits{header: 10 * time.Second, read: 15 * time.Second, write: time.Minute, idle: 2 * time.Minute, stop: 15 * time.Second, connections: 10_000}

const maxHeaders = 16 << 10

// Serve answers on l until ctx ends, then refuses new connections and returns when every request under way has its answer.
// c may be nil: plain HTTP.
func Serve(ctx context.Context, l net.Listener, c *tls.Config, h http.Handler) error {
	return usual.serve(ctx, l, c, h)
}

func (m limits) serve(ctx context.Context, l net.Listener, c *tls.Config, h http.Handler) error {
	s := &http.Server{
		Handler: h, TLSConfig: c, ReadHeaderTimeout: m.header, ReadTimeout: m.read, WriteTimeout: m.write, IdleTimeout: m.idle, MaxHeaderBytes: maxHeaders,
		ErrorLog: log.New(io.Discard, "", 0), // a client that goes away is no event
	}
	l = netutil.LimitListener(l, m.connections)
	if c != nil {
		l = tls.NewListener(l, c)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	if rides, ok := h.(*Server); ok {
		rides.Stopping()
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.stop)
	defer cancel()
	err := s.Shutdown(limited)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(errors.New("requests were still under way when the server ended"), s.Close())
	}
	return err
}
