package lab

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// ticksOf is a measured phase of 6 s after a warm-up: the broker's cores and the rate of messages at its ticks, ten a second, change evenly
// from the first value to the second.
func ticksOf(cores, rate [2]float64) trial {
	t := trial{Outcome: worker.Outcome{From: 0, Until: int64(6 * time.Second)}}
	for i := -20; i < 60; i++ {
		tick := store.Tick{OffsetNs: int64(i) * 1e8, Phase: "measure"}
		if i < 0 {
			tick.Phase = "warmup"
		}
		part := max(0, float64(i)/59)
		tick.BrokerCPU = cores[0] + part*(cores[1]-cores[0])
		tick.PublishRate = rate[0] + part*(rate[1]-rate[0])
		t.Series = append(t.Series, tick)
	}
	return t
}

// warmingOf is the doubt about a steady load's warm-up: "warming-up: a million messages …"; empty if there is none.
func warmingOf(t trial) string {
	var d doubts
	(&bench{spec: study.Defaults()}).doubtWarming(t, &d)
	if len(d) == 0 {
		return ""
	}
	return d[0].Code + ": " + d[0].Text
}

func TestAPhaseTooShortToTellWhetherTheBrokerWarmsUpSaysSo(t *testing.T) {
	short := ticksOf([2]float64{1.8, 1.8}, [2]float64{100_000, 500_000})
	short.Series, short.Until = short.Series[:28], int64(800*time.Millisecond) // eight ticks of the phase
	const unknown = "warm-up-unknown: 800ms of measuring are too short to tell whether the broker was still warming up"
	for known, want := range map[bool]string{true: unknown, false: ""} {
		short.Cost = store.Cost{BrokerKnown: known, Messages: 1000}
		if got := warmingOf(short); got != want {
			t.Errorf("its cost is known: %t: %q, want %q", known, got, want)
		}
	}
	short.Cost.BrokerKnown = true
	for driven, want := range map[time.Duration]int{time.Second: 1, 4500 * time.Millisecond: 0, 8 * time.Second: 0} {
		spec := study.Defaults()
		spec.BrokerWarmup = study.Duration(driven)
		var d doubts
		if (&bench{spec: spec}).doubtWarming(short, &d); len(d) != want {
			t.Errorf("after %s of brokerWarmup: %v, want %d", driven, d, want)
		}
	}
}

func TestABrokerThatStillWarmsUpIsDoubted(t *testing.T) {
	steady := study.Defaults()
	ramp, faulty, backlog := study.Defaults(), study.Defaults(), study.Defaults()
	ramp.Load.Shape, backlog.Measure = "ramp", study.MeasureBacklog
	faulty.Faults = []study.Fault{{}}
	for name, c := range map[string]struct {
		spec        study.Spec
		cores, rate [2]float64
		want        string
	}{
		"a closed loop gets faster": {
			steady,
			[2]float64{1.8, 1.8},
			[2]float64{100_000, 500_000},
			"warming-up: a million messages cost the broker 10.95s of the processor in the first third of the measured phase, when it used 1.8 cores, and 4.13s in the last, when it used 1.8: it was still warming up",
		},
		"the same rate gets cheaper": {
			steady,
			[2]float64{1.2, 0.2},
			[2]float64{10_000, 10_000},
			"warming-up: a million messages cost the broker 1m43.9s of the processor in the first third of the measured phase, when it used 1.0 cores, and 36.1s in the last, when it used 0.4: it was still warming up",
		},
		"steady":                   {steady, [2]float64{1.2, 1.2}, [2]float64{10_000, 10_000}, ""},
		"a little cheaper":         {steady, [2]float64{1.2, 0.9}, [2]float64{10_000, 10_000}, ""},
		"dearer":                   {steady, [2]float64{0.2, 1.2}, [2]float64{10_000, 10_000}, ""},
		"hardly anything":          {steady, [2]float64{0.04, 0.01}, [2]float64{100, 100}, ""},
		"a broker without a meter": {steady, [2]float64{}, [2]float64{10_000, 10_000}, ""},
		"nothing was sent":         {steady, [2]float64{1.2, 0.2}, [2]float64{}, ""},
		"a ramp":                   {ramp, [2]float64{1.8, 1.8}, [2]float64{100_000, 500_000}, ""},
		"faults":                   {faulty, [2]float64{1.8, 1.8}, [2]float64{100_000, 500_000}, ""},
		"a backlog":                {backlog, [2]float64{1.8, 1.8}, [2]float64{100_000, 500_000}, ""},
	} {
		b := &bench{spec: c.spec}
		var d doubts
		b.doubtWarmup(ticksOf(c.cores, c.rate), &d)
		got := ""
		if len(d) > 0 {
			got = d[0].Code + ": " + d[0].Text
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	short := ticksOf([2]float64{1.8, 1.8}, [2]float64{100_000, 500_000})
	short.Series = short.Series[:28]
	if got := warmingOf(short); got != "" {
		t.Errorf("8 ticks tell %q", got)
	}
}
