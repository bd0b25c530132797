package schedule

import (
	"sort"
	"time"

	"lukechampine.com/uint128"
)

// line is a rate that is constant in segments. A rate of r quanta per ns adds r quanta in each ns. Arrival i is when the sum
// of all quanta since the start reaches i·quantaPerMessage, rounded down to the nanosecond. The sum runs on from segment to
// segment, so no edge between two of them gains or loses a fraction of a message.
type line struct {
	segments []segment       // by start; the first starts at 0
	period   int64           // ns after which the line begins again; 0 if its last segment lasts for ever
	total    uint128.Uint128 // quanta in one period; 0 if there is none
}

type segment struct {
	start  int64           // ns
	rate   uint64          // quanta per ns
	before uint128.Uint128 // quanta before start
}

// add appends a segment. The line is periodic until hold is called.
func (l *line) add(rate uint64, length time.Duration) {
	l.segments = append(l.segments, segment{start: l.period, rate: rate, before: l.total})
	l.period += int64(length)
	l.total = l.total.Add(uint128.From64(uint64(length)).Mul64(rate))
}

// addChecked is add for a segment that somebody else has given. what begins the message of an error.
func (l *line) addChecked(what string, rate uint64, length time.Duration) error {
	if err := checkSpan(what, length); err != nil {
		return err
	}
	if err := checkSpan(what+", all before it included", time.Duration(l.period)+length); err != nil {
		return err
	}
	l.add(rate, length)
	return nil
}

// lastLength stands for the length of a segment that hold makes last for ever. Its value does not matter, but 0 is refused.
const lastLength time.Duration = 1

// hold makes the last segment last for ever.
func (l *line) hold() { l.period, l.total = 0, uint128.Zero }

func (l *line) At(i int64) int64 {
	target := uint128.From64(uint64(i)).Mul64(quantaPerMessage) // quanta since the start of the period
	periodStart := uint128.Zero                                 // ns
	if l.period > 0 {
		periods, rest := target.QuoRem(l.total)
		if periods.Cmp64(uint64(Never/l.period)) >= 0 {
			return Never
		}
		target, periodStart = rest, periods.Mul64(uint64(l.period))
	}
	// The last segment that begins at or below the target. This skips segments of rate 0, which begin with the same quanta as
	// the segment after them.
	next := sort.Search(len(l.segments), func(j int) bool { return l.segments[j].before.Cmp(target) > 0 })
	s := l.segments[next-1]
	if s.rate == 0 { // the last segment, and the target lies beyond it
		return Never
	}
	inSegment := target.Sub(s.before).Div64(s.rate) // ns
	at := inSegment.Add64(uint64(s.start)).Add(periodStart)
	if at.Cmp64(uint64(Never)) >= 0 {
		return Never
	}
	return int64(at.Lo)
}

func (l *line) Count(d int64) int64 {
	if d <= 0 {
		return 0
	}
	var wholePeriods uint128.Uint128 // quanta
	if l.period > 0 {
		wholePeriods = l.total.Mul64(uint64(d / l.period))
		d %= l.period
	}
	s := l.segmentAt(d)
	inSegment := uint128.From64(uint64(d - s.start)).Mul64(s.rate) // quanta
	sum := wholePeriods.Add(s.before).Add(inSegment)
	return int64(sum.Add64(quantaPerMessage - 1).Div64(quantaPerMessage).Lo) // rounded up
}

func (l *line) Rate(t int64) float64 {
	if t < 0 {
		return 0
	}
	if l.period > 0 {
		t %= l.period
	}
	return float64(l.segmentAt(t).rate) / quantaPerHertz
}

// segmentAt returns the segment that holds offset t of a period.
func (l *line) segmentAt(t int64) segment {
	next := sort.Search(len(l.segments), func(j int) bool { return l.segments[j].start > t })
	return l.segments[next-1]
}
