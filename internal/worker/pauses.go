package worker

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/hist"
)

// Pauses says when this process stood still during a trial, as seen by a thread that only sleeps. Times are ns on the clock's
// axis.
type Pauses struct {
	// Late is how late the thread woke in the measured phase. A pause counts once for each wake-up that fell into it, with the
	// rest of the pause, as jHiccup does. So Late is distributed as the wait of messages that come at random moments.
	Late  hist.Snapshot
	Stops []Stop // standstills of the whole trial, in order; the first maxStops of them
}

// Stop is one standstill.
type Stop struct{ From, To int64 }

// maxStops bounds the standstills that a trial keeps.
const maxStops = 10_000

// With adds the pauses of another process that works for the same trial. Standstills that overlap become one.
func (p Pauses) With(o Pauses) Pauses {
	p.Late = p.Late.Merge(o.Late)
	if len(o.Stops) == 0 {
		return p
	}
	all := slices.Concat(p.Stops, o.Stops)
	slices.SortFunc(all, func(a, b Stop) int { return cmp.Compare(a.From, b.From) })
	p.Stops = all[:1]
	for _, s := range all[1:] {
		if last := &p.Stops[len(p.Stops)-1]; s.From <= last.To {
			last.To = max(last.To, s.To)
		} else {
			p.Stops = append(p.Stops, s)
		}
	}
	return p
}

// Both returns the times in which both processes stood still.
func (p Pauses) Both(o Pauses) (both []Stop) {
	a, b := p.Stops, o.Stops
	for len(a) > 0 && len(b) > 0 {
		if s := (Stop{max(a[0].From, b[0].From), min(a[0].To, b[0].To)}); s.From < s.To {
			both = append(both, s)
		}
		if a[0].To < b[0].To {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// Within returns how much of [from, to) the process stood still.
func (p Pauses) Within(from, to int64) int64 {
	var sum int64
	for _, s := range p.Stops {
		sum += max(0, min(to, s.To)-max(from, s.From))
	}
	return sum
}

// Longest returns the longest standstill that reaches into [from, to); the zero Stop if there was none.
func (p Pauses) Longest(from, to int64) Stop {
	var longest Stop
	for _, s := range p.Stops {
		if s.From < to && s.To > from && s.To-s.From > longest.To-longest.From {
			longest = s
		}
	}
	return longest
}

// PauseLog remembers when the process stood still, for whoever asks after a trial of which the process was told nothing. Close it.
type PauseLog struct {
	watch *clock.Watch

	mu   sync.Mutex
	late []Stop // wake-ups that came late by lateEnough; the newest maxStops to 2·maxStops of them
}

// lateEnough is the least lateness that a PauseLog remembers: less raises no doubt.
const lateEnough = time.Millisecond

// NewPauseLog begins to watch.
func NewPauseLog() *PauseLog {
	l := &PauseLog{}
	l.watch = clock.NewWatch(l.woke)
	return l
}

func (l *PauseLog) woke(due, at int64) {
	if at-due < int64(lateEnough) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.late) == 2*maxStops {
		l.late = slices.Clone(l.late[maxStops:])
	}
	l.late = append(l.late, Stop{due, at})
}

// Within returns the late wake-ups that reach into [from, to), in order.
func (l *PauseLog) Within(from, to int64) []Stop {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.late), func(s Stop) bool { return s.To <= from || s.From >= to })
}

// Close ends the watching.
func (l *PauseLog) Close() { l.watch.Close() }

// PausesOf makes Pauses of what a PauseLog has for the measured phase [from, until). Wake-ups that it doesn't remember came at
// once.
func PausesOf(late []Stop, from, until int64) Pauses {
	p := &pauses{from: func() int64 { return from }, until: func() int64 { return until }}
	for _, s := range late {
		p.woke(s.From, s.To)
	}
	out := p.outcome()
	p.late.RecordN(0, (until-from)/int64(clock.WatchEvery)-out.Late.Count())
	return p.outcome()
}

// pauses gathers Pauses; woke belongs to the watching thread.
type pauses struct {
	from, until func() int64 // the measured phase
	late        hist.Histogram

	mu    sync.Mutex
	stops []Stop
}

// woke notes that the thread woke at a time, and when it was due to wake.
func (p *pauses) woke(due, at int64) {
	for d, from, until := due, p.from(), p.until(); d == due || d < at; d += int64(clock.WatchEvery) {
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
		p.stops = append(p.stops, Stop{due, at})
	}
}

func (p *pauses) outcome() Pauses {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Pauses{p.late.Snapshot(), p.stops}
}
