package schedule

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Plain is a schedule as data that another process can be told. Exactly one of its fields is set. Rates are in billionths of a
// message per second, so that the other process sends at the same nanoseconds.
type Plain struct {
	Constant uint64        `json:",omitempty"`
	Poisson  *PlainPoisson `json:",omitempty"`
	Ramp     *PlainRamp    `json:",omitempty"`
	Line     *PlainLine    `json:",omitempty"`
}

// PlainPoisson is a Poisson process, whose rate is in messages per second.
type PlainPoisson struct {
	Rate float64
	Seed uint64
}

// PlainRamp is a ramp.
type PlainRamp struct {
	From, To uint64
	Over     time.Duration
}

// PlainLine is a rate that is constant in segments: steps, of which the last one holds, or one period of bursts.
type PlainLine struct {
	Segments []PlainSegment
	Periodic bool
}

// PlainSegment is a rate for a time.
type PlainSegment struct {
	Rate uint64
	For  time.Duration
}

// Described is s as data; nil for no schedule. Shares of schedules are made where they are sent, so they have no such form.
func Described(s Schedule) (*Plain, error) {
	switch s := s.(type) {
	case nil:
		return nil, nil
	case constant:
		return &Plain{Constant: uint64(s)}, nil
	case poisson:
		return &Plain{Poisson: &PlainPoisson{s.rate, s.seed}}, nil
	case *ramp:
		return &Plain{Ramp: &PlainRamp{uint64(math.Round(s.from * perRate)), uint64(math.Round(s.to * perRate)), time.Duration(s.over)}}, nil
	case *line:
		return &Plain{Line: s.plain()}, nil
	}
	return nil, fmt.Errorf("a schedule of type %T can't be told to another process", s)
}

func (l *line) plain() *PlainLine {
	p := &PlainLine{Periodic: l.period > 0}
	for i, s := range l.segments {
		end := s.start + 1 // of the one that holds
		if i+1 < len(l.segments) {
			end = l.segments[i+1].start
		} else if p.Periodic {
			end = l.period
		}
		p.Segments = append(p.Segments, PlainSegment{s.rate, time.Duration(end - s.start)})
	}
	return p
}

// Schedule makes the schedule; nil makes none. What no constructor could have made is an error.
func (p *Plain) Schedule() (Schedule, error) {
	switch {
	case p == nil:
		return nil, nil
	case p.Poisson != nil:
		return Poisson(p.Poisson.Rate, p.Poisson.Seed)
	case p.Ramp != nil:
		return Ramp(float64(p.Ramp.From)/perRate, float64(p.Ramp.To)/perRate, p.Ramp.Over)
	case p.Line != nil:
		return p.Line.schedule()
	case p.Constant == 0 || p.Constant > perMessage:
		return nil, errors.New("a schedule without a rate")
	}
	return constant(p.Constant), nil
}

func (p *PlainLine) schedule() (Schedule, error) {
	var l line
	sends := false
	for i, s := range p.Segments {
		if s.Rate > perMessage {
			return nil, fmt.Errorf("segment %d: its rate is out of range", i+1)
		}
		if err := span(fmt.Sprintf("segment %d", i+1), s.For); err != nil {
			return nil, err
		}
		if err := span(fmt.Sprintf("segment %d, all before it included", i+1), time.Duration(l.period)+s.For); err != nil {
			return nil, err
		}
		l.add(s.Rate, s.For)
		sends = sends || s.Rate > 0
	}
	if !sends {
		return nil, errors.New("a schedule without a rate")
	}
	if !p.Periodic {
		l.hold()
	}
	return &l, nil
}
