package worker

import (
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

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
