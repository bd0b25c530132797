package lab

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

func point(id, broker, size, delivery string) *store.Record {
	return &store.Record{
		PointID: id, Study: "s", Axes: map[string]string{"broker": broker, "size": size, "delivery": delivery},
		Spec: study.Spec{Broker: broker, MessageSize: study.Sizes{{Size: 100, Weight: 1}}}, Result: &store.Result{},
	}
}

func TestASearchBeginsAtItsNearestNeighboursRate(t *testing.T) {
	l := &lab{}
	if l.neighbourOf(point("a", "nats", "100", "x")) != nil {
		t.Error("nobody was there before")
	}
	l.remember(point("a", "nats", "100", "x"), search.Bounds{Low: 1000, High: 1050}, 0)
	l.remember(point("b", "nats", "1KiB", "y"), search.Bounds{Low: 500}, 0)
	l.remember(point("c", "kafka", "100", "y"), search.Bounds{Low: 70, High: 77}, 0)
	for _, c := range []struct {
		record *store.Record
		low    float64
		ok     bool
	}{
		{point("d", "nats", "100", "z"), 1000, true},   // one axis apart
		{point("e", "nats", "1KiB", "z"), 500, true},   // one axis apart from another
		{point("f", "nats", "9", "z"), 0, false},       // two
		{point("g", "rabbitmq", "100", "x"), 0, false}, // another broker says nothing
	} {
		n := l.neighbourOf(c.record)
		if (n != nil) != c.ok || n != nil && n.low != c.low {
			t.Errorf("%s: %+v", c.record.PointID, n)
		}
		c.record.Repetition++
		if n := l.neighbourOf(c.record); n != nil {
			t.Errorf("%s: its next repetition begins at what this one found: %+v", c.record.PointID, n)
		}
	}
	other := point("a2", "nats", "100", "z")
	other.Study = "another"
	if n := l.neighbourOf(other); n != nil {
		t.Errorf("a point of another study: %+v", n)
	}
	larger := point("d", "nats", "100", "z")
	larger.Spec.MessageSize[0].Size = 1000
	if n := l.neighbourOf(larger); n != nil {
		t.Errorf("a point of ten times the size: %+v", n)
	}
	if n := l.neighbourOf(point("e", "nats", "1KiB", "z")); n == nil || n.high != 500 {
		t.Errorf("without an upper bound the lower one is all there is: %+v", n)
	}
}

func TestDifferingAxesAreCounted(t *testing.T) {
	for want, b := range map[int]map[string]string{
		0: {"x": "1", "y": "2"}, 1: {"x": "1", "y": "3"}, 2: {"x": "1", "z": "2"},
	} {
		if got := differingAxes(map[string]string{"x": "1", "y": "2"}, b); got != want {
			t.Errorf("%v: %d, want %d", b, got, want)
		}
	}
}

func TestAProbesWindowHoldsNoMoreThanItsBytes(t *testing.T) {
	latency := hist.New()
	latency.Record(int64(2 * time.Second))
	slow := trial{Outcome: worker.Outcome{Until: int64(time.Second), Producers: 3, Histograms: measure.Histograms{EndToEnd: latency.Snapshot()}}}
	for size, want := range map[int64]float64{100: 3 * 1000 / 2, 1 << 20: 3 * 32 / 2, 1 << 30: 3 / 2.0} {
		h := &rateSearch{bench: &bench{spec: study.Spec{
			SubscriptionsPerTopic: 1, MessageSize: study.Sizes{{Size: study.Size(size), Weight: 1}}, InFlight: study.InFlight{Messages: 1000, Bytes: 32 << 20},
		}}}
		if got := h.littlesLaw(slow, 1000); math.Abs(got-want) > 0.01*want {
			t.Errorf("%d B: %.0f/s, want %.0f/s", size, got, want)
		}
		h.bench.spec.InFlight.Messages = 2
		if got, want := h.littlesLaw(slow, 1000), min(want, 3*2/2); got != want {
			t.Errorf("%d B, two in flight: %.0f/s, want %.0f/s", size, got, want)
		}
	}
}

func TestProbesGoOnWhileTheBrokerGetsFaster(t *testing.T) {
	for _, c := range []struct {
		name    string
		probes  []float64 // the last one is what comes from then on
		best    float64
		repeats int
	}{
		{"as warm as it gets", []float64{100, 105, 95}, 100, 4},
		{"warming up", []float64{100, 120, 140, 170, 200, 190}, 200, 8},
		{"slowly", []float64{100, 102, 104, 106, 108, 110, 112, 112}, 112, 10},
		{"a hiccup first", []float64{5, 100}, 100, 5},
	} {
		n := 0
		next := func(worker.Load, float64) (float64, error) {
			n++
			return c.probes[min(n, len(c.probes)-1)], nil
		}
		p := prober{run: next, budget: math.MaxInt64}
		best, err := p.untilSteady(closedLoop, c.probes[0])
		if err != nil || n != c.repeats || best < c.best/faster {
			t.Errorf("%s: %g after %d repeats, %v; want %g after %d", c.name, best, n, err, c.best, c.repeats)
		}
	}
}

// A broker that gets faster for half a minute takes its budget from the trials no longer than the probes' part of it.
func TestProbesTakeTheirPartOfABudgetAndNoMore(t *testing.T) {
	for budget, want := range map[time.Duration]time.Duration{0: 10 * time.Second, 20 * time.Second: 5 * time.Second, time.Hour: 10 * time.Second} {
		if got := probing(budget); got != want {
			t.Errorf("of %s: %s, want %s", budget, got, want)
		}
	}
	n := 0
	p := prober{budget: 5 * time.Second}
	p.run = func(worker.Load, float64) (float64, error) {
		n++
		p.used += time.Second
		return math.Pow(2, float64(n)), nil
	}
	best, err := p.untilSteady(closedLoop, 1)
	if err != nil || n != 5 || best != 32 {
		t.Errorf("%d probes found %g, %v", n, best, err)
	}
}

// longest is a probe that is not repeated if nothing comes through.
var longest = worker.Load{Duration: longestProbe}

func TestNoProbeIsAboveTheHighestRateToTry(t *testing.T) {
	for _, c := range []struct{ most, carries, want float64 }{
		{20_000, 550_000, 20_000}, {500, 550_000, 500}, {20_000, 19_500, 20_000}, {20_000, 7_000, 7_000}, {1000, 0, 1},
	} {
		highest := 0.0
		p := prober{budget: math.MaxInt64, load: longest, maxRate: c.most, run: func(_ worker.Load, rate float64) (float64, error) {
			highest = max(highest, rate)
			return min(rate, c.carries), nil
		}}
		if got, err := p.raiseRate(); err != nil || got != c.want || highest > c.most {
			t.Errorf("at most %.0f/s, carries %.0f/s: %.0f/s, %v, after probes of up to %.0f/s; want %.0f/s", c.most, c.carries, got, err, highest, c.want)
		}
	}
}

func TestProbesWithRisingRatesEnd(t *testing.T) {
	for _, c := range []struct {
		name     string
		carries  func(probe int, rate float64) float64 // what comes through
		from, to float64                               // the answer
	}{
		{"a fixed capacity", func(_ int, rate float64) float64 { return min(rate, 19_000) }, 19_000, 19_000},
		{"less under a load that is too high", func(_ int, rate float64) float64 {
			if rate > 20_000 {
				return 10_000
			}
			return min(rate, 19_000)
		}, 19_000, 19_000},
		{"warming up", func(probe int, rate float64) float64 { return min(rate, 5_000*math.Pow(1.2, float64(min(probe, 20)))) }, 150_000, 200_000},
		{"nothing at all", func(int, float64) float64 { return 0 }, 1, 1},
	} {
		probes := 0
		p := prober{budget: math.MaxInt64, load: longest, run: func(_ worker.Load, rate float64) (float64, error) {
			if probes++; probes > 200 {
				return 0, errors.New("there is no end to it")
			}
			return c.carries(probes, rate), nil
		}}
		got, err := p.raiseRate()
		if err != nil || got < c.from || got > c.to {
			t.Errorf("%s: %.0f/s after %d probes, %v; want %.0f to %.0f", c.name, got, probes, err, c.from, c.to)
		}
	}
}
