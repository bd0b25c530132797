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
	stop     chan struct{}
	ended    sync.WaitGroup
	readings []steeringReading
}

// steeringReading compares the axis with the same oscillator without steering.
type steeringReading struct {
	at       int64 // ns on the axis
	steering int64 // axis − unsteered clock, ns; only its changes mean anything
}

const (
	steeringEvery = 100 * time.Millisecond // between two readings, each of which takes some microseconds
	maxReadings   = 4096                   // that are kept: about 7 minutes
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
			for i := range maxReadings / 2 { // drop every second one
				s.readings[i] = s.readings[2*i]
			}
			s.readings = s.readings[:maxReadings/2]
			every *= 2
			tick.Reset(every)
		}
	}
}

// Close ends the recording. It returns how far, in ns, steering can have taken the clock off the straight line between any two
// moments of the recording. The Bound of a Line from Fit has to grow by that.
func (s *Steering) Close() int64 {
	close(s.stop)
	s.ended.Wait()
	return bend(append(s.readings, readSteering()))
}

// readSteering reads the unsteered clock between two readings of the axis, and keeps the narrowest of three tries. It reads
// no steering if the system has no unsteered clock.
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
// from the first reading to the last by up to a, and behind it by up to b, a reading is at most a + b off any such line.
func bend(readings []steeringReading) int64 {
	first, last := readings[0], readings[len(readings)-1]
	if last.at <= first.at {
		return 0
	}
	slope := float64(last.steering-first.steering) / float64(last.at-first.at)
	var ahead, behind float64
	for _, r := range readings {
		offLine := float64(r.steering-first.steering) - slope*float64(r.at-first.at)
		ahead, behind = max(ahead, offLine), max(behind, -offLine)
	}
	return int64(math.Ceil(ahead + behind))
}
