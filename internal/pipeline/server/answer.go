package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/brokermark/brokermark/internal/pipeline/pool"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
)

var (
	created  = []byte(`{"message":"accepted"}`)
	jsonType = []string{"application/json"}
	lengths  = func() (list [256][]string) {
		for n := range list {
			list[n] = []string{strconv.Itoa(n)}
		}
		return list
	}()
)

func reply(w http.ResponseWriter, code int, body []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	if len(body) < len(lengths) {
		h["Content-Length"] = lengths[len(body)]
	} else {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	w.WriteHeader(code)
	_, _ = w.Write(body)
}

func refuse(w http.ResponseWriter, code int, a answer) {
	body, _ := json.Marshal(a)
	reply(w, code, body)
}

func invalid(w http.ResponseWriter, err error) {
	a := answer{Message: err.Error()}
	if e := (*ride.ErrInvalid)(nil); errors.As(err, &e) {
		a.Field = e.Field
	}
	refuse(w, http.StatusBadRequest, a)
}

// tooLarge closes the connection: nobody reads ten megabytes to keep it.
func tooLarge(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	refuse(w, http.StatusRequestEntityTooLarge, answer{Message: "the body is longer than 1024 bytes", Field: "body"})
}

func unavailable(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", retry)
	refuse(w, http.StatusServiceUnavailable, answer{Message: why})
}

// unpublished words why a ride was not accepted. In each case the client may post it again under its key.
func unpublished(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, pool.ErrBusy):
		unavailable(w, "every producer is busy; the ride was not accepted")
	case errors.Is(err, pool.ErrUnknown):
		unavailable(w, "the broker has not confirmed the ride in time; post it again with the same "+Key)
	case errors.Is(err, pool.ErrClosed):
		w.Header().Set("Connection", "close")
		unavailable(w, "the server is stopping; the ride was not accepted")
	default:
		unavailable(w, "the broker did not take the ride: "+err.Error())
	}
}
