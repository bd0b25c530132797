package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/worker"
)

// Version is that of everything that crosses to another process: Plan, Load and Outcome as JSON. Processes of different versions
// don't work together.
const Version = 1

// Load is a worker's load as data. Its Hooks stay behind.
type Load struct{ worker.Load }

type plainLoad struct {
	worker.Load
	Schedule, Before, Meanwhile *schedule.Plain
}

// MarshalJSON writes schedules as their plain form.
func (l Load) MarshalJSON() ([]byte, error) {
	p := plainLoad{Load: l.Load}
	var errs [3]error
	p.Schedule, errs[0] = schedule.Described(l.Schedule)
	p.Before, errs[1] = schedule.Described(l.Before)
	if b := l.Backlog; b != nil {
		p.Meanwhile, errs[2] = schedule.Described(b.Meanwhile)
		p.Backlog = &worker.Backlog{Ratio: b.Ratio, For: b.For}
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *Load) UnmarshalJSON(text []byte) error {
	var p plainLoad
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	l.Load = p.Load
	var errs [3]error
	l.Schedule, errs[0] = p.Schedule.Schedule()
	l.Before, errs[1] = p.Before.Schedule()
	if l.Backlog != nil {
		l.Backlog.Meanwhile, errs[2] = p.Meanwhile.Schedule()
	}
	return errors.Join(errs[:]...)
}

// Outcome is a worker's outcome as data.
type Outcome struct{ worker.Outcome }

type plainOutcome struct {
	worker.Outcome
	SendErr, Err *Fault
}

// MarshalJSON writes errors as Faults.
func (o Outcome) MarshalJSON() ([]byte, error) {
	p := plainOutcome{o.Outcome, FaultOf(o.SendErr), FaultOf(o.Err)}
	p.Outcome.SendErr, p.Outcome.Err = nil, nil
	return json.Marshal(p)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (o *Outcome) UnmarshalJSON(text []byte) error {
	var p plainOutcome
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	o.Outcome = p.Outcome
	o.SendErr, o.Err = p.SendErr.Error(), p.Err.Error()
	return nil
}

// Fault is an error as data: what it says, and which of the errors it is that somebody asks for.
type Fault struct {
	Text        string
	Known       []string               `json:",omitempty"` // keys of known
	Unconnected bool                   `json:",omitempty"` // ErrConnect
	Refused     *driver.ErrUnsupported `json:",omitempty"`
}

var known = map[string]error{
	"apart": worker.ErrApart, "late": worker.ErrLate, "ran dry": worker.ErrRanDry,
	"canceled": context.Canceled, "deadline": context.DeadlineExceeded,
}

// FaultOf is err as data; nil is no error.
func FaultOf(err error) *Fault {
	if err == nil {
		return nil
	}
	f := &Fault{Text: err.Error(), Unconnected: errors.As(err, new(ErrConnect))}
	for name, one := range known {
		if errors.Is(err, one) {
			f.Known = append(f.Known, name)
		}
	}
	errors.As(err, &f.Refused)
	return f
}

// Error is the fault as an error again; nil is none.
func (f *Fault) Error() error {
	if f == nil {
		return nil
	}
	t := told{text: f.Text}
	for _, name := range f.Known {
		if err, ok := known[name]; ok {
			t.are = append(t.are, err)
		}
	}
	if f.Refused != nil {
		t.are = append(t.are, f.Refused)
	}
	if f.Unconnected {
		return ErrConnect{t}
	}
	return t
}

// told is an error of another process.
type told struct {
	text string
	are  []error
}

func (t told) Error() string   { return t.text }
func (t told) Unwrap() []error { return t.are }
