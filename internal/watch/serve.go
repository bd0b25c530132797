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

	"golang.org/x/net/netutil"
)

//go:embed page
var page embed.FS

const (
	maxConnections = 64                     // open at once; further ones wait
	sendEvery      = 500 * time.Millisecond // between two messages to a page
	closeTime      = time.Second            // that Close waits for pages to receive their last message
)

// Address completes an address to HOST:PORT. Without a host it is this machine's own: "9464" is "127.0.0.1:9464".
func Address(text string) (string, error) {
	host, port := "", text
	wrong := fmt.Errorf("%q is no address; allowed: HOST:PORT or PORT, such as 9464 or 127.0.0.1:9464", text)
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
	URL     string // where it listens, without a path
	http    http.Server
	runOver chan struct{} // closed by Close
	served  chan struct{} // closed when the last request is answered
}

// Serve serves a run at an address until Close: a live page at / unless f is nil, and metrics at /metrics unless m is nil. An address
// that other machines can reach needs a token, which every request has to show; without one Serve returns ErrOpen.
func Serve(address, token string, f *Follower, m *Metrics) (*Server, error) {
	s := newServer()
	mux := http.NewServeMux()
	if m != nil {
		mux.Handle("GET /metrics", m.Handler())
	}
	if f != nil {
		files, err := fs.Sub(page, "page")
		if err != nil {
			return nil, err
		}
		mux.Handle("GET /", loadingOnlyItself(http.FileServerFS(files)))
		mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) { s.streamEvents(w, r, f) })
	}
	return s.start(address, token, mux)
}

// Local serves h to this machine only, until Close.
func Local(address string, h http.Handler) (*Server, error) {
	return newServer().start(address, "", h)
}

func newServer() *Server {
	return &Server{runOver: make(chan struct{}), served: make(chan struct{})}
}

// start listens and answers by h, behind the guard.
func (s *Server) start(address, token string, h http.Handler) (*Server, error) {
	if token == "" && !isLoopback(address) {
		return nil, ErrOpen
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		var failed *net.OpError
		if errors.As(err, &failed) {
			err = failed.Err // without the address, which stands before it
		}
		return nil, fmt.Errorf("can't listen at %s: %w", address, err)
	}
	s.URL = "http://" + listener.Addr().String()
	s.http = http.Server{
		Handler: guarded(h, token), MaxHeaderBytes: 16 << 10,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute,
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(netutil.LimitListener(listener, maxConnections)) // always an error: http.ErrServerClosed after Close
	}()
	return s, nil
}

// loadingOnlyItself forbids the page to load anything from elsewhere, whatever a label contains.
func loadingOnlyItself(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-cache")
		h.ServeHTTP(w, r)
	})
}

// Close sends the pages a last message, that the run is over, and ends the server.
func (s *Server) Close() {
	close(s.runOver)
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // cuts off the pages that did not answer in time
	}
	<-s.served
}

// message is what a page receives. The first one has the history so far, later ones only what is new.
type message struct {
	View    View     `json:"view"`
	Ticks   []Tick   `json:"ticks,omitempty"`
	Endings []Ending `json:"endings,omitempty"`
}

// streamEvents sends a page messages until the run is over or the page is closed (Server-Sent Events).
func (s *Server) streamEvents(w http.ResponseWriter, r *http.Request, f *Follower) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	ticker := time.NewTicker(sendEvery)
	defer ticker.Stop()
	ticks, endingsSeen := f.stageTicks(), 0
	for {
		over := s.isRunOver()
		m := message{View: f.View(time.Now()), Ticks: ticks}
		m.View.Finished = m.View.Finished || over
		m.Endings, endingsSeen = f.endingsAfter(endingsSeen)
		if err := send(w, m); err != nil || over {
			return
		}
		ticks = nil
		select {
		case <-ticker.C:
		case <-s.runOver:
		case <-r.Context().Done():
			return
		}
	}
}

func (s *Server) isRunOver() bool {
	select {
	case <-s.runOver:
		return true
	default:
		return false
	}
}

func send(w http.ResponseWriter, m message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "data: %s\n\n", body); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}
