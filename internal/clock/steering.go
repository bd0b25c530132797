package clock

import (
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Steering watches how the kernel steers this host's clock, as chrony and PTP have it do: while a clock is slewed its offset
// to a peer's is no straight line.
type Steering struct {
	stop  chan struct{}
	ended sync.WaitGroup
	took  []reading
}

// reading is our axis and by how much the steering has set it apart from its oscillator until then, ns.
type reading struct{ at, apart int64 }

const (
	steeringEvery = 100 * time.Millisecond
	maxReadings   = 4096 // from then on every second one is kept
)

// WatchSteering begins to watch, a few microseconds ten times a second. Close the Steering.
func WatchSteering() *Steering {
	s := &Steering{stop: make(chan struct{}), took: []reading{steered()}}
	s.ended.Go(s.watch)
	return s
}

func (s *Steering) watch() {
	every := steeringEvery
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		if s.took = append(s.took, steered()); len(s.took) == maxReadings {
			for i := range maxReadings / 2 {
				s.took[i] = s.took[2*i]
			}
			s.took = s.took[:maxReadings/2]
			every *= 2
			tick.Reset(every)
		}
	}
}

// Close ends watching and tells by how much, ns, the clock has strayed meanwhile from the straight line between its first
// and its last reading: what a line through two offsets (Fit) misses for this host.
func (s *Steering) Close() int64 {
	close(s.stop)
	s.ended.Wait()
	return bent(append(s.took, steered()))
}

// steered reads both clocks, three times; the tightest reading counts.
func steered() reading {
	var best reading
	width := int64(math.MaxInt64)
	for range 3 {
		before := Now()
		var ts unix.Timespec
		if unix.ClockGettime(unsteered, &ts) != nil {
			return reading{at: before} // there is none: nothing is known of any steering
		}
		if after := Now(); after-before < width {
			width = after - before
			at := before + width/2
			best = reading{at, at - ts.Nano()}
		}
	}
	return best
}

// bent is the largest distance of readings from the straight line between the first and the last of them.
func bent(took []reading) int64 {
	first, last := took[0], took[len(took)-1]
	if last.at <= first.at {
		return 0
	}
	slope := float64(last.apart-first.apart) / float64(last.at-first.at)
	most := 0.0
	for _, r := range took {
		most = max(most, math.Abs(float64(r.apart-first.apart)-slope*float64(r.at-first.at)))
	}
	return int64(math.Ceil(most))
}
