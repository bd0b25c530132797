// Package ride defines what the pipeline carries: a skier's ride on a lift, the rules that a posted ride has to meet, and
// its form as a message. It knows nothing of HTTP, brokers or states.
package ride

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"
)

// Ride is one ride, and in JSON the message that carries it. Its zero value is not valid.
type Ride struct {
	ID     ID    `json:"id"`
	Resort int   `json:"resortID"`
	Season int   `json:"seasonID"` // the year that it began in
	Day    int   `json:"dayID"`    // of the season
	Skier  int   `json:"skierID"`
	Time   int   `json:"time"` // minutes after the lifts opened
	Lift   int   `json:"liftID"`
	At     int64 `json:"at,omitempty"` // when the request was due, on the host's clock.Now axis; 0: not known
}

// ID identifies a ride, however often it is posted or delivered.
type ID [16]byte

// KeyID returns the ID of the ride that a client posts under a key of its own, always the same for the same key.
func KeyID(key string) (id ID) {
	h := xxh3.HashString128(key)
	b := h.Bytes()
	return ID(b)
}

// NewID makes an ID for a ride that came without a key.
func NewID() (id ID) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// MarshalText returns the ID as 32 hexadecimal digits.
func (id ID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, id[:]), nil }

// UnmarshalText reads what MarshalText returns.
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(id)) {
		return fmt.Errorf("id %q; allowed: 32 hexadecimal digits", clip(string(text)))
	}
	_, err := hex.Decode(id[:], text)
	return err
}

// The values that a ride may have.
const (
	MaxResort            = 10
	MinSeason, MaxSeason = 1900, 2999
	MaxDay               = 366
	MaxSkier             = 100_000
	MaxTime              = 360
	MaxLift              = 40
)

// LiftMetres times a lift's number are the metres that a ride on it brings, as in the assignment.
const LiftMetres = 10

// Vertical returns the vertical metres of a ride.
func (r *Ride) Vertical() int64 { return int64(r.Lift) * LiftMetres }

// ErrInvalid names the field that a ride can't have with this value.
type ErrInvalid struct{ Field, Reason string }

func (e *ErrInvalid) Error() string { return e.Field + ": " + e.Reason }

// fields are the numbers of a ride, by their names in JSON and with the values that they may have.
var fields = [...]struct {
	name    string
	lo, top int
}{
	{"resortID", 1, MaxResort},
	{"seasonID", MinSeason, MaxSeason},
	{"dayID", 1, MaxDay},
	{"skierID", 1, MaxSkier},
	{"time", 1, MaxTime},
	{"liftID", 1, MaxLift},
}

// numbers returns pointers to r's numbers, in the order of fields.
func (r *Ride) numbers() [len(fields)]*int {
	return [...]*int{&r.Resort, &r.Season, &r.Day, &r.Skier, &r.Time, &r.Lift}
}

// Check refuses the first field that is out of its range.
func (r *Ride) Check() error {
	for i, n := range r.numbers() {
		if f := fields[i]; *n < f.lo || *n > f.top {
			return &ErrInvalid{f.name, fmt.Sprintf("%d is out of range; allowed: %d to %d", *n, f.lo, f.top)}
		}
	}
	return nil
}

// Number reads a whole number that stands in a path, where signs, spaces and leading zeros make another path.
func Number(field, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text {
		return 0, &ErrInvalid{field, fmt.Sprintf("%q is not a whole number", clip(text))}
	}
	return n, nil
}

// clip keeps messages short, whatever is sent.
func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}

// Message returns r as a message: one JSON object.
func (r *Ride) Message() []byte {
	b, _ := json.Marshal(r) // can't fail: there are only numbers and an ID in it
	return b
}

// Parse reads a message. It returns an error if the message is not a valid ride.
func Parse(b []byte) (Ride, error) {
	var r Ride
	if err := json.Unmarshal(b, &r); err != nil {
		return Ride{}, fmt.Errorf("a message that is no ride: %w", err)
	}
	if r.ID == (ID{}) {
		return Ride{}, &ErrInvalid{"id", "is missing"}
	}
	return r, r.Check()
}

type body struct {
	Time *int `json:"time"`
	Lift *int `json:"liftID"`
}

// ParseBody reads what a client posts, {"time": 217, "liftID": 21}, into r. An error is *ErrInvalid, of the field "body" if
// text is no JSON.
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

// malformed words a decoder's error for the client that posted the body.
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
