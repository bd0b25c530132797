package watch

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
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
	return net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port), nil
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

// ErrOpen is the error of serving beyond this machine without a token: every user of the network could read the pages.
var ErrOpen = errors.New("that address can be reached from other machines: a token is needed (--watch-token-env), " +
	"and a proxy in front for TLS; or listen on 127.0.0.1")

// sessionCookie carries, in requests that the page makes by itself, a secret that opens this server until it ends: browsers show
// cookies to the servers on all ports of a host, which must not learn the token.
const sessionCookie = "brokermark-session"

// isLoopback reports whether only this machine can reach an address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLocalHost(host)
}

func isLocalHost(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback() // no address is no loopback address
}

// withAccessControl refuses requests that a page of another site makes. Without a token, h answers only to this machine's
// own names: a name that an attacker points to 127.0.0.1 (DNS rebinding) would make the attacker's page one of this site.
// With a token, a request has to show it: as ?token= once, which sets a cookie, then by the cookie, or as "Authorization:
// Bearer".
func withAccessControl(token string, h http.Handler) http.Handler {
	session := rand.Text()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case fromOtherSite(r):
			http.Error(w, "this page belongs to another site", http.StatusForbidden)
		case token == "" && !isLocalHost(hostOf(r)):
			http.Error(w, "ask for localhost or 127.0.0.1", http.StatusForbidden)
		case token != "" && sameSecret(r.URL.Query().Get("token"), token):
			moveToCookie(w, r, session)
		case token != "" && !sameSecret(bearerOf(r), token) && !sameSecret(sessionOf(r), session):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed: open /?token=TOKEN, or send Authorization: Bearer TOKEN", http.StatusUnauthorized)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// fromOtherSite reports whether a page of another site made the request, other than by a link that its reader followed. Only
// browsers send these headers; an image or a frame has no Origin.
func fromOtherSite(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Dest") != "document" {
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host != r.Host
}

// hostOf returns the host that a request asks for, without the port.
func hostOf(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.Host); err == nil {
		return host
	}
	return strings.Trim(r.Host, "[]")
}

// bearerOf returns the token of a request's Authorization header, or empty.
func bearerOf(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

// sessionOf returns the secret in a request's cookie, or empty.
func sessionOf(r *http.Request) string {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// moveToCookie answers with a cookie and the same path without a query: the token would stay in the browser's history. The
// cookie isn't marked Secure, because this server itself speaks HTTP, and TLS is the proxy's.
func moveToCookie(w http.ResponseWriter, r *http.Request, session string) {
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	path := "/" + strings.TrimLeft(r.URL.Path, `/\`) // "//example.org" would lead to another site
	http.Redirect(w, r, path, http.StatusSeeOther)
}

// sameSecret compares in a time that reveals nothing about a but its length.
func sameSecret(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
