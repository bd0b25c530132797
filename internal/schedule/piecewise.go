package schedule

import (
	"fmt"
	"sort"
	"time"

	"lukechampine.com/uint128"
)

// piecewise is a rate that is constant in segments. A rate of r quanta per ns adds r quanta in each ns. Arrival i is when the
// sum of all quanta since the start reaches i·quantaPerMessage, rounded down to the nanosecond. The sum runs on from segment to
// segment, so no edge between two of them gains or loses a fraction of a message.
type piecewise struct {
	plain    PlainPiecewise  // what it was made from
	segments []segment       // by start
	period   int64           // ns after which the segments begin again; 0 if the last one lasts for ever
	total    uint128.Uint128 // quanta in one period; 0 if there is none
}

type segment struct {
	start  int64           // ns
	rate   uint64          // quanta per ns
	before uint128.Uint128 // quanta before start
}

// lastLength stands for the length of a segment that lasts for ever. Its value does not matter, but 0 is refused.
const lastLength time.Duration = 1

// newPiecewise returns the schedule of p, whose rates must be valid. It refuses lengths that are not. noun is what errors call a
// segment, such as "step".
func newPiecewise(noun string, p PlainPiecewise) (Schedule, error) {
	s := &piecewise{plain: p}
	var end time.Duration
	var total uint128.Uint128
	for i, seg := range p.Segments {
		s.segments = append(s.segments, segment{start: int64(end), rate: seg.Rate, before: total})
		what := fmt.Sprintf("%s %d", noun, i+1)
		if err := checkSpan(what, seg.For); err != nil {
			return nil, err
		}
		end += seg.For // both are at most ten years, so this can't overflow
		if err := checkSpan(what+", all before it included", end); err != nil {
			return nil, err
		}
		total = total.Add(uint128.From64(uint64(seg.For)).Mul64(seg.Rate))
	}
	if total.IsZero() {
		return nil, fmt.Errorf("%ss: every rate is 0; allowed is one or more above 0", noun)
	}
	if p.Periodic {
		s.period, s.total = int64(end), total
	}
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
	seg := s.segments[next-1]
	if seg.rate == 0 { // the last segment, and the target lies beyond it
		return Never
	}
	inSegment := target.Sub(seg.before).Div64(seg.rate) // ns
	at := inSegment.Add64(uint64(periodStart + seg.start))
	if at.Cmp64(uint64(Never)) >= 0 {
		return Never
	}
	return int64(at.Lo)
}

// Count returns the number of arrivals strictly before offset d. That is at most d, since no rate is above one message per ns.
func (s *piecewise) Count(d int64) int64 {
	if d <= 0 {
		return 0
	}
	var wholePeriods uint128.Uint128 // quanta
	if s.period > 0 {
		wholePeriods = s.total.Mul64(uint64(d / s.period))
		d %= s.period
	}
	seg := s.segmentAt(d)
	inSegment := uint128.From64(uint64(d - seg.start)).Mul64(seg.rate) // quanta
	sum := wholePeriods.Add(seg.before).Add(inSegment)
	return int64(sum.Add64(quantaPerMessage - 1).Div64(quantaPerMessage).Lo) // rounded up
}

func (s *piecewise) Rate(t int64) float64 {
	if t < 0 {
		return 0
	}
	if s.period > 0 {
		t %= s.period
	}
	return float64(s.segmentAt(t).rate) / quantaPerHertz
}

// segmentAt returns the segment that holds offset t of a period.
func (s *piecewise) segmentAt(t int64) segment {
	next := sort.Search(len(s.segments), func(j int) bool { return s.segments[j].start > t })
	return s.segments[next-1]
}
