package consumer

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/pipeline/server"
)

// Handler answers GET /health, /progress (the counters alone), /stats, /rides (their IDs, 16 bytes each) and /skiers/{skierID}/vertical.
func (c *Consumer) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		if text := c.failed.Load(); text != nil {
			http.Error(w, *text, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, "%d of %d threads consume\n", c.ready.Load(), c.threads)
	})
	mux.HandleFunc("GET /progress", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, c.counters(), nil)
	})
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		s, err := c.Stats()
		writeJSON(w, s, err)
	})
	mux.HandleFunc("GET /rides", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		out := bufio.NewWriter(w)
		err := c.state.IDs(func(id ride.ID) error { _, err := out.Write(id[:]); return err })
		if err != nil {
			panic(http.ErrAbortHandler) // a cut list must not look like a whole one
		}
		_ = out.Flush()
	})
	mux.HandleFunc("GET /skiers/{skierID}/vertical", func(w http.ResponseWriter, r *http.Request) {
		q, err := server.ParseQuery(r.PathValue("skierID"), r.URL.Query().Get)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		metres, err := c.state.Vertical(q)
		writeJSON(w, server.Vertical{Vertical: metres}, err)
	})
	return mux
}

// writeJSON answers with v, or with why it could not be had.
func writeJSON(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// Remote is a consumer in another process, asked over HTTP.
type Remote struct {
	URL    string // http://host:port
	Client *http.Client
}

// NewRemote asks at host:port.
func NewRemote(address string) *Remote {
	return &Remote{URL: "http://" + address, Client: &http.Client{Timeout: time.Minute}}
}

func (r *Remote) get(ctx context.Context, path string) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL+path, nil)
	if err != nil {
		return nil, err
	}
	a, err := r.Client.Do(q)
	if err == nil && a.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(a.Body, 200))
		a.Body.Close()
		err = fmt.Errorf("the consumer answers %s with %s: %s", path, a.Status, text)
	}
	return a, err
}

// Progress asks for the counters alone, which costs a running consumer next to nothing.
func (r *Remote) Progress(ctx context.Context) (s Stats, err error) {
	err = r.read(ctx, "/progress", &s)
	return s, err
}

// Stats asks for everything.
func (r *Remote) Stats(ctx context.Context) (s Stats, err error) {
	err = r.read(ctx, "/stats", &s)
	return s, err
}

// read decodes the answer to a path.
func (r *Remote) read(ctx context.Context, path string, into any) error {
	a, err := r.get(ctx, path)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	return json.NewDecoder(a.Body).Decode(into)
}

// Rides lists the IDs of the counted rides.
func (r *Remote) Rides(ctx context.Context) (ids []ride.ID, err error) {
	a, err := r.get(ctx, "/rides")
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	from := bufio.NewReader(a.Body)
	for {
		var id ride.ID
		switch _, err := io.ReadFull(from, id[:]); err {
		case nil:
			ids = append(ids, id)
		case io.EOF:
			return ids, nil
		default:
			return nil, fmt.Errorf("the list of rides was cut off: %w", err)
		}
	}
}

// Vertical asks for a skier's.
func (r *Remote) Vertical(ctx context.Context, q server.Query) (int64, error) {
	var v server.Vertical
	err := r.read(ctx, fmt.Sprintf("/skiers/%d/vertical?resort=%d&season=%d&day=%d", q.Skier, q.Resort, q.Season, q.Day), &v)
	return v.Vertical, err
}
