package worker

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/hist"
)

// Pauses are the times in which a process stood still during a trial: stopped by its garbage collector, its machine or the
// hypervisor. They are seen by a thread that only sleeps and notes how late it woke (clock.Watch, the method of Gil Tene's
// jHiccup).
type Pauses struct {
	// Late is how late the thread woke in the measured phase, in ns. Each wake-up that was due during a pause counts with the
	// rest of the pause, so Late has the distribution of the delays of messages that come at random moments. With a wake-up due
	// every 5 ms, a pause of 12 ms counts as wake-ups 12, 7 and 2 ms late.
	Late hist.Snapshot
	// Stops are the pauses of at least clock.Standstill in the whole trial, warm-up and drain included, in order. Of more than
	// maxStops short ones are left out.
	Stops []Interval
}

// maxStops is how many pauses a process keeps at most. When there are as many, the shorter half of those so far is dropped.
// StoodStill then leaves out the time of the dropped ones.
const maxStops = 10_000

// Interval is the time from From until To, ns on the clock's axis.
type Interval struct{ From, To int64 }

func (i Interval) length() int64 { return i.To - i.From }

// overlap returns the length of the part of the interval that lies in [from, to).
func (i Interval) overlap(from, to int64) int64 { return max(0, min(to, i.To)-max(from, i.From)) }

// Union returns the times in which at least one of two processes stood still. Pauses that overlap become one.
func (p Pauses) Union(other Pauses) Pauses {
	union := Pauses{Late: p.Late.Merge(other.Late)}
	stops := slices.Concat(p.Stops, other.Stops)
	slices.SortFunc(stops, byStart)
	for _, s := range stops {
		if last := len(union.Stops) - 1; last >= 0 && s.From <= union.Stops[last].To {
			union.Stops[last].To = max(union.Stops[last].To, s.To)
		} else {
			union.Stops = append(union.Stops, s)
		}
	}
	return union
}

// Intersect returns the times in which both of two processes stood still. The pauses of each must not overlap.
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

// StoodStill returns for how much of [from, to) the process stood still, in ns.
func (p Pauses) StoodStill(from, to int64) int64 {
	var sum int64
	for _, s := range p.Stops {
		sum += s.overlap(from, to)
	}
	return sum
}

// Longest returns the longest pause that reaches into [from, to), in its whole length. Without one it returns the zero Interval.
func (p Pauses) Longest(from, to int64) Interval {
	var longest Interval
	for _, s := range p.Stops {
		if s.overlap(from, to) > 0 && s.length() > longest.length() {
			longest = s
		}
	}
	return longest
}

// pauseRecorder collects the Pauses of a trial under way.
type pauseRecorder struct {
	phase func() phaseTimes // as far as it is known, which may change during the trial
	late  hist.Histogram

	mu    sync.Mutex
	stops []Interval
}

// wakeUp records a wake-up of the watching thread: when it was due, and when it came.
func (r *pauseRecorder) wakeUp(due, came int64) {
	phase, every := r.phase(), int64(clock.WatchEvery)
	r.lateIn(phase, due, came)
	for next := due + every; next < came; next += every { // the wake-ups that were due in a pause, and did not happen
		r.lateIn(phase, next, came)
	}
	if came-due < int64(clock.Standstill) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.stops) == maxStops {
		r.stops = longerHalf(r.stops)
	}
	r.stops = append(r.stops, Interval{From: due, To: came})
}

// lateIn records how late a wake-up came, if it was due in the phase.
func (r *pauseRecorder) lateIn(phase phaseTimes, due, came int64) {
	if due >= phase.From && due < phase.Until {
		r.late.Record(came - due)
	}
}

// longerHalf returns the longer half of stops, in the order of time. It leaves stops as they are.
func longerHalf(stops []Interval) []Interval {
	longest := slices.SortedStableFunc(slices.Values(stops), func(a, b Interval) int { return cmp.Compare(b.length(), a.length()) })[:len(stops)/2]
	slices.SortFunc(longest, byStart)
	return longest
}

// byStart orders intervals by when they begin.
func byStart(a, b Interval) int { return cmp.Compare(a.From, b.From) }

// pauses returns the pauses so far.
func (r *pauseRecorder) pauses() Pauses {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Pauses{Late: r.late.Snapshot(), Stops: r.stops}
}

// PauseLog records the pauses of a process that doesn't know when trials begin, such as a relay. After a trial, LateWakeUps
// returns the part of the log that belongs to it. PausesOf makes Pauses from that part, in another process if need be.
type PauseLog struct {
	watch *clock.Watch

	mu   sync.Mutex
	late []Interval // of late wake-ups, each from when it was due until it came; the newest maxStops at least, at most twice as many
}

// minLogged is the least lateness of a wake-up that a PauseLog keeps. Smaller ones raise no doubt about a result.
const minLogged = time.Millisecond

// NewPauseLog begins to record. The caller closes the log.
func NewPauseLog() *PauseLog {
	l := &PauseLog{}
	l.watch = clock.NewWatch(l.wakeUp)
	return l
}

func (l *PauseLog) wakeUp(due, came int64) {
	if came-due < int64(minLogged) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.late) == 2*maxStops {
		l.late = slices.Clone(l.late[maxStops:])
	}
	l.late = append(l.late, Interval{From: due, To: came})
}

// LateWakeUps returns the late wake-ups that reach into [from, to), in order: each from when it was due until it came.
func (l *PauseLog) LateWakeUps(from, to int64) []Interval {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.late), func(i Interval) bool { return i.To <= from || i.From >= to })
}

// Close ends the recording.
func (l *PauseLog) Close() { l.watch.Close() }

// PausesOf returns the Pauses of a measured phase [from, until), given its late wake-ups (PauseLog.LateWakeUps). The log doesn't
// keep the other wake-ups, so they count as in time: a quantile of Late below minLogged is 0.
func PausesOf(late []Interval, from, until int64) Pauses {
	r := &pauseRecorder{phase: func() phaseTimes { return phaseTimes{From: from, Until: until} }}
	for _, i := range late {
		r.wakeUp(i.From, i.To)
	}
	wakeUps := (until - from) / int64(clock.WatchEvery)
	r.late.RecordN(0, wakeUps-r.pauses().Late.Count())
	return r.pauses()
}
