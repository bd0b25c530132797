package watch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"
)

const (
	maxConnections = 64               // open at once; further ones wait
	maxAnswerTime  = 10 * time.Minute // from a request until its answer was read; a live page sets a limit of its own
	closeTime      = time.Second      // how long Close waits for answers to end
)

// Address completes an address to HOST:PORT. Without a host it is this machine's own: "9464" and ":9464" are
// "127.0.0.1:9464".
func Address(text string) (string, error) {
	host, port := "", text
	var err error
	if strings.Contains(text, ":") {
		host, port, err = net.SplitHostPort(text)
	}
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", fmt.Errorf("%q is no address; allowed: HOST:PORT or PORT, such as 9464 or 127.0.0.1:9464", text)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// Server is a running web server. Its methods may be called from any goroutine.
type Server struct {
	URL string // where it listens, without a path

	server  http.Server
	ended   chan error // receives what http.Server.Serve returned
	closing sync.Once
	err     error // of Close
}

// Serve answers requests at an address by h until Close. An address that other machines can reach needs a token, which
// every request has to show; without one Serve returns ErrOpen. When the server closes, the contexts of all requests end.
func Serve(address, token string, h http.Handler) (*Server, error) {
	if token == "" && !isLoopback(address) {
		return nil, ErrOpen
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		var failed *net.OpError
		if errors.As(err, &failed) {
			err = failed.Err // the text of an OpError names the address once more
		}
		return nil, fmt.Errorf("can't listen at %s: %w", address, err)
	}
	return serve(listener, withAccessControl(token, h)), nil
}

// serve answers requests in a goroutine of its own, which Close ends.
func serve(listener net.Listener, h http.Handler) *Server {
	requests, endRequests := context.WithCancel(context.Background())
	s := &Server{
		URL:   "http://" + listener.Addr().String(),
		ended: make(chan error, 1),
		server: http.Server{
			Handler: h, MaxHeaderBytes: 16 << 10,
			BaseContext:       func(net.Listener) context.Context { return requests },
			ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
			WriteTimeout: maxAnswerTime, IdleTimeout: time.Minute,
		},
	}
	s.server.RegisterOnShutdown(endRequests)
	go func() { s.ended <- s.server.Serve(netutil.LimitListener(listener, maxConnections)) }()
	return s
}

// Close ends the server: live pages receive a last message, and connections that are still in use after closeTime are cut
// off. It returns the error that ended the server earlier, if one did. Further calls return the same.
func (s *Server) Close() error {
	s.closing.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if s.server.Shutdown(ctx) != nil { // not all answers ended in time
			_ = s.server.Close()
		}
		if err := <-s.ended; !errors.Is(err, http.ErrServerClosed) {
			s.err = fmt.Errorf("the server at %s ended: %w", s.URL, err)
		}
	})
	return s.err
}
