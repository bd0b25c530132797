package schedule

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"time"

	"lukechampine.com/uint128"
)

// piecewise is a rate that is constant or changes evenly in segments. A rate of r quanta per ns adds r quanta in each ns. Arrival i
// is when the sum of all quanta since the start reaches i·quantaPerMessage, rounded down to the nanosecond; where the rate changes,
// it is within 1 ns of that. The sum runs on from segment to segment, so no edge between two of them gains or loses a fraction of a
// message.
type piecewise struct {
	plain    PlainPiecewise  // what it was made from
	segments []segment       // by start
	period   int64           // ns after which the segments begin again; 0 if the last one lasts for ever
	total    uint128.Uint128 // quanta in one period; 0 if there is none
}

type segment struct {
	start, length int64           // ns; the length of a segment that lasts for ever is 0
	rate, to      uint64          // quanta per ns, where it begins and where it ends
	before        uint128.Uint128 // quanta before start
	quanta        uint128.Uint128 // of a slope, on which the two rates differ
}

// lastLength stands for the length of a step that lasts for ever. Its value does not matter, but 0 is refused.
const lastLength time.Duration = 1

// newPiecewise returns the schedule of p, whose rates must be valid. It refuses lengths that are not. noun is what errors call a
// segment, such as "step".
func newPiecewise(noun string, p PlainPiecewise) (Schedule, error) {
	s := &piecewise{plain: p}
	var end time.Duration
	var total uint128.Uint128
	for i, seg := range p.Segments {
		what := fmt.Sprintf("%s %d", noun, i+1)
		if err := checkSpan(what, seg.For); err != nil {
			return nil, err
		}
		quanta := uint128.From64(uint64(seg.For)).Mul64(seg.Rate + seg.To).Rsh(1) // its length times the mean of both rates
		s.segments = append(s.segments, segment{
			start: int64(end), length: int64(seg.For), rate: seg.Rate, to: seg.To, before: total, quanta: quanta,
		})
		end += seg.For // both are at most ten years, so this can't overflow
		if err := checkSpan(what+", all before it included", end); err != nil {
			return nil, err
		}
		total = total.Add(quanta)
	}
	if total.IsZero() {
		return nil, fmt.Errorf("%ss: every rate is 0; allowed is one or more above 0", noun)
	}
	if p.Periodic {
		s.period, s.total = int64(end), total
		return s, nil
	}
	last := p.Segments[len(p.Segments)-1].To
	s.segments = append(s.segments, segment{start: int64(end), rate: last, to: last, before: total})
	return s, nil
}

// At returns the offset of arrival i ≥ 0 (see Schedule).
func (s *piecewise) At(i int64) int64 {
	target := uint128.From64(uint64(i)).Mul64(quantaPerMessage) // quanta since the start of the period
	var periodStart int64
	if s.period > 0 {
		periods, rest := target.QuoRem(s.total)
		if periods.Cmp64(uint64(Never/s.period)) >= 0 {
			return Never
		}
		target, periodStart = rest, int64(periods.Lo)*s.period
	}
	// The last segment that begins at or below the target. This skips segments of rate 0, which begin with the same quanta as
	// the segment after them.
	next := sort.Search(len(s.segments), func(j int) bool { return s.segments[j].before.Cmp(target) > 0 })
	seg := &s.segments[next-1]
	if seg.rate == 0 && seg.to == 0 { // the last segment, and the target lies beyond it
		return Never
	}
	at := seg.timeOf(target.Sub(seg.before)).Add64(uint64(periodStart + seg.start))
	if at.Cmp64(uint64(Never)) >= 0 {
		return Never
	}
	return int64(at.Lo)
}

// timeOf returns how many ns of the segment it takes to add these quanta, fewer than the segment has.
func (s *segment) timeOf(quanta uint128.Uint128) uint128.Uint128 {
	// Time on a slope is measured from the end with the lower rate, because rounding moves arrivals the farthest there.
	switch {
	case s.rate == s.to:
		return quanta.Div64(s.rate)
	case s.rate < s.to:
		return uint128.From64(uint64(min(int64(s.slopeTime(s.rate, messages(quanta))), s.length-1)))
	}
	left := int64(math.Ceil(s.slopeTime(s.to, messages(s.quanta.Sub(quanta)))))
	return uint128.From64(uint64(max(0, s.length-left)))
}

// messages returns the number of messages that so many quanta make.
func messages(quanta uint128.Uint128) float64 {
	return (float64(quanta.Hi)*(1<<64) + float64(quanta.Lo)) / quantaPerMessage
}

// slopeTime returns how many ns it takes to send n messages while the rate rises evenly, beginning with the lower of the slope's two
// rates. A slope that falls is the same read backwards. It solves low·t + a/2·t² = n, where a is the rise of the rate per second. The
// form t = 2n / (low + √(low² + 2·a·n)) never subtracts two nearly equal numbers.
func (s *segment) slopeTime(lower uint64, n float64) float64 {
	if n == 0 {
		return 0
	}
	low := float64(lower) / quantaPerHertz
	a := math.Abs(float64(s.to)-float64(s.rate)) / quantaPerHertz / float64(s.length) * 1e9
	return 2e9 * n / (low + math.Sqrt(low*low+2*a*n))
}

// Count returns the number of arrivals strictly before offset d. That is at most d, since no rate is above one message per ns.
func (s *piecewise) Count(d int64) int64 {
	if d <= 0 {
		return 0
	}
	var wholePeriods uint128.Uint128 // quanta
	inPeriod := d
	if s.period > 0 {
		wholePeriods = s.total.Mul64(uint64(d / s.period))
		inPeriod = d % s.period
	}
	seg := s.segmentAt(inPeriod)
	before, inSegment := wholePeriods.Add(seg.before), inPeriod-seg.start
	if seg.rate == seg.to {
		return reached(before.Add(uint128.From64(uint64(inSegment)).Mul64(seg.rate)))
	}
	// Time times mean rate may be off by one or two, because it is rounded. At decides.
	meanRate := (float64(seg.rate)/quantaPerHertz + seg.rateAt(inSegment)) / 2
	least := reached(before)
	n := least + int64(float64(inSegment)/1e9*meanRate)
	for n > least && s.At(n-1) >= d {
		n--
	}
	for s.At(n) < d {
		n++
	}
	return n
}

// reached returns how many messages have been reached strictly before the sum is these quanta.
func reached(sum uint128.Uint128) int64 {
	return int64(sum.Add64(quantaPerMessage - 1).Div64(quantaPerMessage).Lo) // rounded up
}

func (s *piecewise) Rate(t int64) float64 {
	if t < 0 {
		return 0
	}
	if s.period > 0 {
		t %= s.period
	}
	seg := s.segmentAt(t)
	return seg.rateAt(t - seg.start)
}

// rateAt returns the rate at offset t of the segment, in messages per second.
func (s *segment) rateAt(t int64) float64 {
	rate, to := float64(s.rate)/quantaPerHertz, float64(s.to)/quantaPerHertz
	if s.rate == s.to {
		return rate
	}
	return rate + (to-rate)*float64(t)/float64(s.length)
}

// segmentAt returns the segment that holds offset t of a period.
func (s *piecewise) segmentAt(t int64) *segment {
	next := sort.Search(len(s.segments), func(j int) bool { return s.segments[j].start > t })
	return &s.segments[next-1]
}

// Step is a rate, in messages per second, that changes evenly to another one over a time, or stays if both are the same. Rate 0 is a
// pause.
type Step struct {
	Rate, To float64
	For      time.Duration
}

// Steps sends at one rate after the other. The rate at the end of the last step holds for ever; of a step whose rates are the same,
// its For is not read then. With repeat, the steps begin again after the last one.
//
// A step from 0 to 10 messages per second over 2 s has 10 arrivals: number 0 at 0 s, number 5 at 1.41 s, and number 10 at 2 s. Where the
// rate changes, times are within 1 ns.
func Steps(steps []Step, repeat bool) (Schedule, error) {
	if len(steps) == 0 {
		return nil, errors.New("steps: none given; allowed is one or more")
	}
	p := PlainPiecewise{Periodic: repeat}
	for i, step := range steps {
		what := fmt.Sprintf("step %d", i+1)
		rate, err := quantaOrZero(what, step.Rate)
		if err != nil {
			return nil, err
		}
		to, err := quantaOrZero(what, step.To)
		if err != nil {
			return nil, err
		}
		p.Segments = append(p.Segments, PlainSegment{rate, to, step.For})
	}
	if last := &p.Segments[len(steps)-1]; !repeat && last.Rate == last.To {
		last.For = lastLength
	}
	return newPiecewise("step", p)
}
