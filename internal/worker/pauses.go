package worker

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/hist"
)

// Pauses are the times in which this process stood still during a trial, as seen by a thread that only sleeps. Times are ns on the
// clock's axis.
type Pauses struct {
	// Late is how late the thread woke in the measured phase, ns. Each wake-up that was due during a pause counts with the rest of
	// the pause, as in jHiccup. So Late has the distribution of the waits of messages that come at random moments.
	Late  hist.Snapshot
	Stops []Interval // standstills of the whole trial, in order; the first maxStops of them
}

// Interval is the time from From until To, ns on the clock's axis.
type Interval struct{ From, To int64 }

func (s Interval) length() int64 { return s.To - s.From }

// within returns how much of the standstill lies in [from, to).
func (s Interval) within(from, to int64) int64 { return max(0, min(to, s.To)-max(from, s.From)) }

// maxStops bounds the standstills that a trial keeps.
const maxStops = 10_000

// Union returns the times in which p's process or another one of the same trial stood still. Standstills that overlap become one.
func (p Pauses) Union(other Pauses) Pauses {
	both := Pauses{Late: p.Late.Merge(other.Late), Stops: p.Stops}
	if len(other.Stops) == 0 {
		return both
	}
	all := slices.Concat(p.Stops, other.Stops)
	slices.SortFunc(all, func(a, b Interval) int { return cmp.Compare(a.From, b.From) })
	both.Stops = all[:1]
	for _, s := range all[1:] {
		last := &both.Stops[len(both.Stops)-1]
		if s.From > last.To {
			both.Stops = append(both.Stops, s)
		} else {
			last.To = max(last.To, s.To)
		}
	}
	return both
}

// Intersect returns the times in which both processes stood still.
func (p Pauses) Intersect(other Pauses) []Interval {
	var both []Interval
	a, b := p.Stops, other.Stops
	for len(a) > 0 && len(b) > 0 {
		common := Interval{From: max(a[0].From, b[0].From), To: min(a[0].To, b[0].To)}
		if common.length() > 0 {
			both = append(both, common)
		}
		if a[0].To < b[0].To {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// StoodStill returns how much of [from, to) the process stood still.
func (p Pauses) StoodStill(from, to int64) int64 {
	var sum int64
	for _, s := range p.Stops {
		sum += s.within(from, to)
	}
	return sum
}

// Longest returns the longest standstill that reaches into [from, to); the zero Interval if there was none.
func (p Pauses) Longest(from, to int64) Interval {
	var longest Interval
	for _, s := range p.Stops {
		if s.within(from, to) > 0 && s.length() > longest.length() {
			longest = s
		}
	}
	return longest
}

// PauseLog watches for pauses of a process that isn't told when trials begin. After a trial, PausesOf makes its Pauses from the log.
type PauseLog struct {
	watch *clock.Watch

	mu   sync.Mutex
	late []Interval // wake-ups at least minLogged late: when they were due, and when they came; the newest maxStops to 2·maxStops
}

// minLogged is the least lateness that a PauseLog keeps. Less raises no doubt about a result.
const minLogged = time.Millisecond

// NewPauseLog begins to watch. Close ends that.
func NewPauseLog() *PauseLog {
	l := &PauseLog{}
	l.watch = clock.NewWatch(l.woke)
	return l
}

func (l *PauseLog) woke(due, at int64) {
	if at-due < int64(minLogged) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.late) == 2*maxStops {
		l.late = slices.Clone(l.late[maxStops:])
	}
	l.late = append(l.late, Interval{From: due, To: at})
}

// LateWakeUps returns the late wake-ups that reach into [from, to), in order.
func (l *PauseLog) LateWakeUps(from, to int64) []Interval {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.late), func(s Interval) bool { return s.To <= from || s.From >= to })
}

// Close ends the watch.
func (l *PauseLog) Close() { l.watch.Close() }

// PausesOf returns the Pauses of a measured phase [from, until), given the late wake-ups in it (PauseLog.LateWakeUps). The log doesn't keep
// wake-ups less than minLogged late, so they count as in time: quantiles of Late below minLogged are 0.
func PausesOf(late []Interval, from, until int64) Pauses {
	p := &pauses{from: func() int64 { return from }, until: func() int64 { return until }}
	for _, s := range late {
		p.woke(s.From, s.To)
	}
	wakeUps := (until - from) / int64(clock.WatchEvery)
	p.late.RecordN(0, wakeUps-p.outcome().Late.Count())
	return p.outcome()
}

// pauses collects the Pauses of a trial under way.
type pauses struct {
	from, until func() int64 // the measured phase as far as it is known, which may change during the trial
	late        hist.Histogram

	mu    sync.Mutex
	stops []Interval
}

// woke notes a wake-up of the watching thread: when it was due, and when it came.
func (p *pauses) woke(due, at int64) {
	from, until := p.from(), p.until()
	for d := due; d == due || d < at; d += int64(clock.WatchEvery) {
		if d >= from && d < until {
			p.late.Record(at - d)
		}
	}
	if at-due < int64(clock.Standstill) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.stops) < maxStops {
		p.stops = append(p.stops, Interval{From: due, To: at})
	}
}

func (p *pauses) outcome() Pauses {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Pauses{Late: p.late.Snapshot(), Stops: p.stops}
}
