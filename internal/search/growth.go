package search

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Point is the backlog at a time: the messages that are due by the schedule but not received (summed over subscriptions), or not
// confirmed, whichever number is larger.
type Point struct{ Seconds, Backlog float64 }

// floorParts is the number of equal parts into which a trial is cut to find the floor of its backlog.
const floorParts = 10

// floorOf returns the point with the smallest backlog of each tenth of the trial. A broker that keeps up works its
// backlog off again and again. So its floor stays, however far single stalls and batches push the backlog up. If the
// broker does not keep up, the floor rises with everything else. For example, of three tenths with backlogs of 5 and
// 90, 4 and 80, and 6 and 95 messages, the floor is 5, 4 and 6. points are in the order of time.
func floorOf(points []Point) []Point {
	n := min(floorParts, len(points))
	lowest := make([]Point, n)
	for i := range lowest {
		part := points[i*len(points)/n : (i+1)*len(points)/n]
		lowest[i] = slices.MinFunc(part, func(a, b Point) int { return cmp.Compare(a.Backlog, b.Backlog) })
	}
	return lowest
}

// Growth is how fast the floor of a backlog grows: the slope of a line fitted by ordinary least squares, and its standard error.
// Both are in messages per second. The zero Growth means that it is not known.
type Growth struct {
	Slope, StandardError float64
	Freedom              int // degrees of freedom of the standard error; 0: too few points to tell
}

// GrowthOf fits a line through the floor of a backlog. It needs at least three points at different times.
// With times t, backlogs b and their means t̄ and b̄:
//
//	slope = Σ(t−t̄)(b−b̄) / Σ(t−t̄)²
//	standard error = √( Σ(b−b̄−slope·(t−t̄))² / (n−2) / Σ(t−t̄)² )
//
// For example, backlogs of 0, 10 and 30 messages at 0, 1 and 2 s grow by 15/s, with a standard error of
// 2.9/s. With only one degree of freedom, that is between −3 and 33/s with 95 % confidence at either end.
func GrowthOf(points []Point) Growth {
	points = floorOf(points)
	n := float64(len(points))
	if n < 3 {
		return Growth{}
	}
	var meanTime, meanBacklog float64
	for _, p := range points {
		meanTime += p.Seconds / n
		meanBacklog += p.Backlog / n
	}
	var squares, products float64 // Σ(t−t̄)² and Σ(t−t̄)(b−b̄)
	for _, p := range points {
		squares += (p.Seconds - meanTime) * (p.Seconds - meanTime)
		products += (p.Seconds - meanTime) * (p.Backlog - meanBacklog)
	}
	if squares == 0 {
		return Growth{}
	}
	slope := products / squares
	var residuals float64 // Σ(b−b̄−slope·(t−t̄))²
	for _, p := range points {
		residual := p.Backlog - meanBacklog - slope*(p.Seconds-meanTime)
		residuals += residual * residual
	}
	return Growth{Slope: slope, StandardError: math.Sqrt(residuals / (n - 2) / squares), Freedom: len(points) - 2}
}

// Known reports whether there were enough points for a slope.
func (g Growth) Known() bool { return g.Freedom > 0 }

// AtMost is the upper end of the slope's one-sided confidence interval; +Inf if the growth is not known.
func (g Growth) AtMost(confidence float64) float64 { return g.Slope + g.margin(confidence) }

// AtLeast is the lower end of the slope's one-sided confidence interval; −Inf if the growth is not known.
func (g Growth) AtLeast(confidence float64) float64 { return g.Slope - g.margin(confidence) }

// margin is the distance of both ends from the slope, by Student's t distribution.
func (g Growth) margin(confidence float64) float64 {
	if !g.Known() {
		return math.Inf(1)
	}
	return g.StandardError * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(g.Freedom)}.Quantile(confidence)
}

// Hopeless reports whether a trial that is still running can only fail: the backlog has grown steadily, and so far
// that the trial would fail even if it stopped growing now. A single stall, which the broker would work off, is not
// steady. limit is the growth that is allowed, in messages per second, and planned is how long the trial is to last.
//
// Two guards keep a slow start from ending a trial: half a second and a fifth of the trial must be over,
// and the growth must be above twice the limit with 99.9 % confidence. After five seconds and a quarter of
// the trial, growth above the limit with that confidence is enough, however little has gathered yet.
func Hopeless(points []Point, limit float64, planned time.Duration) bool {
	if len(points) < 2*floorParts {
		return false
	}
	elapsed := points[len(points)-1].Seconds - points[0].Seconds
	if elapsed < max(0.5, planned.Seconds()/5) {
		return false
	}
	growth := GrowthOf(points)
	growsSteadily := growth.AtLeast(0.999) > 2*limit
	grownTooFar := growth.Slope*elapsed > limit*planned.Seconds()
	seenLongEnough := elapsed >= max(5, planned.Seconds()/4) && growth.AtLeast(0.999) > limit
	return growsSteadily && grownTooFar || seenLongEnough
}
