package reports

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// rateOfCurve is a rate of a curve as it ended in one repetition, with all latencies alike.
type rateOfCurve struct {
	rate    float64
	latency time.Duration
	status  store.Status
}

// curvesOf are six repetitions of a curve over these rates. As the lab stores them, a repetition has the figures of its last rate.
func curvesOf(broker string, rates ...rateOfCurve) []store.Record {
	var curve []store.CurvePoint
	for _, at := range rates {
		h := hist.New()
		for range 1000 {
			h.Record(at.latency.Nanoseconds())
		}
		p := store.CurvePoint{Rate: at.rate, Status: at.status, Measurement: store.Measurement{
			Books:   store.Books{Due: 1000, Sent: 1000, Acked: 1000, Expected: 1000, Received: 1000},
			Seconds: 1, OfferedRate: at.rate, PublishRate: at.rate, ReceiveRate: at.rate, Latency: store.Latency{EndToEnd: h.Snapshot()},
		}}
		if at.status != store.OK {
			p.Reason = "the generator was late"
		}
		curve = append(curve, p)
	}
	return altered(atRate(broker, 6), "curve", func(r *store.Record) {
		r.Spec.Measure, r.Spec.Load, r.Spec.Curve = study.MeasureCurve, study.Load{Shape: "constant"}, study.Curve{}
		for _, at := range rates {
			r.Spec.Curve.Rates = append(r.Spec.Curve.Rates, at.rate)
		}
		r.Result = &store.Result{Measurement: curve[len(curve)-1].Measurement, Curve: curve}
	})
}

func TestCurvesAreComparedAtTheLastRateThatCounts(t *testing.T) {
	const ms = time.Millisecond
	kafka := curvesOf("kafka", rateOfCurve{1000, 5 * ms, store.OK}, rateOfCurve{2000, 6 * ms, store.OK}, rateOfCurve{4000, 900 * ms, store.Void})
	for _, c := range []struct {
		name string
		nats []store.Record
		want string
	}{
		{
			"the last rate is void on both sides",
			curvesOf("jetstream", rateOfCurve{1000, 10 * ms, store.OK}, rateOfCurve{2000, 12 * ms, store.OK}, rateOfCurve{4000, 450 * ms, store.Void}),
			"e2e p99 at 2k/s, the last rate that ended ok on both sides: jetstream is 2.0 times higher than kafka, which is worse (2.00×",
		},
		{
			"the last rate is void on one side",
			curvesOf("jetstream", rateOfCurve{1000, 10 * ms, store.OK}, rateOfCurve{2000, 12 * ms, store.Failed}, rateOfCurve{4000, 450 * ms, store.OK}),
			"e2e p99 at 1k/s, the last rate that ended ok on both sides: jetstream is 2.0 times higher than kafka, which is worse (2.00×",
		},
		{
			"no rate ended ok on both sides",
			curvesOf("jetstream", rateOfCurve{1000, 10 * ms, store.Failed}, rateOfCurve{2000, 12 * ms, store.Failed}, rateOfCurve{4000, 450 * ms, store.OK}),
			"No rate of the curves ended ok on both sides: no conclusion.",
		},
	} {
		d := Compare(Side{"kafka", results.Of(kafka)}, Side{"jetstream", results.Of(c.nats)}, "broker")
		if text := string(rendered(t, d, "markdown", 0)); !strings.Contains(text, c.want) || strings.Contains(text, "450") || strings.Contains(text, "900") {
			t.Errorf("%s: want %q and no figure of a rate that counts for nothing, got %s", c.name, c.want, text)
		}
	}
	fine := curvesOf("jetstream", rateOfCurve{1000, 10 * ms, store.OK}, rateOfCurve{2000, 12 * ms, store.OK}, rateOfCurve{4000, 12 * ms, store.OK})
	d := Compare(Side{"kafka", results.Of(curvesOf("kafka", rateOfCurve{1000, 5 * ms, store.OK}, rateOfCurve{2000, 5 * ms, store.OK}, rateOfCurve{4000, 6 * ms, store.OK}))},
		Side{"jetstream", results.Of(fine)}, "broker")
	if text := string(rendered(t, d, "markdown", 0)); !strings.Contains(text, "e2e p99 at the last rate: jetstream is 2.0 times higher than kafka, which is worse (2.00×") {
		t.Errorf("all rates ended ok: %s", text)
	}
}

// A publication has no rates that ended ok, and the knee of a curve is of all its rates.
func TestACurveIsSetBesideAPublishedOne(t *testing.T) {
	const ms = time.Millisecond
	measured := altered(curvesOf("kafka", rateOfCurve{1000, 5 * ms, store.OK}, rateOfCurve{2000, 900 * ms, store.Void}), "", func(r *store.Record) {
		r.Study, r.Axes, r.Result.Knee = "paper", map[string]string{"broker": "kafka"}, &store.Knee{Rate: 1000, JumpedAt: 2000}
	})
	published := altered(measured[:1], "published", func(r *store.Record) {
		r.Kind, r.Status = store.KindPublished, store.Published
		r.Result = &store.Result{Given: map[string]float64{results.KeyKneeRate: 1500}}
	})
	d := Compare(Side{"paper", results.Of(published)}, Side{"now", results.Of(measured)})
	if text := string(rendered(t, d, "markdown", 0)); !strings.Contains(text, "| before the knee | 1.50k/s | 1k/s \\[1–2k/s\\] | 0.667× |") {
		t.Errorf("got %s", text)
	}
}

// The targets of a curve are judged rate by rate, as everywhere: its last rate may be void, or the only one that keeps them.
func TestAHeadToHeadJudgesCurvesRateByRate(t *testing.T) {
	const ms = time.Millisecond
	var records []store.Record
	records = append(records, curvesOf("kafka", rateOfCurve{1000, 5 * ms, store.OK}, rateOfCurve{2000, 900 * ms, store.Void})...)
	records = append(records, curvesOf("jetstream", rateOfCurve{1000, 500 * ms, store.OK}, rateOfCurve{2000, 6 * ms, store.OK})...)
	for i := range records {
		records[i].Spec.Objectives = map[string]any{"e2e_p99": "< 100ms"}
		if records[i].Spec.Broker == "jetstream" {
			records[i].Result.Curve[0].Doubts = []store.Doubt{{Code: doubt.RateMissed.Code(), Text: "late"}}
		}
	}
	var statuses []string
	for _, c := range contendersOf(results.Of(records).Points) {
		statuses = append(statuses, c.first().Spec.Broker+" "+c.status())
	}
	if got, want := strings.Join(statuses, "; "), "jetstream ok, rate missed at curve, objective missed at curve; kafka ok"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
