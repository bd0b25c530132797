package search

import (
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Point is the backlog at a time: messages due by the schedule but not received by a subscription (summed over
// subscriptions) or not confirmed, whichever is more.
type Point struct{ Seconds, Backlog float64 }

// floors is into how many equal parts a trial is cut to find the floor of its backlog.
const floors = 10

// floor keeps the smallest backlog of each tenth of the trial. A broker that keeps up works its backlog off again
// and again, so the floor stays where it is however far single stalls and batches push the backlog up; one that
// doesn't lifts the floor with everything else.
func floor(points []Point) []Point {
	parts := min(floors, len(points))
	out := make([]Point, 0, parts)
	for i := range parts {
		part := points[i*len(points)/parts : (i+1)*len(points)/parts]
		low := part[0]
		for _, p := range part {
			if p.Backlog < low.Backlog {
				low = p
			}
		}
		out = append(out, low)
	}
	return out
}

// Growth is how fast the floor of a backlog grows per second: the slope of a line fitted by least squares, and its
// standard error with so many degrees of freedom.
type Growth struct {
	Slope, Error float64
	Freedom      int // 0: too few points to tell
}

// GrowthOf fits a line through the floor of a backlog.
func GrowthOf(points []Point) Growth {
	points = floor(points)
	n := float64(len(points))
	if n < 3 {
		return Growth{}
	}
	var mx, my float64
	for _, p := range points {
		mx += p.Seconds / n
		my += p.Backlog / n
	}
	var sxx, sxy float64
	for _, p := range points {
		sxx += (p.Seconds - mx) * (p.Seconds - mx)
		sxy += (p.Seconds - mx) * (p.Backlog - my)
	}
	if sxx == 0 {
		return Growth{}
	}
	slope := sxy / sxx
	var rss float64
	for _, p := range points {
		d := p.Backlog - my - slope*(p.Seconds-mx)
		rss += d * d
	}
	return Growth{slope, math.Sqrt(rss / (n - 2) / sxx), len(points) - 2}
}

// Known tells whether there were points enough for a slope.
func (g Growth) Known() bool { return g.Freedom > 0 }

// AtMost and AtLeast are the ends of the slope's one-sided intervals (Student's t): with so much confidence the backlog
// doesn't grow faster, or slower.
func (g Growth) AtMost(confidence float64) float64  { return g.Slope + g.margin(confidence) }
func (g Growth) AtLeast(confidence float64) float64 { return g.Slope - g.margin(confidence) }

func (g Growth) margin(confidence float64) float64 {
	if !g.Known() {
		return math.Inf(1)
	}
	return g.Error * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(g.Freedom)}.Quantile(confidence)
}

// Hopeless tells of a trial that is still running whether it can only fail: the backlog has grown steadily, and so far
// that it would fail even if it stopped growing now. A single stall, which the broker would work off, is not steady.
// limit is the growth that is allowed, planned how long the trial is to last.
func Hopeless(points []Point, limit float64, planned time.Duration) bool {
	if len(points) < 2*floors {
		return false
	}
	elapsed := points[len(points)-1].Seconds - points[0].Seconds
	if elapsed < max(0.5, planned.Seconds()/5) {
		return false
	}
	g := GrowthOf(points)
	return g.AtLeast(0.999) > 2*limit && g.Slope*elapsed > limit*planned.Seconds()
}
