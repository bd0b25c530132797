package server

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"time"

	"github.com/brokermark/brokermark/internal/pipeline/pool"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/secret"
)

// reply answers with v as JSON.
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

// tooLarge closes the connection: nobody reads ten megabytes to keep it.
func tooLarge(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	reply(w, http.StatusRequestEntityTooLarge, answer{Message: "the body is longer than 1024 bytes", Field: "body"})
}

func unavailable(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", retry)
	reply(w, http.StatusServiceUnavailable, answer{Message: why})
}

// unpublished words why a ride was not accepted. In each case the client may post it again under its key. What the broker said is for
// the server's own log, once a second.
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
