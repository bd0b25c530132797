package watch

import (
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// ErrOpen refuses to show a run to everybody who can reach this machine.
var ErrOpen = errors.New("that address can be reached from other machines: a token is needed (--watch-token-env), and a proxy in front for TLS; or listen on 127.0.0.1")

// connections bounds how many watch at once; who comes later waits.
const connections = 64

// cookie carries the token, so that the page's own requests have it, too.
const cookie = "brokermark-token"

// loopback tells that only this machine reaches an address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && local(host)
}

func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// guarded lets in who shows the token. Without one it answers only to this machine's own names, so that no web page
// elsewhere reads the run by having its name point here, and to no other page's requests.
func guarded(h http.Handler, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" && !sameHost(origin, r.Host) {
			http.Error(w, "this page belongs to another site", http.StatusForbidden)
			return
		}
		if token == "" {
			host, _, err := net.SplitHostPort(r.Host)
			if err != nil {
				host = strings.Trim(r.Host, "[]")
			}
			if !local(host) {
				http.Error(w, "ask for localhost or 127.0.0.1", http.StatusForbidden)
				return
			}
			h.ServeHTTP(w, r)
			return
		}
		if shown := r.URL.Query().Get("token"); equal(shown, token) {
			http.SetCookie(w, &http.Cookie{Name: cookie, Value: url.QueryEscape(token), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, r.URL.Path, http.StatusSeeOther) // the token isn't to stay in the address
			return
		}
		shown, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if c, err := r.Cookie(cookie); !bearer && err == nil {
			shown, _ = url.QueryUnescape(c.Value)
		}
		if !equal(shown, token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed: open /?token=TOKEN, or send Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host == host
}

// few is a listener with a bound on open connections.
type few struct {
	net.Listener
	places chan struct{}
}

func (f *few) Accept() (net.Conn, error) {
	f.places <- struct{}{}
	c, err := f.Listener.Accept()
	if err != nil {
		<-f.places
		return nil, err
	}
	return &placed{Conn: c, leave: sync.OnceFunc(func() { <-f.places })}, nil
}

type placed struct {
	net.Conn
	leave func()
}

func (p *placed) Close() error {
	defer p.leave()
	return p.Conn.Close()
}
