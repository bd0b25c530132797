package lab_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestACurveHasAPointForEveryRate(t *testing.T) {
	rates := []float64{500, 1000, 4000}
	r := runPoint(t, simSpec(func(s *study.Spec) {
		s.Measure, s.Curve = "curve", study.Curve{Rates: rates}
		s.Client = map[string]any{"latency": "20ms"}
	}), lab.Options{})
	if r.Status != store.OK || len(r.Result.Curve) != len(rates) {
		t.Fatalf("%s: %s, %d points", r.Status, r.Reason, len(r.Result.Curve))
	}
	for i, p := range r.Result.Curve {
		if p.Rate != rates[i] || p.Fraction != 0 || p.Status != store.OK || p.PublishRate != p.Rate || p.ReceiveRate != p.Rate {
			t.Errorf("%g/s: %s (%s), published %g/s, received %g/s", p.Rate, p.Status, p.Reason, p.PublishRate, p.ReceiveRate)
		}
		if got := p.Latency.EndToEnd.Min(); got < int64(20*time.Millisecond)*99/100 {
			t.Errorf("at %g/s: a latency of %v, at least 20 ms is the truth", p.Rate, time.Duration(got))
		}
	}
}

func TestACurveOfFractionsSearchesTheRateFirst(t *testing.T) {
	testkit.NotShort(t)
	fractions := []float64{0.3, 0.7, 0.9}
	r := runPoint(t, simSpec(func(s *study.Spec) {
		s.Measure, s.Curve = "curve", study.Curve{Fractions: fractions}
		s.Sustainable = study.Sustainable{
			Width: 0.2, Trial: study.Duration(300 * time.Millisecond), Confirm: study.Duration(600 * time.Millisecond),
			Confirms: 1, Warmup: study.Duration(100 * time.Millisecond), MaxTrials: 30, Quantile: 0.99,
		}
		s.Client = map[string]any{"capacity": 1000}
	}), lab.Options{})
	if r.Status == store.Void {
		testkit.Undecided(t, "nothing could be searched for on this machine now: %s", r.Reason)
	}
	if r.Result == nil || r.Result.Sustainable == nil || r.Result.Sustainable.Low == 0 {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	if len(r.Result.Curve) != len(fractions) {
		t.Fatalf("%d points: %s", len(r.Result.Curve), r.Reason)
	}
	for i, p := range r.Result.Curve {
		if p.Fraction != fractions[i] || math.Abs(p.Rate-fractions[i]*r.Result.Sustainable.Low) > 1e-9*p.Rate {
			t.Errorf("%g of %g is %g", p.Fraction, r.Result.Sustainable.Low, p.Rate)
		}
	}
}

func TestABacklogIsFilledThenDrainedAtTheBrokersRate(t *testing.T) {
	for name, keep := range map[string]bool{"alone": false, "while producers go on": true} {
		t.Run(name, func(t *testing.T) {
			r := runPoint(t, simSpec(func(s *study.Spec) {
				s.Measure, s.Backlog, s.SubscriptionsPerTopic = "backlog", study.Backlog{Messages: 5000, DrainRatio: 1, KeepSending: keep}, 2
				s.Load.Rate, s.Drain = 0, study.Duration(20*time.Second)
				if keep {
					s.Load.Rate = 20_000
					// Working on each message, the consumer needs a quarter of a second for the backlog. Otherwise the broker may hand all
					// of it over before a producer goes on. The simulated broker allows such work to one consumer only.
					s.SubscriptionsPerTopic, s.ConsumerDelay, s.ConsumerDelays = 1, study.Duration(50*time.Microsecond), "constant"
				}
			}), lab.Options{})
			if r.Status != store.OK {
				t.Fatalf("%s: %s", r.Status, r.Reason)
			}
			b, books := r.Result.Backlog, r.Result.Books
			if b.Messages != 5000 || b.FillSeconds <= 0 || b.DrainSeconds < 0 || books.Lost != 0 || books.Received != int64(r.Spec.SubscriptionsPerTopic)*books.Sent {
				t.Errorf("%+v, %+v", *b, books)
			}
			if want := int64(5000 * r.Spec.MessageSize.Mean()); b.Bytes != want {
				t.Errorf("a backlog of %d bytes, want %d", b.Bytes, want)
			}
			if keep != (books.Sent > 5000) {
				t.Errorf("%d sent", books.Sent)
			}
			if rate := 5000 / b.FillSeconds; math.Abs(b.FillRate-rate) > 1e-6*rate {
				t.Errorf("%d messages in %g s are not %g/s", b.Messages, b.FillSeconds, b.FillRate)
			}
			if keep && b.FillRate > 20_000*1.02 {
				t.Errorf("filled at %g/s, 20,000 were asked for", b.FillRate)
			}
		})
	}
}

func TestPeakFindsWhatTheBrokerServes(t *testing.T) {
	r := runUndisturbed(t, func(s *study.Spec) {
		s.Measure, s.Duration = "peak", study.Duration(time.Second)
		s.Client = map[string]any{"capacity": 5000, "window": 100}
	})
	if r.Status != store.OK {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	checkNear(t, r, "publish rate", r.Result.PublishRate, 5000, 0.05)
	checkNear(t, r, "receive rate", r.Result.ReceiveRate, 5000, 0.05)
	checkNear(t, r, "throughput", r.Result.Throughput, 5000, 0.05)
	if lag := r.Result.Latency.Lag.Max(); lag != 0 {
		t.Errorf("a closed loop has no schedule to lag behind, read %v", time.Duration(lag))
	}
}

// silentPeak is a peak on a broker that confirms nothing before the measured phase has ended.
func silentPeak() study.Spec {
	return simSpec(func(s *study.Spec) {
		s.Measure, s.Duration, s.Drain = "peak", study.Duration(3*time.Second), study.Duration(20*time.Second)
		s.MessageSize, s.InFlight = study.Sizes{{Size: 16, Weight: 1}}, study.InFlight{Messages: 300_000, Bytes: 64 << 20} // take longer to send than the warm-up lasts
		s.Warmup, s.Client = study.Warmup{For: study.Duration(time.Millisecond)}, map[string]any{"ack.latency": "5s"}
	})
}

func TestAPeakWithoutAnyConfirmationInItsPhaseFails(t *testing.T) {
	testkit.NotShort(t) // the race detector makes the generator too slow to judge
	r := runPoint(t, silentPeak(), lab.Options{})
	if r.Status != store.Failed || !strings.Contains(r.Reason, "no message was confirmed during the measured phase of 3s") {
		t.Errorf("%s: %s; published %.0f/s", r.Status, r.Reason, r.Result.PublishRate)
	}
}

func TestAPeakWithoutAnyConfirmationIsNotBlamedOnTheBrokerIfWeStoodStill(t *testing.T) {
	testkit.NotShort(t)                                                                  // the start takes so long under the race detector that the pauses are over before the phase begins
	pauseProcess(t, 100*time.Millisecond, 60*time.Millisecond, 150*time.Millisecond, 20) // some of them in the phase, however long the start takes
	r := runOnce(t, silentPeak(), lab.Options{})
	if r.Status != store.Void || !strings.Contains(r.Reason, "stood still for") {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
}

func TestThePeakWithoutBackpressureIsTheRateThatTheBrokerServes(t *testing.T) {
	r := runUndisturbed(t, func(s *study.Spec) {
		s.Measure, s.Delivery, s.Duration, s.Drain = "peak", "at-most-once", study.Duration(50*time.Millisecond), study.Duration(20*time.Second)
		s.Warmup, s.Client = study.Warmup{For: study.Duration(10 * time.Millisecond)}, map[string]any{"capacity": 20_000}
	})
	if r.Status != store.OK {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	checkNear(t, r, "throughput", r.Result.Throughput, 20_000, 0.05)
	if r.Result.PublishRate < 2*r.Result.Throughput || !slices.ContainsFunc(r.Doubts, func(d store.Doubt) bool { return d.Code == "handed-over" }) {
		t.Errorf("published %.0f/s, throughput %.0f/s, doubts %v", r.Result.PublishRate, r.Result.Throughput, r.Doubts)
	}
}

func TestMessagesThatArriveInTheDrainAreNoThroughput(t *testing.T) {
	t.Parallel()
	const capacity = 1000
	for name, s := range map[string]study.Spec{
		"a fixed load": simSpec(func(s *study.Spec) { setRate(s, 2*capacity, time.Second) }),
		"a curve": simSpec(func(s *study.Spec) {
			s.Measure, s.Curve, s.Duration = "curve", study.Curve{Rates: []float64{2 * capacity}}, study.Duration(time.Second)
		}),
	} {
		s.Client, s.Drain = map[string]any{"capacity": capacity}, study.Duration(20*time.Second)
		r := runCounts(t, s, lab.Options{})
		if r.Result.Books.Lost != 0 {
			t.Fatalf("%s: %s: %s, %+v", name, r.Status, r.Reason, r.Result)
		}
		published, received := r.Result.PublishRate, r.Result.ReceiveRate
		if r.Result.Curve != nil {
			published, received = r.Result.Curve[0].PublishRate, r.Result.Curve[0].ReceiveRate
		}
		if most := 1.1 * capacity; published > most || received > most || published <= 0 || received <= 0 {
			t.Errorf("%s: a broker of %d/s confirmed %.0f/s and delivered %.0f/s", name, capacity, published, received)
		}
	}
}

func TestACountAtMostOnceIsDeliveredUntilTheLastMessageArrives(t *testing.T) {
	const capacity = 2000
	r := runPoint(t, simSpec(func(s *study.Spec) {
		s.Measure, s.Count, s.Load.Rate, s.Warmup = "count", study.Count{Messages: 1000}, 0, study.Warmup{}
		s.Delivery, s.Acks, s.Client = "at-most-once", "none", map[string]any{"capacity": capacity}
	}), lab.Options{})
	if r.Status != store.OK || r.Result.Books.Received != 1000 {
		t.Fatalf("%s: %s, %+v", r.Status, r.Reason, r.Result)
	}
	if got := r.Result.ReceiveRate; got > 1.02*capacity || got <= 0 {
		t.Errorf("a broker of %d/s delivered %.0f/s", capacity, got)
	}
	if n := r.Result.Count; r.Result.PublishRate*n.PublishSeconds < 999 || r.Result.PublishRate*n.PublishSeconds > 1001 {
		t.Errorf("%.0f/s for %g s are not 1000 messages", r.Result.PublishRate, n.PublishSeconds)
	}
}

func TestACountSendsThatManyMessagesOrBytes(t *testing.T) {
	for name, c := range map[string]struct {
		count study.Count
		size  study.Sizes
		want  int64
	}{
		"messages":         {study.Count{Messages: 1234}, study.Sizes{{Size: 100, Weight: 1}}, 1234},
		"bytes":            {study.Count{Bytes: 100_000}, study.Sizes{{Size: 250, Weight: 1}}, 400},
		"bytes, not whole": {study.Count{Bytes: 10}, study.Sizes{{Size: 250, Weight: 1}}, 1},
	} {
		r := runPoint(t, simSpec(func(s *study.Spec) {
			s.Measure, s.Count, s.MessageSize, s.Load.Rate, s.Warmup = "count", c.count, c.size, 0, study.Warmup{}
		}), lab.Options{})
		if r.Status != store.OK || r.Result.Count == nil || r.Result.Count.Messages != c.want || r.Result.Books.Received != c.want {
			t.Errorf("%s: %s %s, %+v", name, r.Status, r.Reason, r.Result)
			continue
		}
		n := r.Result.Count
		if n.Bytes != c.want*int64(c.size[0].Size) || n.TotalSeconds < n.PublishSeconds || n.TotalSeconds <= 0 {
			t.Errorf("%s: %+v", name, *n)
		}
	}
}
