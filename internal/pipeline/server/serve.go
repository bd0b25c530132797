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
)

// How long a client may take: a slow one holds a connection, no producer and no buffer.
const (
	headerTime = 10 * time.Second
	readTime   = 15 * time.Second
	idleTime   = 2 * time.Minute
	maxHeaders = 16 << 10
	// stopTime is for requests under way when the server stops.
	stopTime = 15 * time.Second
)

// Serve answers on l until ctx ends, then refuses new connections and returns when every request under way has its answer.
// c may be nil: plain HTTP.
func Serve(ctx context.Context, l net.Listener, c *tls.Config, h http.Handler) error {
	s := &http.Server{
		Handler: h, TLSConfig: c, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders,
		ErrorLog: log.New(io.Discard, "", 0), // a client that goes away is no event
	}
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
	if stopping, ok := h.(interface{ Stopping() }); ok {
		stopping.Stopping()
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	err := s.Shutdown(limited)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(errors.New("requests were still under way when the server ended"), s.Close())
	}
	return err
}
