package clock

import (
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Steering records how the kernel speeds this host's clock up or slows it down, as chrony and PTP have it do. Fit assumes that
// the offset between two hosts' clocks changes along a straight line; a clock that is steered meanwhile leaves that line. For
// example, of readings of 0, 70 and 100 ns at 0, 1 and 2 s the middle one is 20 ns off the line.
type Steering struct {
	stop  chan struct{}
	ended sync.WaitGroup

	// These belong to the recording goroutine until it has ended.
	readings []steeringReading
	dropped  float64 // how far, in ns, readings that were dropped can lie off the lines between those that are left
}

// steeringReading compares the axis with the same oscillator without steering.
type steeringReading struct {
	at       int64 // ns on the axis
	steering int64 // axis − unsteered clock, ns; only its changes mean anything
}

const (
	steeringEvery = 100 * time.Millisecond // between two readings, each of which takes some microseconds
	maxReadings   = 4096                   // that are kept: all of 7 minutes, every second one of 14, and so on
)

// WatchSteering begins to record. The caller closes the Steering.
func WatchSteering() *Steering {
	s := &Steering{stop: make(chan struct{}), readings: []steeringReading{readSteering()}}
	s.ended.Go(s.watch)
	return s
}

func (s *Steering) watch() {
	every := steeringEvery // doubles whenever the memory for readings is full
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		s.readings = append(s.readings, readSteering())
		if len(s.readings) == maxReadings {
			s.dropEverySecond()
			every *= 2
			tick.Reset(every)
		}
	}
}

// dropEverySecond drops every second reading, but not the first and the last.
func (s *Steering) dropEverySecond() {
	all := s.readings
	var kept []steeringReading
	furthest := 0.0
	for i, r := range all {
		if i%2 == 0 || i == len(all)-1 {
			kept = append(kept, r)
		} else {
			furthest = max(furthest, math.Abs(r.offLine(all[i-1], all[i+1])))
		}
	}
	s.readings, s.dropped = kept, s.dropped+furthest
}

// Close ends the recording. It returns how far, in ns, steering can have taken the clock off the straight line between any two
// readings of the recording. The Bound of a Line from Fit has to grow by that.
func (s *Steering) Close() int64 {
	close(s.stop)
	s.ended.Wait()
	s.readings = append(s.readings, readSteering())
	return s.bend()
}

// readSteering reads the unsteered clock between two readings of the axis, and keeps the narrowest of three tries. If the system
// has no unsteered clock, no reading shows any steering.
func readSteering() steeringReading {
	const tries = 3
	var best steeringReading
	narrowest := int64(math.MaxInt64)
	for range tries {
		before := Now()
		var ts unix.Timespec
		if err := unix.ClockGettime(unsteered, &ts); err != nil {
			return steeringReading{at: before}
		}
		width := Now() - before
		if width < narrowest {
			narrowest = width
			at := before + width/2
			best = steeringReading{at: at, steering: at - ts.Nano()}
		}
	}
	return best
}

// bend bounds the distance, in ns, of any reading from the straight line between any two readings around it. Ahead of the line
// from the first reading to the last by up to a, and behind it by up to b, a reading is at most a + b off any such line. One
// that was dropped may be further ahead or behind than those that are left, by dropped.
func (s *Steering) bend() int64 {
	first, last := s.readings[0], s.readings[len(s.readings)-1]
	var ahead, behind float64
	for _, r := range s.readings {
		off := r.offLine(first, last)
		ahead, behind = max(ahead, off), max(behind, -off)
	}
	return int64(math.Ceil(ahead + behind + 2*s.dropped))
}

// offLine returns how far r is ahead of the straight line through two readings, in ns; 0 if these are at one time.
func (r steeringReading) offLine(first, last steeringReading) float64 {
	if last.at <= first.at {
		return 0
	}
	slope := float64(last.steering-first.steering) / float64(last.at-first.at)
	return float64(r.steering-first.steering) - slope*float64(r.at-first.at)
}
