package ride

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

type body struct {
	Time *int `json:"time"`
	Lift *int `json:"liftID"`
}

// ParseBody reads what a client posts, {"time": 217, "liftID": 21}, into r. An error is *ErrInvalid; what is no JSON is the
// field "body".
func (r *Ride) ParseBody(text []byte) error {
	var b body
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return malformed(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return &ErrInvalid{"body", "something follows the JSON object"}
	}
	switch {
	case b.Time == nil:
		return &ErrInvalid{"time", "is missing"}
	case b.Lift == nil:
		return &ErrInvalid{"liftID", "is missing"}
	}
	r.Time, r.Lift = *b.Time, *b.Lift
	return nil
}

// malformed words what the decoder says for somebody who doesn't know it.
func malformed(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch text := err.Error(); {
	case errors.As(err, &kind) && kind.Field != "":
		return &ErrInvalid{kind.Field, fmt.Sprintf("is a %s; allowed: a whole number", kind.Value)}
	case errors.As(err, &kind):
		return &ErrInvalid{"body", fmt.Sprintf("is a JSON %s; allowed: an object with time and liftID", kind.Value)}
	case errors.As(err, &syntax):
		return &ErrInvalid{"body", fmt.Sprintf("is not JSON from byte %d on: %s", syntax.Offset, text)}
	case errors.Is(err, io.EOF):
		return &ErrInvalid{"body", "is empty; allowed: an object with time and liftID"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &ErrInvalid{"body", "is not JSON: it ends too early"}
	case strings.HasPrefix(text, "json: unknown field "):
		field := strings.Trim(strings.TrimPrefix(text, "json: unknown field "), `"`)
		return &ErrInvalid{clip(field), "is not a field of a ride; known: time, liftID"}
	}
	return &ErrInvalid{"body", err.Error()}
}
