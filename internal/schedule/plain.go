package schedule

import (
	"errors"
	"fmt"
	"time"
)

// Plain is a schedule as data, for sending it to another process. Exactly one field is set. Unless a field says otherwise,
// rates are in billionths of a message per second: whole numbers, so that both processes compute the same nanoseconds.
type Plain struct {
	Constant  uint64          `json:",omitempty"`
	Poisson   *PlainPoisson   `json:",omitempty"`
	Piecewise *PlainPiecewise `json:",omitempty"`
}

// PlainPoisson holds the parameters of Poisson.
type PlainPoisson struct {
	Rate float64 // messages per second
	Seed uint64
}

// PlainPiecewise is what Steps makes: segments whose rates are constant or change evenly.
type PlainPiecewise struct {
	Segments []PlainSegment
	Periodic bool // the segments repeat for ever; false: the last rate holds for ever
}

// PlainSegment is a rate that changes evenly to another one, or stays if both are the same, over a time.
type PlainSegment struct {
	Rate, To uint64
	For      time.Duration
}

// ToPlain returns s as data, which must not be changed; nil if s is nil. A part of a schedule, as Deal.Share makes one, is an
// error: send the whole schedule, and take the part where it is needed.
func ToPlain(s Schedule) (*Plain, error) {
	switch s := s.(type) {
	case nil:
		return nil, nil
	case constant:
		return &Plain{Constant: uint64(s)}, nil
	case poisson:
		if s.bits != blockBits {
			return nil, errors.New("a client's share of a Poisson process can't be sent to another process; the whole process can")
		}
		return &Plain{Poisson: &PlainPoisson{s.rate, s.seed}}, nil
	case *piecewise:
		return &Plain{Piecewise: &s.plain}, nil
	}
	return nil, fmt.Errorf("a schedule of type %T can't be sent to another process", s)
}

// Schedule returns the schedule that p describes; nil if p is nil. It refuses whatever no constructor of this package
// could have made.
func (p *Plain) Schedule() (Schedule, error) {
	if p == nil {
		return nil, nil
	}
	kinds := 0
	for _, given := range []bool{p.Constant != 0, p.Poisson != nil, p.Piecewise != nil} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		return nil, errors.New("a schedule without a rate")
	case kinds > 1:
		return nil, errors.New("a schedule of several kinds at once")
	case p.Poisson != nil:
		return Poisson(p.Poisson.Rate, p.Poisson.Seed)
	case p.Piecewise != nil:
		return p.Piecewise.schedule()
	}
	if err := checkQuanta("a constant rate", p.Constant); err != nil {
		return nil, err
	}
	return constant(p.Constant), nil
}

// checkQuanta refuses a rate that quantaOf doesn't make. what begins the message of the error.
func checkQuanta(what string, rate uint64) error {
	if rate < minQuanta || rate > maxQuanta {
		return fmt.Errorf("%s: %d billionths of a message per second; allowed are %d to %d",
			what, rate, uint64(minQuanta), uint64(maxQuanta))
	}
	return nil
}

func (p *PlainPiecewise) schedule() (Schedule, error) {
	for i, s := range p.Segments {
		for _, rate := range []uint64{s.Rate, s.To} {
			if rate == 0 {
				continue
			}
			if err := checkQuanta(fmt.Sprintf("segment %d", i+1), rate); err != nil {
				return nil, err
			}
		}
	}
	return newPiecewise("segment", *p)
}
