// Package server takes rides in by HTTP and hands them to a broker; openapi.yaml describes it. It knows nothing of the
// consumer, beyond an address that it can ask for a skier's vertical.
package server

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"log"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/pipeline/pool"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/secret"
)

// Description is the API in OpenAPI 3's words.
//
//go:embed openapi.yaml
var Description []byte

// Headers of a request.
const (
	// Key names the ride: posted again under the same key it is the same ride, counted once.
	Key = "Idempotency-Key"
	// At is when the request was due, in nanoseconds of the host's monotonic clock, for end-to-end latency.
	At = "Brokermark-Due"
)

// Part is a header of the answer to a health check, the name of the process that answers: a port that another program has
// taken would answer as well.
const Part = "Brokermark-Part"

const (
	maxBody = 1 << 10 // of a ride; a valid one has some 30 bytes
	maxKey  = 200
	retry   = "1" // seconds
)

// Publisher hands a message over and returns its fate, as a pool does.
type Publisher interface {
	Publish(payload []byte) error
	Counts() pool.Counts
}

// Verticals answers how many metres a skier has made.
type Verticals interface {
	Vertical(ctx context.Context, q Query) (int64, error)
}

// Query asks for a skier's vertical. 0 leaves season or day open.
type Query struct{ Resort, Season, Day, Skier int }

// Server answers requests. Any goroutine.
type Server struct {
	// Name is in the header Part of every health check; "": no such header.
	Name     string
	to       Publisher
	from     Verticals // nil: no consumer to ask
	stopping atomic.Bool
	requests atomic.Int64
	accepted atomic.Int64
	logged   atomic.Int64 // when the broker's words were, in seconds since 1970
}

// New makes a server that publishes to to. from may be nil.
func New(to Publisher, from Verticals) *Server { return &Server{to: to, from: from} }

// Stopping has the health check report that the server is stopping, so that balancers send no more requests here.
func (s *Server) Stopping() { s.stopping.Store(true) }

// answer is the body of everything but a vertical.
type answer struct {
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	// The path as it was sent: it is not cleaned, so dots or double slashes make it another path.
	switch path := r.URL.EscapedPath(); {
	case path == "/health":
		if s.Name != "" {
			w.Header().Set(Part, s.Name)
		}
		if allowed(w, r, http.MethodGet) {
			s.health(w)
		}
	case path == "/openapi.yaml":
		if allowed(w, r, http.MethodGet) {
			w.Header().Set("Content-Type", "application/yaml")
			_, _ = w.Write(Description)
		}
	case strings.HasPrefix(path, "/skiers/"):
		s.skiers(w, r, strings.Split(path[len("/skiers/"):], "/"))
	default:
		notFound(w)
	}
}

func notFound(w http.ResponseWriter) { reply(w, http.StatusNotFound, answer{Message: "no such path"}) }

// allowed refuses a request with another method.
func allowed(w http.ResponseWriter, r *http.Request, methods ...string) bool {
	if slices.Contains(methods, r.Method) {
		return true
	}
	list := strings.Join(methods, ", ")
	w.Header().Set("Allow", list)
	reply(w, http.StatusMethodNotAllowed, answer{Message: r.Method + " is not allowed here; allowed: " + list})
	return false
}

// isDay reports whether parts are {resortID}/seasons/{seasonID}/days/{dayID}/skiers/{skierID}.
func isDay(parts []string) bool {
	return len(parts) == 7 && parts[1] == "seasons" && parts[3] == "days" && parts[5] == "skiers"
}

// skiers serves /skiers/{resortID}/seasons/{seasonID}/days/{dayID}/skiers/{skierID} and /skiers/{skierID}/vertical.
func (s *Server) skiers(w http.ResponseWriter, r *http.Request, parts []string) {
	switch {
	case isDay(parts):
		if allowed(w, r, http.MethodGet, http.MethodPost) {
			s.day(w, r, parts)
		}
	case len(parts) == 2 && parts[1] == "vertical":
		if allowed(w, r, http.MethodGet) {
			s.vertical(w, r, parts[0])
		}
	default:
		notFound(w)
	}
}

func (s *Server) day(w http.ResponseWriter, r *http.Request, parts []string) {
	of, err := dayOf(parts)
	if err != nil {
		invalid(w, err)
		return
	}
	if r.Method == http.MethodGet {
		s.ask(w, r, Query{of.Resort, of.Season, of.Day, of.Skier})
		return
	}
	s.post(w, r, of)
}

// dayOf reads the values that a path gives for a ride or a query.
func dayOf(parts []string) (of ride.Ride, err error) {
	of = ride.Ride{Time: 1, Lift: 1} // which only a body says
	for i, name := range []string{"resortID", "seasonID", "dayID", "skierID"} {
		to := []*int{&of.Resort, &of.Season, &of.Day, &of.Skier}[i]
		if *to, err = ride.Number(name, parts[2*i]); err != nil {
			return of, err
		}
	}
	return of, of.Check()
}

func (s *Server) post(w http.ResponseWriter, r *http.Request, of ride.Ride) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		reply(w, http.StatusUnsupportedMediaType, answer{Message: "Content-Type must be application/json", Field: "Content-Type"})
		return
	}
	if r.ContentLength > maxBody {
		tooLarge(w)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	switch tooLong := (*http.MaxBytesError)(nil); {
	case errors.As(err, &tooLong):
		tooLarge(w)
		return
	case errors.Is(err, io.ErrUnexpectedEOF):
		reply(w, http.StatusBadRequest, answer{Message: "the body ended before its Content-Length", Field: "body"})
		return
	case err != nil:
		reply(w, http.StatusBadRequest, answer{Message: "the body could not be read", Field: "body"})
		return
	}
	if err := complete(&of, body, r.Header.Get(Key), r.Header.Get(At)); err != nil {
		invalid(w, err)
		return
	}
	if err := s.to.Publish(of.Message()); err != nil {
		s.unpublished(w, err)
		return
	}
	s.accepted.Add(1)
	reply(w, http.StatusCreated, answer{Message: "accepted"})
}

// complete reads a posted body and the headers Key and At into a ride whose path has been read.
func complete(of *ride.Ride, body []byte, key, due string) error {
	if err := of.ParseBody(body); err != nil {
		return err
	}
	if err := of.Check(); err != nil {
		return err
	}
	switch {
	case key == "":
		of.ID = ride.NewID()
	case len(key) > maxKey:
		return &ride.ErrInvalid{Field: Key, Reason: "is too long; allowed: 200 bytes"}
	default:
		of.ID = ride.KeyID(key)
	}
	if due != "" {
		at, err := strconv.ParseInt(due, 10, 64)
		if err != nil || at < 0 {
			return &ride.ErrInvalid{Field: At, Reason: "is not a number of nanoseconds"}
		}
		of.At = at
	}
	return nil
}

// health answers 503 while the server can't publish, so that a balancer sends no requests here.
func (s *Server) health(w http.ResponseWriter) {
	c := s.to.Counts()
	state, code := "ok", http.StatusOK
	if s.stopping.Load() {
		state, code = "stopping", http.StatusServiceUnavailable
	}
	reply(w, code, Health{
		Status: state, Requests: s.requests.Load(), Accepted: s.accepted.Load(), Waiting: c.Waiting,
		Published: c.Published, Failed: c.Failed + c.FailedLater, Busy: c.Busy, Unknown: c.Unknown,
	})
}

// Health is the answer of the health check.
type Health struct {
	Status    string `json:"status"`    // ok | stopping
	Requests  int64  `json:"requests"`  // all of them, refused ones included
	Accepted  int64  `json:"accepted"`  // rides answered with 201
	Published int64  `json:"published"` // confirmed by the broker
	Failed    int64  `json:"failed"`    // reported as failed by the broker's client
	Busy      int64  `json:"busy"`      // answered with 503 because no producer was free in time
	Unknown   int64  `json:"unknown"`   // answered with 503 because no confirmation came in time
	Waiting   int    `json:"waiting"`   // for a producer, now
}

func (s *Server) vertical(w http.ResponseWriter, r *http.Request, skier string) {
	q, err := ParseQuery(skier, r.URL.Query().Get)
	if err != nil {
		invalid(w, err)
		return
	}
	s.ask(w, r, q)
}

// ParseQuery reads the query for a skier's vertical: resort is required, season and day are not.
func ParseQuery(skier string, get func(string) string) (q Query, err error) {
	if q.Skier, err = ride.Number("skierID", skier); err != nil {
		return q, err
	}
	if get("resort") == "" {
		return q, &ride.ErrInvalid{Field: "resort", Reason: "is missing"}
	}
	for i, name := range []string{"resort", "season", "day"} {
		to := []*int{&q.Resort, &q.Season, &q.Day}[i]
		if text := get(name); text != "" {
			if *to, err = ride.Number(name, text); err != nil {
				return q, err
			}
		}
	}
	asRide := ride.Ride{
		Resort: q.Resort, Season: cmp.Or(q.Season, ride.MinSeason), Day: cmp.Or(q.Day, 1), Skier: q.Skier, Time: 1, Lift: 1,
	}
	return q, asRide.Check()
}

// askTime bounds a question to the consumer.
const askTime = 2 * time.Second

func (s *Server) ask(w http.ResponseWriter, r *http.Request, q Query) {
	if s.from == nil {
		unavailable(w, "no consumer was named that could be asked")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	metres, err := s.from.Vertical(ctx, q)
	if err != nil {
		unavailable(w, "the consumer could not be asked")
		return
	}
	reply(w, http.StatusOK, Vertical{Vertical: metres})
}

// Vertical is the answer to a question for a vertical.
type Vertical struct {
	Vertical int64 `json:"vertical"` // metres
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

func invalid(w http.ResponseWriter, err error) {
	a := answer{Message: err.Error()}
	if e := (*ride.ErrInvalid)(nil); errors.As(err, &e) {
		a.Field = e.Field
	}
	reply(w, http.StatusBadRequest, a)
}

// tooLarge closes the connection: keeping it is not worth reading ten megabytes.
func tooLarge(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	reply(w, http.StatusRequestEntityTooLarge, answer{Message: "the body is longer than 1024 bytes", Field: "body"})
}

func unavailable(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", retry)
	reply(w, http.StatusServiceUnavailable, answer{Message: why})
}

// unpublished answers with the reason why a ride was not accepted. The client may post it again under its key in any case.
// The broker's error goes only to the server's own log, once a second.
func (s *Server) unpublished(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, pool.ErrBusy):
		unavailable(w, "every producer is busy; the ride was not accepted")
	case errors.Is(err, pool.ErrUnknown):
		unavailable(w, "the broker has not confirmed the ride in time; post it again with the same "+Key)
	case errors.Is(err, pool.ErrClosed):
		w.Header().Set("Connection", "close")
		unavailable(w, "the server is stopping; the ride was not accepted")
	default:
		if now := time.Now().Unix(); s.logged.Swap(now) != now {
			log.Printf("the broker did not take a ride: %s", secret.Redact(err.Error()))
		}
		unavailable(w, "the broker did not take the ride")
	}
}
