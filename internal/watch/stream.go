package watch

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"time"
)

//go:embed page
var embedded embed.FS

const (
	messageEvery   = 500 * time.Millisecond // between two messages to a page
	maxMessageTime = 30 * time.Second       // for a page to read a message; one that stopped reading must not hold its connection
)

// Page serves the live page of the run that f follows. The page reads /events, where it receives messages.
func Page(f *Follower) http.Handler {
	files, err := fs.Sub(embedded, "page")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", withPageHeaders(http.FileServerFS(files)))
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) { streamEvents(w, r, f) })
	return mux
}

// withPageHeaders forbids the page to load anything from another site, whatever a label contains.
func withPageHeaders(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-cache")
		h.ServeHTTP(w, r)
	})
}

// message is one update of a page. The first one holds the history so far.
type message struct {
	View     View     `json:"view"`
	Finished bool     `json:"finished"`          // the run is over, and this is the last message
	Ticks    []Tick   `json:"ticks,omitempty"`   // of the stage so far, in the first message; later ticks are those of View.Now
	Endings  []Ending `json:"endings,omitempty"` // since the message before
}

// streamEvents sends a page messages as Server-Sent Events until the context of its request ends: because the server
// closes, which the last message says, or because the page is gone. A page whose stream broke off connects again by
// itself.
func streamEvents(w http.ResponseWriter, r *http.Request, f *Follower) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	ticker := time.NewTicker(messageEvery)
	defer ticker.Stop()
	m := message{Ticks: f.stageTicks()}
	endingsSeen := 0
	for {
		m.Finished = r.Context().Err() != nil // asked first, so that the last message shows the end
		m.View = f.View(time.Now())
		m.Endings, endingsSeen = f.endingsAfter(endingsSeen)
		if send(w, m) != nil || m.Finished {
			return
		}
		m.Ticks = nil
		select {
		case <-ticker.C:
		case <-r.Context().Done():
		}
	}
}

// send writes a message. It returns an error if the page is gone, or doesn't read the message in time.
func send(w http.ResponseWriter, m message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	connection := http.NewResponseController(w)
	if err := connection.SetWriteDeadline(time.Now().Add(maxMessageTime)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "data: %s\n\n", body); err != nil {
		return err
	}
	return connection.Flush()
}
