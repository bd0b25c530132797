package clock

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

func TestOffsetRefusesWhatCannotBe(t *testing.T) {
	for want, pings := range map[string][]Ping{
		"no exchange":           nil,
		"exchange 0 goes back":  {{Sent: 10, Arrived: 5, Answered: 5, Received: 9}},
		"exchange 1 goes back":  {{}, {Sent: 1, Arrived: 5, Answered: 4, Received: 2}},
		"exchange 0 has a time": {{Sent: -1, Arrived: 5, Answered: 5, Received: 9}},
		"exchange 1 has a time": {{}, {Sent: 1, Arrived: 5, Answered: math.MaxInt64, Received: 9}},
		"jumped by at least 79": {{Sent: 0, Arrived: 1e9, Answered: 1e9, Received: 1e4}, {Sent: 1e4, Arrived: 1e9 + 1e5, Answered: 1e9 + 1e5, Received: 2e4}},
	} {
		if o, err := EstimateOffset(pings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %+v, %v; want an error with %q", pings, o, err, want)
		}
	}
}

// asked makes n exchanges with a peer whose clock shows truth(t) at our time t, over ways of unequal length.
func asked(r *rand.Rand, n int, from int64, truth func(int64) int64) (pings []Ping) {
	out, back := r.Float64()*50_000, r.Float64()*50_000
	delay := func(floor float64) int64 { return int64(floor + r.ExpFloat64()*200_000) }
	for range n {
		p := Ping{Sent: from}
		arrived := p.Sent + delay(out)
		answered := arrived + r.Int64N(50_000)
		p.Arrived, p.Answered, p.Received = truth(arrived), truth(answered), answered+delay(back)
		pings = append(pings, p)
		from = p.Received + r.Int64N(1_000_000)
	}
	return pings
}

// allowed is the bound that the quickest exchange alone allows.
func allowed(pings []Ping) int64 {
	quickest := slices.MinFunc(pings, func(a, b Ping) int { return cmp.Compare(a.Delay(), b.Delay()) })
	return quickest.Delay()/2 + drifted(quickest.Received-quickest.Sent) + 2
}

func TestOffsetIsWithinItsBound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 1000 {
		start := r.Int64N(1e15)
		ahead := r.Int64N(1e18)
		drift := []float64{0, 50e-6, -500e-6, 1e-3}[round%4]
		truth := func(ns int64) int64 { return ns + ahead + int64(drift*float64(ns-start)) }
		pings := asked(r, 1+r.IntN(100), start, truth)
		got, err := EstimateOffset(pings)
		if err != nil {
			t.Fatal(err)
		}
		if miss := got.Ns - (truth(got.At) - got.At); miss > got.Bound+1 || -miss > got.Bound+1 {
			t.Fatalf("offset %d ± %d, off by %d", got.Ns, got.Bound, miss)
		}
		if most := allowed(pings); got.Bound > most {
			t.Fatalf("bound %d, though the quickest exchange gives %d", got.Bound, most)
		}
	}
}

func TestTwoExchangesQuickInOneWayEachPinTheOffset(t *testing.T) {
	got, err := EstimateOffset([]Ping{
		{Sent: 0, Arrived: 1010, Answered: 1010, Received: 500},
		{Sent: 0, Arrived: 1490, Answered: 1490, Received: 500},
	})
	if want := (Offset{At: 250, Ns: 1000, Bound: 11}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// drawClock draws a host's clock: its offset and a drift that clocks can have.
func drawClock(t *rapid.T, name string) func(int64) int64 {
	ahead := rapid.Int64Range(0, 1e17).Draw(t, name+" is ahead, ns")
	drift := float64(rapid.IntRange(-600, 600).Draw(t, name+" gains, ppm")) / 1e6
	return func(ns int64) int64 { return ns + ahead + int64(math.Round(drift*float64(ns))) }
}

func TestALineHoldsBetweenItsMeasurements(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		peers := []func(int64) int64{drawClock(t, "a"), drawClock(t, "b")}
		const start, trial = int64(1e12), int64(60e9)
		var lines [2]Line
		for i, peer := range peers {
			var measured [3]Offset
			for k, at := range []int64{start - 5e9, start, start + trial} {
				pings := asked(r, 20, at, peer)
				var err error
				if measured[k], err = EstimateOffset(pings); err != nil {
					t.Fatal(err)
				}
			}
			l, err := Fit(measured[1], measured[2])
			if err != nil {
				t.Fatal(err)
			}
			lines[i] = l
			predicted, err := Predict(measured[0], measured[1], start+trial)
			if err != nil {
				t.Fatal(err)
			}
			steady := Steady(measured[1], start+trial)
			for range 20 {
				ns := l.From + r.Int64N(l.Until-l.From+1)
				truth := peer(ns) - ns
				for name, c := range map[string]struct{ ns, bound int64 }{
					"line": {l.OffsetAt(ns), l.Bound}, "predicted": {predicted.OffsetAt(ns), l.ErrorOf(predicted)}, "steady": {steady.OffsetAt(ns), l.ErrorOf(steady)},
					"steady by itself": {steady.OffsetAt(ns), steady.Bound},
				} {
					if miss := c.ns - truth; miss > c.bound || -miss > c.bound {
						t.Fatalf("%s: off by %d, the bound is %d", name, miss, c.bound)
					}
				}
				if there := l.PeerTime(ns); l.OurTime(there) < ns-1 || l.OurTime(there) > ns+1 {
					t.Fatalf("%d there is %d here, not %d", there, l.OurTime(there), ns)
				}
			}
		}
		// a's axis as b sees it, though the two never asked each other.
		between, err := Relative(lines[1], lines[0])
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			ours := max(lines[0].From, lines[1].From) + r.Int64N(int64(59e9))
			a, b := peers[0](ours), peers[1](ours)
			if miss := between.PeerTime(b) - a; miss > between.Bound || -miss > between.Bound {
				t.Fatalf("a's clock is taken for %d off, the bound is %d", miss, between.Bound)
			}
		}
	})
}

func TestBetweenUsAndAPeerIsThePeersOwnLine(t *testing.T) {
	l := Line{From: 100, Until: 1_000_100, Ns: 5000, Drift: 1e-4, Bound: 7}
	if got, err := Relative(Line{}, l); err != nil || got != l {
		t.Errorf("%+v, %v; want %+v", got, err, l)
	}
	us, err := Relative(l, Line{})
	if err != nil {
		t.Fatal(err)
	}
	for _, ns := range []int64{100, 500_000, 1_000_100} {
		if back := us.PeerTime(l.PeerTime(ns)); back < ns-2 || back > ns+2 {
			t.Errorf("%d went there and came back as %d", ns, back)
		}
	}
	if _, err := Relative(l, Line{From: 2_000_000, Until: 3_000_000}); err == nil {
		t.Error("two measurements of different times were related")
	}
}

func TestALineIsRefusedWhereClocksDidMoreThanDrift(t *testing.T) {
	before := Offset{At: 1e9, Ns: 500, Bound: 100}
	for name, c := range map[string]struct {
		after  Offset
		jumped bool
	}{
		"earlier":        {Offset{At: 1e9 - 1, Ns: 500}, false},
		"the same time":  {Offset{At: 1e9, Ns: 500}, false},
		"jumped ahead":   {Offset{At: 2e9, Ns: 500 + 2_000_201 + 100, Bound: 100}, true},
		"jumped back":    {Offset{At: 2e9, Ns: 500 - 3e6, Bound: 100}, true},
		"suspended hour": {Offset{At: 61e9, Ns: 500 + 3600e9, Bound: 100}, true},
	} {
		if _, err := Fit(before, c.after); err == nil || errors.Is(err, ErrJumped) != c.jumped {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Predict(before, c.after, 9e9); err == nil {
			t.Errorf("%s: predicted", name)
		}
	}
	if _, err := Fit(before, Offset{At: 2e9, Ns: 500 + 2_000_000, Bound: 100}); err != nil {
		t.Errorf("a drift that clocks can have: %v", err)
	}
}

func TestALatencyBelowZeroIsPossibleWithinTheBound(t *testing.T) {
	if !Possible(-10, 10) || Possible(-11, 10) || Possible(-1, 0) || !Possible(0, 0) {
		t.Error("no message can be seen to arrive more than the bound before it was sent")
	}
}

func TestTwoPeersOnOurOwnAxisHaveOneAxis(t *testing.T) {
	if l, err := Relative(Line{}, Line{}); err != nil || l != (Line{}) {
		t.Errorf("%+v, %v; want the zero Line", l, err)
	}
}

func TestARelativeBoundGrowsWithTheRatesOfBothClocks(t *testing.T) {
	const until = int64(1e9)
	for _, drift := range [][2]float64{{1e-3, -1e-3}, {-1e-3, 1e-3}} {
		base := Line{Until: until, Drift: drift[1], Bound: 1_000_000}
		peer := Line{Until: until, Drift: drift[0]}
		got, err := Relative(base, peer)
		if err != nil {
			t.Fatal(err)
		}
		// The base's clock shows base.Bound less than its line says, so our time is later than we take it to be.
		for _, miss := range []int64{base.Bound, -base.Bound} {
			ours := until / 2
			shown, truth := base.PeerTime(ours)+miss, peer.PeerTime(ours)
			if off := got.PeerTime(shown) - truth; off > got.Bound || -off > got.Bound {
				t.Errorf("drifts %g: off by %d, the bound is %d", drift, off, got.Bound)
			}
		}
	}
}
