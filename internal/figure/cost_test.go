package figure

import (
	"math"
	"testing"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// The medians of user and of system time are those of different repetitions: 1 and 1, where the median of the whole is 5.
func TestABarIsAsLongAsTheTablesSay(t *testing.T) {
	loadPoint := results.LoadPoint{Status: store.OK}
	for _, seconds := range [][2]float64{{1, 4}, {4, 1}, {1, 1}, {4.5, 0.5}, {0.5, 4.5}} {
		loadPoint.Records = append(loadPoint.Records, store.Record{Status: store.OK, Result: &store.Result{Measurement: store.Measurement{
			Cost: store.Cost{BrokerKnown: true, Messages: 1e6, BrokerUserSeconds: seconds[0], BrokerSystemSeconds: seconds[1]},
		}}})
	}
	cpu := results.MustMetric(results.KeyBrokerCPU)
	_, factor := drawnIn(cpu.Unit)
	b := costBar(cpu, factor, costRow{load: loadPoint}, palette[0])
	table := cpu.Over(loadPoint.Records).Median
	if got := b.sum() / 1000; math.Abs(got-table) > 1e-9 {
		t.Errorf("the bar says %v s per million, the tables %v", got, table)
	}
	if share := b.parts[0] / b.sum(); math.Abs(share-0.5) > 1e-9 {
		t.Errorf("%v of the bar is user time; want half, as in all repetitions together", share)
	}
}

// Where nothing could be measured there are words, and no scale of a billionth of a message per second.
func TestBarsWithoutAFigureHaveNoScale(t *testing.T) {
	p := barsPanel("100 B", "messages/s", []bar{{name: "kafka", word: "failed"}, {name: "nats", parts: []float64{0}, used: true}}, unit.PerSecond)
	if ticks := p.Plot.X.Tick.Marker.Ticks(p.Plot.X.Min, p.Plot.X.Max); len(ticks) != 0 || p.Plot.X.Max != 1 {
		t.Errorf("an axis up to %v with %v", p.Plot.X.Max, ticks)
	}
}

// Where no rate failed the interval has no end, and the figure stands beside it on the panel all the same.
func TestAnIntervalWithoutAnEndLeavesRoomForItsFigure(t *testing.T) {
	open := bar{name: "redis", parts: []float64{69_600}, interval: &interval{low: 60_000, high: math.Inf(1)}, used: true}
	p := barsPanel("100 B", "messages/s", []bar{open, {name: "nats", parts: []float64{20_000}, interval: &interval{low: 18_000, high: 25_000}, used: true}}, unit.PerSecond)
	if got := open.intervalEnd(p.Plot.X.Max); got <= open.sum() || got > 0.8*p.Plot.X.Max {
		t.Errorf("the arrow ends at %v, beside a bar of %v on an axis up to %v", got, open.sum(), p.Plot.X.Max)
	}
	if got := (bar{interval: &interval{low: 1, high: 2}}).intervalEnd(10); got != 2 {
		t.Errorf("an interval up to 2 is drawn up to %v", got)
	}
}
