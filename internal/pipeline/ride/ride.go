// Package ride is what the pipeline carries: a skier's ride on a lift, the rules that a posted one has to meet, and its
// form as a message. It knows nothing of HTTP, brokers or states.
package ride

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/zeebo/xxh3"
)

// Ride is one ride. Its zero value is not valid.
type Ride struct {
	ID     ID
	Resort int
	Season int // the year that it began in
	Day    int // of the season
	Skier  int
	Time   int // minutes after the lifts opened
	Lift   int
	At     int64 // when the request was due, on the host's clock.Now axis; 0: not known
}

// ID tells a ride from every other one, however often it is posted or delivered.
type ID [16]byte

// KeyID is the ID of the ride that a client posts under a key of its own, always the same for the same key.
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

// Vertical is how many metres a ride brings.
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

// numbers are r's, in the order of fields.
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

// Append writes r as a message: one JSON object.
func (r *Ride) Append(b []byte) []byte {
	b = append(b, `{"id":"`...)
	b = hex.AppendEncode(b, r.ID[:])
	b = append(b, '"')
	for i, n := range r.numbers() {
		b = append(b, `,"`...)
		b = append(b, fields[i].name...)
		b = append(b, `":`...)
		b = strconv.AppendInt(b, int64(*n), 10)
	}
	if r.At != 0 {
		b = append(b, `,"at":`...)
		b = strconv.AppendInt(b, r.At, 10)
	}
	return append(b, '}')
}

type message struct {
	ID     string `json:"id"`
	Resort int    `json:"resortID"`
	Season int    `json:"seasonID"`
	Day    int    `json:"dayID"`
	Skier  int    `json:"skierID"`
	Time   int    `json:"time"`
	Lift   int    `json:"liftID"`
	At     int64  `json:"at"`
}

// Parse reads a message; what is no ride is an error.
func Parse(b []byte) (Ride, error) {
	var r Ride
	if r.scanMessage(b) {
		return r, r.Check()
	}
	var m message
	if err := json.Unmarshal(b, &m); err != nil {
		return Ride{}, fmt.Errorf("a message that is no ride: %w", err)
	}
	r = Ride{Resort: m.Resort, Season: m.Season, Day: m.Day, Skier: m.Skier, Time: m.Time, Lift: m.Lift, At: m.At}
	if n, err := hex.Decode(r.ID[:], []byte(m.ID)); err != nil || n != len(r.ID) || len(m.ID) != 2*len(r.ID) {
		return Ride{}, fmt.Errorf("a message that is no ride: its id is %q", clip(m.ID))
	}
	return r, r.Check()
}
