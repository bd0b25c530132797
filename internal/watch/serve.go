package watch

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

//go:embed page
var page embed.FS

// Address completes HOST:PORT, :PORT or PORT; without a host it is this machine's own.
func Address(text string) (string, error) {
	wrong := fmt.Errorf("%q is no address; allowed: HOST:PORT or PORT, such as 9464 or 127.0.0.1:9464", text)
	host, port := "", text
	if strings.Contains(text, ":") {
		var err error
		if host, port, err = net.SplitHostPort(text); err != nil {
			return "", wrong
		}
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", wrong
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// Server serves pages and metrics of a run, or the pages of a store.
type Server struct {
	URL      string // where it listens, without a path
	http     http.Server
	listener net.Listener
	over     chan struct{} // closed when the run is over
	ended    chan struct{}
}

// Serve listens at an address until Close. The page is at /, if f isn't nil; metrics are at /metrics, if m isn't. Beyond
// this machine's own addresses everybody must show the token.
func Serve(address, token string, f *Follower, m *Metrics) (*Server, error) {
	return listen(address, token, func(s *Server) http.Handler {
		mux := http.NewServeMux()
		if m != nil {
			mux.Handle("GET /metrics", m.Handler())
		}
		if f != nil {
			files, _ := fs.Sub(page, "page") // the name is in the embed directive above
			mux.Handle("GET /", secured(http.FileServerFS(files)))
			mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) { s.events(w, r, f) })
		}
		return mux
	})
}

// Local serves h to this machine only, under the same guard, until Close.
func Local(address string, h http.Handler) (*Server, error) {
	return listen(address, "", func(*Server) http.Handler { return h })
}

func listen(address, token string, pages func(*Server) http.Handler) (*Server, error) {
	if token == "" && !loopback(address) {
		return nil, ErrOpen
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		var refused *net.OpError
		if errors.As(err, &refused) {
			err = refused.Err
		}
		return nil, fmt.Errorf("can't listen at %s: %w", address, err)
	}
	s := &Server{URL: "http://" + listener.Addr().String(), listener: listener, over: make(chan struct{}), ended: make(chan struct{})}
	s.http = http.Server{
		Handler: guarded(pages(s), token), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10,
	}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(&few{Listener: listener, places: make(chan struct{}, connections)}) // it ends with Close
	}()
	return s, nil
}

// secured lets the page load nothing but itself, whatever a label holds.
func secured(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-cache")
		h.ServeHTTP(w, r)
	})
}

// closeTime bounds the last words to those who watch.
const closeTime = time.Second

// Close tells those who watch that the run is over, and ends the server.
func (s *Server) Close() {
	close(s.over)
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	<-s.ended
}

// sendEvery is the distance of events; a page that follows faster is not read faster.
const sendEvery = 500 * time.Millisecond

// message is what the page receives: all of the history with the first one, then only what is new.
type message struct {
	View    View     `json:"view"`
	Ticks   []Tick   `json:"ticks,omitempty"`
	Endings []Ending `json:"endings,omitempty"`
}

// events feeds one page (Server-Sent Events).
func (s *Server) events(w http.ResponseWriter, r *http.Request, f *Follower) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	seen := 0
	for first, last := true, false; !last; first = false {
		m := message{View: f.View(time.Now())}
		if first {
			m.Ticks = f.history()
		}
		m.Endings, seen = f.after(seen)
		select {
		case <-s.over:
			m.View.Finished, last = true, true
		default:
		}
		body, err := json.Marshal(m)
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", body); err != nil || out.Flush() != nil || last {
			return
		}
		select {
		case <-tick.C:
		case <-s.over:
		case <-r.Context().Done():
			return
		}
	}
}
