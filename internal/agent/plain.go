package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/worker"
)

// The types below send a worker's load and outcome to another process as JSON. All fields are sent as they are, except for two kinds
// of interfaces, which get a plain form: a schedule becomes its parameters (schedule.Plain), and an error becomes a Fault.

// Version is the version of Plan, Load and Outcome as JSON. Processes of different versions refuse to work together.
const Version = 5

// Load is a worker.Load that can be sent to another process. Its hooks are not sent.
type Load struct{ worker.Load }

// plainLoad is a Load as JSON. Its own fields replace the fields of the embedded Load that have the same name.
type plainLoad struct {
	worker.Load
	Schedule, Before *schedule.Plain
	Meanwhile        *schedule.Plain // that of Backlog
}

// MarshalJSON writes the load with its schedules in plain form.
func (l Load) MarshalJSON() ([]byte, error) {
	p := plainLoad{Load: l.Load}
	var err error
	if p.Schedule, err = schedule.ToPlain(l.Schedule); err != nil {
		return nil, fmt.Errorf("the load's schedule: %w", err)
	}
	if p.Before, err = schedule.ToPlain(l.Before); err != nil {
		return nil, fmt.Errorf("the schedule of the warm-up: %w", err)
	}
	if l.Backlog != nil {
		if p.Meanwhile, err = schedule.ToPlain(l.Backlog.Meanwhile); err != nil {
			return nil, fmt.Errorf("the schedule while the backlog drains: %w", err)
		}
		backlog := *l.Backlog
		backlog.Meanwhile = nil
		p.Backlog = &backlog
	}
	return json.Marshal(p)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *Load) UnmarshalJSON(text []byte) error {
	var p plainLoad
	err := json.Unmarshal(text, &p)
	if err != nil {
		return err
	}
	l.Load = p.Load
	if l.Schedule, err = p.Schedule.Schedule(); err != nil {
		return fmt.Errorf("the load's schedule: %w", err)
	}
	if l.Before, err = p.Before.Schedule(); err != nil {
		return fmt.Errorf("the schedule of the warm-up: %w", err)
	}
	if l.Backlog != nil {
		if l.Backlog.Meanwhile, err = p.Meanwhile.Schedule(); err != nil {
			return fmt.Errorf("the schedule while the backlog drains: %w", err)
		}
	}
	return nil
}

// Outcome is a worker.Outcome that can be sent to another process.
type Outcome struct{ worker.Outcome }

// plainOutcome is an Outcome as JSON. Its own fields replace the fields of the embedded Outcome that have the same name.
type plainOutcome struct {
	worker.Outcome
	SendErr, Err *Fault
}

// MarshalJSON writes the outcome with its errors as Faults.
func (o Outcome) MarshalJSON() ([]byte, error) {
	return json.Marshal(plainOutcome{Outcome: o.Outcome, SendErr: FaultOf(o.SendErr), Err: FaultOf(o.Err)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (o *Outcome) UnmarshalJSON(text []byte) error {
	var p plainOutcome
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	o.Outcome = p.Outcome
	o.SendErr, o.Err = p.SendErr.Err(), p.Err.Err()
	return nil
}

// Fault is an error that can be sent to another process: its text, and those of the errors it wraps that the receiver looks
// for with errors.Is and errors.As: {"Text":"the consumers' process: context deadline exceeded","Known":["apart","deadline"]}.
type Fault struct {
	Text        string
	Known       []string               `json:",omitempty"` // names of knownErrors
	Unconnected bool                   `json:",omitempty"` // it wraps ErrConnect
	Refused     *driver.ErrUnsupported `json:",omitempty"`
}

// knownErrors are the errors that keep their identity in a Fault. The names are part of the format.
var knownErrors = []struct {
	name string
	err  error
}{
	{"apart", worker.ErrConsumerProcess},
	{"late", worker.ErrLate},
	{"ran dry", worker.ErrRanDry},
	{"canceled", context.Canceled},
	{"deadline", context.DeadlineExceeded},
}

// FaultOf returns err as a Fault; nil if err is nil.
func FaultOf(err error) *Fault {
	if err == nil {
		return nil
	}
	f := &Fault{Text: err.Error(), Unconnected: errors.As(err, new(*ErrConnect))}
	for _, known := range knownErrors {
		if errors.Is(err, known.err) {
			f.Known = append(f.Known, known.name)
		}
	}
	errors.As(err, &f.Refused)
	return f
}

// Err returns the error that f stands for; nil if f is nil.
func (f *Fault) Err() error {
	if f == nil {
		return nil
	}
	e := remoteError{text: f.Text}
	for _, known := range knownErrors {
		if slices.Contains(f.Known, known.name) {
			e.wrapped = append(e.wrapped, known.err)
		}
	}
	if f.Refused != nil {
		e.wrapped = append(e.wrapped, f.Refused)
	}
	if f.Unconnected {
		return &ErrConnect{Why: e}
	}
	return e
}

// remoteError is an error of another process.
type remoteError struct {
	text    string
	wrapped []error
}

func (e remoteError) Error() string   { return e.text }
func (e remoteError) Unwrap() []error { return e.wrapped }
