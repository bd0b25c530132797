// Package advisetest makes records of contenders with planted figures, for tests of the advice.
package advisetest

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Planted is a contender whose figures are known.
type Planted struct {
	Name     string
	P99      time.Duration // at the rate; half as much again at the peak
	Capacity float64
	Cost     float64 // seconds per million
	Loses    bool
	Cold     bool // it was still warming up
}

// Measure makes the record that a repetition would leave, with figures that scatter by some ten per cent and now and then by much more.
func (p Planted) Measure(at study.Point, repetition int, rng *rand.Rand) store.Record {
	scatter := func(sd float64) float64 { return math.Exp(sd * rng.NormFloat64()) }
	r := store.Record{
		PointID: at.ID, Study: at.Study, Axes: at.Axes, Spec: at.Spec, Repetition: repetition, Status: store.OK, Result: &store.Result{},
		Seed: int64(repetition), Began: time.Unix(int64(1000*repetition)+rng.Int64N(900), 0),
	}
	if at.Spec.Measure == study.MeasureSustainable {
		low := p.Capacity * scatter(0.03)
		r.Result.Sustainable = &store.Sustainable{Low: low, High: 1.1 * low, HeldNs: 20e9}
		return r
	}
	disturbed := 1.0
	if rng.Float64() < 0.05 { // another process takes the machine
		disturbed = 4
	}
	for i, rate := range at.Spec.Curve.Rates {
		p99 := float64(p.P99) * (1 + float64(i)/2) * scatter(0.12) * disturbed
		status := store.OK
		if rate > p.Capacity {
			p99, status = 3e9*scatter(0.1), store.Failed
		}
		h := hist.New()
		h.RecordN(int64(p99), 2000)
		m := store.Measurement{Latency: store.Latency{EndToEnd: h.Snapshot()}, Seconds: 10, OfferedRate: rate}
		m.Cost = store.Cost{BrokerKnown: true, Messages: 1_000_000, BrokerUserSeconds: p.Cost * scatter(0.04) * math.Sqrt(disturbed)}
		sent := int64(10 * rate)
		m.Books = store.Books{Due: sent, Sent: sent, Acked: sent, Expected: sent, Received: sent}
		if p.Loses {
			m.Books.Received, m.Books.Lost, m.Books.LostAcked, status = sent-3, 3, 3, store.Failed
		}
		reason := ""
		if status != store.OK {
			reason, r.Status = "made to fail", status
		}
		var doubts []store.Doubt
		if p.Cold {
			doubts = []store.Doubt{{Code: doubt.WarmingUp.Code(), Text: "it was still warming up"}}
		}
		r.Result.Curve = append(r.Result.Curve, store.CurvePoint{Rate: rate, Status: status, Reason: reason, Doubts: doubts, Measurement: m})
	}
	if slices.ContainsFunc(r.Result.Curve, func(c store.CurvePoint) bool { return c.Status == store.OK }) {
		r.Status = store.OK // as the lab has it: of a curve one rate is enough
	}
	if len(r.Result.Curve) > 0 {
		r.Result.Measurement = r.Result.Curve[0].Measurement
	}
	return r
}

// Measured makes the records of all repetitions of all points, on one machine; the same every time. The values of the points' axis
// "contender" are the names of the contenders.
func Measured(points []study.Point, repetitions int, contenders ...Planted) (records []store.Record) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, at := range points {
		for n := range repetitions {
			i := slices.IndexFunc(contenders, func(p Planted) bool { return p.Name == at.Axes["contender"] })
			r := contenders[i].Measure(at, n+1, rng)
			r.Host, r.Versions = store.Host{Name: "bench-1"}, store.Versions{Broker: "4.0", Tool: "1.0"}
			r.Settings.Client = map[string]any{"AckWait": "5s"}
			records = append(records, r)
		}
	}
	return records
}
