package search

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

// line is a backlog that grows by slope per second from base on, with noise, sampled 50 times a second.
func line(seconds, base, slope, noise float64, rng *rand.Rand) []Point {
	var points []Point
	for i := range int(seconds * 50) {
		t := float64(i) / 50
		p := Point{t, base + slope*t}
		if noise > 0 {
			p.Backlog += noise * rng.NormFloat64()
		}
		points = append(points, p)
	}
	return points
}

// quantiles of Student's t at 95 and 99.9 % from a printed table.
var table = map[int][2]float64{1: {6.314, 318.31}, 2: {2.920, 22.327}, 3: {2.353, 10.215}, 5: {2.015, 5.893}, 8: {1.860, 4.501}}

func TestTheSlopeIsThatOfALeastSquaresFitWithStudentsInterval(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{3, 4, 5, 7, 10}).Draw(t, "points") // no more than parts: each is a floor
		var x, y []float64
		var points []Point
		for i := range n {
			x = append(x, float64(i)+rapid.Float64Range(0, 0.9).Draw(t, "x"))
			y = append(y, rapid.Float64Range(-1e3, 1e6).Draw(t, "y"))
			points = append(points, Point{x[i], y[i]})
		}
		a, b := stat.LinearRegression(x, y, nil, false)
		mean := stat.Mean(x, nil)
		var rss, sxx float64
		for i := range x {
			rss += (y[i] - a - b*x[i]) * (y[i] - a - b*x[i])
			sxx += (x[i] - mean) * (x[i] - mean)
		}
		wrong := math.Sqrt(rss / float64(n-2) / sxx)
		g := GrowthOf(points)
		near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-6*(1+math.Abs(want)+wrong) }
		if !g.Known() || g.Freedom != n-2 || !near(g.Slope, b) || !near(g.StandardError, wrong) {
			t.Fatalf("%+v, want %g ± %g with %d degrees of freedom", g, b, wrong, n-2)
		}
		for i, confidence := range []float64{0.95, 0.999} {
			margin := table[n-2][i] * wrong
			if math.Abs(g.AtMost(confidence)-b-margin) > 1e-3*(margin+1) || math.Abs(b-g.AtLeast(confidence)-margin) > 1e-3*(margin+1) {
				t.Fatalf("%g to %g at %g, want %g ± %g", g.AtLeast(confidence), g.AtMost(confidence), confidence, b, margin)
			}
		}
	})
}

func TestTooFewPointsTellNothing(t *testing.T) {
	for _, points := range [][]Point{nil, {{0, 1}}, {{0, 1}, {1, 2}}, {{1, 1}, {1, 2}, {1, 3}}} {
		if g := GrowthOf(points); g.Known() || !math.IsInf(g.AtMost(0.95), 1) || !math.IsInf(g.AtLeast(0.95), -1) {
			t.Errorf("%v: %+v", points, g)
		}
	}
}

func TestStallsThatAreWorkedOffDontLiftTheFloor(t *testing.T) {
	flat := line(5, 100, 0, 0, nil)
	for i := range flat {
		if i%25 > 3 { // four of 25 samples are at the floor
			flat[i].Backlog += 1e6 * float64(i)
		}
	}
	if g := GrowthOf(flat); g.Slope != 0 || g.StandardError != 0 {
		t.Errorf("%+v", g)
	}
}

func TestTheFloorIsTheLowestPointOfEachTenth(t *testing.T) {
	for n := 1; n < 60; n++ {
		var points []Point
		for i := range n {
			points = append(points, Point{float64(i), float64((i * 7) % 11)})
		}
		got := floorOf(points)
		if want := min(n, 10); len(got) != want {
			t.Fatalf("%d of %d points", len(got), want)
		}
		for i, p := range got {
			from, to := i*n/len(got), (i+1)*n/len(got)
			low := math.Inf(1)
			for _, q := range points[from:to] {
				low = min(low, q.Backlog)
			}
			if p.Backlog != low || p.Seconds < float64(from) || p.Seconds >= float64(to) {
				t.Errorf("%d points, part %d (%d to %d): %+v, the lowest is %g", n, i, from, to, p, low)
			}
		}
	}
}

func TestATrialIsHopelessOnceItCouldNotPassAnyMore(t *testing.T) {
	const limit = 10.0 // per second
	planned := 5 * time.Second
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name   string
		points []Point
		want   bool
	}{
		{"five times the limit, long enough", line(1.1, 0, 50, 0.1, rng), true},
		{"five times the limit, not yet beyond what is allowed in all", line(0.98, 0, 50, 0, nil), false},
		{"a hundred times the limit, too early to tell", line(0.9, 0, 1000, 0.1, rng), false},
		{"a hundred times the limit, too early, whenever it began", stallAt(100, 0.9, 1000), false},
		{"a hundred times the limit, for just as long as it takes", line(1.02, 0, 1000, 0, nil), true},
		{"a hundred times the limit", line(1.04, 0, 1000, 0.1, rng), true},
		{"just below twice the limit", line(4, 0, 19.9, 0, nil), false},
		{"just above twice the limit", line(4, 0, 20.1, 0, nil), true},
		{"shrinking", line(4, 1e6, -1000, 0, nil), false},
		{"too few points", line(5, 0, 1000, 0, nil)[:19], false},
		{"too few points, far apart", thin(line(2, 0, 1000, 0, nil), 6), false},
		{"enough points, far apart", thin(line(2, 0, 1000, 0, nil), 5), true},
		{"a stall at the end", append(line(1, 0, 0, 1, rng), stallAt(1, 0.3, 1000)...), false},
		{"noise", line(2, 1000, 0, 300, rng), false},
	} {
		if got := Hopeless(c.points, limit, planned); got != c.want {
			t.Errorf("%s: %v, %+v", c.name, got, GrowthOf(c.points))
		}
	}
	if !Hopeless(line(0.54, 0, 1000, 0, nil), limit, time.Second) || Hopeless(line(0.5, 0, 1000, 0, nil), limit, time.Second) {
		t.Error("a short trial is looked at for half a second")
	}
}

// thin keeps every n-th point.
func thin(points []Point, n int) []Point {
	var out []Point
	for i := 0; i < len(points); i += n {
		out = append(out, points[i])
	}
	return out
}

// stallAt is a backlog that rises because nothing is served.
func stallAt(from, seconds, rate float64) []Point {
	points := line(seconds, 0, rate, 0, nil)
	for i := range points {
		points[i].Seconds += from
	}
	return points
}

// Whatever is halted would have failed: had the backlog stopped growing then, it would still have grown too much.
func TestATrialThatIsHaltedWouldHaveFailed(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		rate, planned := 1000.0, 5.0
		rule := DefaultRule(asked)
		slope := rapid.Float64Range(0, 300).Draw(t, "slope")
		points := line(planned, 0, slope, 0, nil)
		for n := range points {
			if !Hopeless(points[:n], rule.AllowedGrowth(rate, 1), 5*time.Second) {
				continue
			}
			for i := n; i < len(points); i++ {
				points[i].Backlog = points[n-1].Backlog
			}
			e := good()
			e.Backlog, e.Rate = points, rate
			if look := rule.Judge(e, Goal{}); look.Verdict != Fail {
				t.Fatalf("slope %g, halted after %d points: %+v", slope, n, look)
			}
			return
		}
		if slope > 4*rule.AllowedGrowth(rate, 1) {
			t.Fatalf("a slope of %g/s was never hopeless", slope)
		}
	})
}
