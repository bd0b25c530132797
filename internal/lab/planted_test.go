package lab_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// asFastAsItCan makes a spec measure a closed loop.
func asFastAsItCan(s *study.Spec, length time.Duration) {
	s.Measure, s.Load, s.Duration = study.MeasurePeak, study.Load{Shape: "constant"}, study.Duration(length)
}

// checkLimit fails the test unless a closed loop had this limit, and its evidence has these words. It skips it if others used the machine.
func checkLimit(t *testing.T, r store.Record, cause, words string) {
	t.Helper()
	if r.Result == nil {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	limits := r.Result.Limits
	t.Logf("%.0f/s: %s", r.Result.PublishRate, limits)
	switch {
	case limits.Are(cause) && strings.Contains(limits[0].Seen, words):
	case hasDoubt(r, "busy-machine"), hasDoubt(r, "stolen"):
		testkit.Undecided(t, "%s, and others used the machine", limits)
	default:
		t.Errorf("%s; planted is %s, %q: %s %s, %+v", limits, cause, words, r.Status, r.Reason, r.Result.Cost.Shares)
	}
}

func TestLimitsPlantedOnSimAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		edit         func(*study.Spec)
		cause, words string
	}{
		"a window of one":               {func(s *study.Spec) { s.InFlight.Messages, s.Client = 1, map[string]any{"ack.latency": "5ms"} }, "client-window", "producers waited"},
		"producers that work":           {func(s *study.Spec) { s.ProducerDelay = study.Duration(5 * time.Millisecond) }, "producer-delay", "the busiest producer"},
		"one busy thread of the client": {func(s *study.Spec) { s.Client = map[string]any{"work": "60us"} }, "client", "sim.(*"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.cause == "client" {
				testkit.Long(t) // it takes a whole core, which a virtual machine with neighbours may not have
			}
			checkLimit(t, runOnce(t, longSpec(t, func(s *study.Spec) {
				asFastAsItCan(s, 1500*time.Millisecond)
				s.InFlight.Messages = 100
				c.edit(s)
			}), lab.Options{}), c.cause, c.words)
		})
	}
}

func TestLimitsPlantedOnRealBrokersAreNamed(t *testing.T) {
	testkit.Long(t)
	h := sharedHost(t)
	for name, c := range map[string]struct {
		edit         func(*study.Spec)
		cause, words string
	}{
		"kafka, a window of one":         {func(s *study.Spec) { s.Broker, s.InFlight.Messages = "kafka", 1 }, "client-window", "producers waited"},
		"rabbitmq, a window of one":      {func(s *study.Spec) { s.Broker, s.InFlight.Messages = "rabbitmq", 1 }, "client-window", "producers waited"},
		"kafka, producers that work":     {func(s *study.Spec) { s.Broker, s.ProducerDelay = "kafka", study.Duration(2*time.Millisecond) }, "producer-delay", ""},
		"rabbitmq, consumers that sleep": {slowConsumers, "consumer-delay", ""},
		"kafka, a slow network":          {slowNetwork("kafka"), "network", ""},
		"rabbitmq, a slow network":       {slowNetwork("rabbitmq"), "network", ""},
		"jetstream, a slow network":      {slowNetwork("jetstream"), "network", ""},
		"kafka, a slow disk":             {slowDisk("kafka"), "io-limit", "limits.broker.io"},
		"rabbitmq, a slow disk":          {slowDisk("rabbitmq"), "io-limit", "limits.broker.io"},
		"redis, a slow disk":             {slowDisk("redis"), "io-limit", "limits.broker.io"},
	} {
		t.Run(name, func(t *testing.T) {
			r := runOnce(t, longSpec(t, func(s *study.Spec) {
				s.Persistence = "log"
				asFastAsItCan(s, 5*time.Second)
				s.Warmup.For = study.Duration(3 * time.Second)
				c.edit(s)
			}), lab.Options{Host: h})
			checkLimit(t, r, c.cause, c.words)
		})
	}
}

// slowNetwork lets 2 MiB/s pass.
func slowNetwork(broker string) func(*study.Spec) {
	return func(s *study.Spec) {
		s.Broker, s.InFlight.Messages = broker, 1000
		s.Network.Broker.Bandwidth = 2 << 20
		s.Drain = study.Duration(30 * time.Second)
	}
}

// slowDisk lets 1 MiB/s be written, and has each message flushed before it is acknowledged: what is written back later isn't held back.
func slowDisk(broker string) func(*study.Spec) {
	return func(s *study.Spec) {
		s.Broker, s.Persistence, s.InFlight.Messages = broker, "fsync", 1000
		s.Limits.Broker.IO = 1 << 20
		s.Drain = study.Duration(30 * time.Second)
	}
}

// slowConsumers lets consumers take 500/s of 1,000/s.
func slowConsumers(s *study.Spec) {
	s.Broker, s.ConsumerDelay, s.ConsumerDelays = "rabbitmq", study.Duration(2*time.Millisecond), "constant"
	setRate(s, 1000, 5*time.Second)
	s.Drain = study.Duration(30 * time.Second)
}

func TestAQuotaOfKafkaIsNamed(t *testing.T) {
	testkit.Long(t)
	in, err := sharedHost(t).Start(t.Context(), provision.Options{Broker: "kafka"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Stop(t.Context()) }()
	client, err := kgo.NewClient(kgo.SeedBrokers(in.Addresses()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	quota := []kadm.AlterClientQuotaEntry{{
		Entity: kadm.ClientQuotaEntity{{Type: "client-id"}}, Ops: []kadm.AlterClientQuotaOp{{Key: "producer_byte_rate", Value: 1e6}},
	}}
	if answers, err := kadm.NewClient(client).AlterClientQuotas(t.Context(), quota); err != nil || answers[0].Err != nil {
		t.Fatal(err, answers)
	}
	checkLimit(t, runOnce(t, longSpec(t, func(s *study.Spec) {
		s.Broker, s.Persistence, s.Attach = "kafka", "log", in.Addresses()
		asFastAsItCan(s, 5*time.Second)
		s.Warmup.For, s.Drain = study.Duration(3*time.Second), study.Duration(30*time.Second)
	}), lab.Options{}), "broker", "throttle_time_ms")
}
