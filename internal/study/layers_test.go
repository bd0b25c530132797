package study

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestWhatGoesTogetherOnlyHalfIsRefused(t *testing.T) {
	for doc, want := range map[string]string{
		"count.messages: 5\nload.shape: poisson":                "load.rate: missing; load.shape: poisson needs messages per second",
		"count.messages: 5\nload.shape: constant":               "",
		"curve.rates: []":                                       "curve.rates: no rate; allowed: a list of messages per second",
		"load: {shape: ramp, rate: 0, to: 0}":                   "load.to: 0 after load.rate: 0; allowed: one of them 0",
		"load: {shape: bursts, rate: 5}":                        "load.burst: missing; load.shape: bursts needs it",
		"sustainable.goals: []":                                 "sustainable.goals: no goal; allowed: a list of {latency, quantile}, {} for one without a bound",
		"sustainable: {goals: [{}], latency: 1s}":               "sustainable.goals: given beside sustainable.latency; allowed: one of them",
		"sustainable.goals: [{}, {}]":                           "sustainable.goals: one goal is given twice",
		"sustainable.goals: [{quantile: 0.5}]":                  "sustainable.goals: a quantile (0.5) without a latency",
		"sustainable.goals: [{latency: 1s, quantile: 1.1}]":     "sustainable.goals: 1.1 is not a quantile; allowed: above 0 to 1, such as 0.99; 1 bounds the maximum",
		"sustainable.goals: [{}, {latency: 1s}, {latency: 2s}]": "",
		"attach: []": "attach: no address; allowed: host:port of each node",
		"attach: [a:1]\nuser: u\npasswordEnv: P\ntls: mutual":            "certFile: missing; an attached broker with tls: mutual needs certFile and keyFile",
		"attach: [a:1]\ntls: mutual\ncertFile: c\nkeyFile: k\ncaFile: a": "",
		"attach: [a:1]\ntls: on\ncaFile: a":                              "",
		"attach: [a:1]\ntls: on\nkeyFile: k":                             "keyFile: tls is on; allowed with tls: mutual",
		"attach: [a:1]\ntls: mutual\nkeyFile: k":                         "certFile: missing; an attached broker with tls: mutual needs certFile and keyFile",
		"attach: [a:1]\npasswordEnv: P":                                  "passwordEnv: no user; name one with user",
		"attach: [a:1]\nuser: u\npasswordFile: f":                        "",
		"attach: [a:1]\nuser: u\npasswordEnv: 'A B'":                     `passwordEnv: "A B" is not the name of an environment variable`,
		"tls: mutual":        "",
		"tls: on\ncaFile: a": "caFile: only with attach; a broker that is started here needs none",
		"keyFile: a":         "keyFile: only with attach; a broker that is started here needs none",
		"backlog: {messages: 5, drainRatio: 0.5}\nduration: 9s":                                                                       "duration: not used by backlog.drainRatio: 0.5: it ends when that share is gone; allowed with drainRatio: 0",
		"consumerBacklogSizeGB: 1\ntestDurationMinutes: 1\nproducerRate: 5":                                                           "",
		"backlog: {messages: 5, keepSending: true}\nrate: 5":                                                                          "",
		"count: {messages: 5}\ncurve: {rates: [5]}":                                                                                   "measure: missing: the settings of several measures are given; allowed: rate, peak, sustainable, curve, count, backlog, read",
		"useRandomizedPayloads: false\nrandomBytesRatio: 0.5":                                                                         "randomBytesRatio: not used: payloads are all zero bytes; allowed with useRandomizedPayloads: true",
		"rate: 5\nfaults: [{at: 1s, do: kill, node: all}, {at: 2s, do: restart, node: all}]\nisolation: shared":                       "",
		"rate: 5\nfaults: [{at: 1s, do: kill}, {at: 2s, do: restart, node: all}]\nisolation: shared":                                  "",
		"rate: 5\nnodes: 2\nfaults: [{at: 1s, do: kill}, {at: 2s, do: restart, node: 2}]\nisolation: shared":                          "faults: kill at 1s: with isolation: shared the next point would find no broker; add for, or a restart of node 1",
		"rate: 5\nfaults: [{at: 1s, do: kill, for: 1s}]\nisolation: shared":                                                           "",
		"rate: 5\nfaults: [{at: 1s, do: kill}]":                                                                                       "",
		"rate: 5\nnodes: 2\nfaults: [{at: 1s, do: pause}, {at: 2s, do: resume, node: 2}]":                                             "faults: resume at 2s: nothing was paused before it on node 2",
		"rate: 5\nnodes: 2\nfaults: [{at: 1s, do: pause, node: all}, {at: 2s, do: resume, node: 2}, {at: 3s, do: resume, node: all}]": "",
		"rate: 5\nfaults: [{at: 1s, do: resume}, {at: 2s, do: pause, for: 1s}]":                                                       "faults: resume at 1s: nothing was paused before it on node 1",
		"rate: 5\nfaults: [{at: 1s, do: resume, for: 1s}]":                                                                            "faults: resume at 1s: for is only used by pause and kill",
		"broker: ''": `broker: "" is not a broker; allowed: a name such as kafka, or kafka@4.3.1`,
		"rate: 5\nwarmup: {auto: true, for: 40s}":  "",
		"measure: peak\nrate: 5":                   "load.rate: not used by measure: peak, only by rate, count, backlog",
		"measure: peak\nwarmup: 3s":                "",
		"measure: rate\nrate: 5\ncurve.rates: [1]": "curve.rates: not used by measure: rate, only by curve",
		"measure: sustainable\nwarmup: 3s":         "warmup.for: not used by measure: sustainable, only by rate, peak, curve, read; its trials have sustainable.trial, .confirm and .warmup",
		"measure: count\nduration: 3s":             "duration: not used by measure: count, only by rate, peak, curve, backlog, read",
	} {
		_, err := points(doc)
		switch {
		case (err == nil) != (want == ""):
			t.Errorf("%q: %v, want %q", doc, err, want)
		case err != nil && !strings.Contains(err.Error()+"\n", ": "+want+"\n"):
			t.Errorf("%q:\ngot  %v\nwant %s", doc, err, want)
		}
	}
}

// A later layer takes along what an earlier one said only for the sake of what is overridden.
func TestALaterLayerReplacesWhatItMakesPointless(t *testing.T) {
	type spec = func(Spec) bool
	for name, c := range map[string]struct {
		doc string
		set []string
		ok  spec
	}{
		"version of another broker": {"broker: kafka@3", []string{"broker=nats"}, func(s Spec) bool { return s.Broker == "nats" && s.Version == "" }},
		"version of the same layer": {"broker: kafka@3", []string{"broker=nats@2"}, func(s Spec) bool { return s.Version == "2" }},
		"shape with its settings": {"load: {shape: ramp, rate: 1, to: 5}", []string{"load.shape=constant"}, func(s Spec) bool {
			return s.Load.Shape == "constant" && s.Load.To == 0 && s.Load.Rate == 1
		}},
		"nodes of what is attached": {"nodes: 3\nversion: 4\nisolation: fresh", []string{"attach=[a:1,b:2]"}, func(s Spec) bool {
			return s.Nodes == 2 && s.Version == "" && s.Isolation == "shared"
		}},
		"how an attached broker was started": {"brokerWarmup: 9s\nserver: {x: 1, y: 2}", []string{"attach=[a:1]"}, func(s Spec) bool {
			return s.BrokerWarmup == 0 && len(s.Server) == 0
		}},
		"bytes for messages":  {"count.messages: 5", []string{"count.bytes=1MB"}, func(s Spec) bool { return s.Count.Messages == 0 && s.Count.Bytes == 1e6 }},
		"messages for bytes":  {"backlog.bytes: 1MB", []string{"backlog.messages=5"}, func(s Spec) bool { return s.Backlog.Messages == 5 && s.Backlog.Bytes == 0 }},
		"rates for fractions": {"curve.fractions: [0.5]", []string{"curve.rates=[5]"}, func(s Spec) bool { return len(s.Curve.Fractions) == 0 && len(s.Curve.Rates) == 1 }},
		"fractions for rates": {"curve.rates: [5]", []string{"curve.fractions=[0.5]"}, func(s Spec) bool {
			return len(s.Curve.Fractions) == 1 && len(s.Curve.Rates) == 0 && s.Sustainable.Width == 0.05
		}},
		"samples for made-up payloads": {"useRandomizedPayloads: true\nrandomBytesRatio: 0.2\nrandomizedPayloadPoolSize: 7\nsize: 9", []string{"payloadFile=testdata/payload/sixtyfour.data"}, func(s Spec) bool {
			return !s.UseRandomizedPayloads && s.RandomBytesRatio == 0 && s.RandomizedPayloadPoolSize == 0 && s.MessageSize.String() == "64"
		}},
		"zeros for made-up payloads": {"randomBytesRatio: 0.2\nrandomizedPayloadPoolSize: 7", []string{"useRandomizedPayloads=false"}, func(s Spec) bool {
			return s.RandomBytesRatio == 0 && s.RandomizedPayloadPoolSize == 1
		}},
		"a measure that ends what served another": {"rate: 5\nwarmup: 3s\nduration: 9s", []string{"measure=count"}, func(s Spec) bool {
			return s.Measure == "count" && s.Load.Rate == 5 && s.Warmup.For == 0
		}},
		"a rate over a search":        {"sustainable.trial: 5s", []string{"rate=5"}, func(s Spec) bool { return s.Measure == "rate" && s.Sustainable.Trial == 0 }},
		"a search over a rate":        {"rate: 5", []string{"sustainable.trial=5s"}, func(s Spec) bool { return s.Measure == "sustainable" && s.Load.Rate == 0 }},
		"a count over a backlog":      {"backlog.messages: 5", []string{"count.messages=6"}, func(s Spec) bool { return s.Measure == "count" && s.Count.Messages == 6 }},
		"a rate within a count":       {"count.messages: 5", []string{"rate=5"}, func(s Spec) bool { return s.Measure == "count" && s.Load.Rate == 5 }},
		"no rate within a count":      {"count.messages: 5\nproducerRate: 0", nil, func(s Spec) bool { return s.Measure == "count" && s.Load.Rate == 0 }},
		"a backlog that goes nowhere": {"consumerBacklogSizeGB: 2", nil, func(s Spec) bool { return !s.Backlog.KeepSending && s.Backlog.Bytes == 2<<30 }},
		"a backlog that goes on":      {"consumerBacklogSizeGB: 2\nproducerRate: 5", nil, func(s Spec) bool { return s.Backlog.KeepSending }},
		"OMB's warm-up":               {"testDurationMinutes: 2\nproducerRate: 5", nil, func(s Spec) bool { return s.Duration == seconds(120) && s.Warmup.For == seconds(60) }},
		"a shape that a search has no use for": {"load: {shape: steps, steps: [{rate: 1, for: 1s}]}", []string{"measure=sustainable"}, func(s Spec) bool {
			return s.Measure == "sustainable" && s.Load.Shape == "constant" && s.Load.Steps == nil
		}},
		"a shape that a search keeps": {"load: {shape: poisson, rate: 5}", []string{"measure=sustainable"}, func(s Spec) bool {
			return s.Measure == "sustainable" && s.Load.Shape == "poisson" && s.Load.Rate == 0
		}},
		"groups over a number": {"subscriptions: 1\nconsumers: 4", []string{"consumers=3+2"}, func(s Spec) bool {
			return s.SubscriptionsPerTopic == 2 && s.ConsumerPerSubscription.String() == "3+2"
		}},
		"a number over groups": {"subscriptions: [{consumers: 3}, {consumers: 2}]", []string{"consumers=4"}, func(s Spec) bool {
			return s.SubscriptionsPerTopic == 2 && s.ConsumerPerSubscription.String() == "4"
		}},
		"several sizes":  {"size: [{size: 20, weight: 3}, {size: 10, weight: 1}]", nil, func(s Spec) bool { return s.MessageSize.String() == "10:1,20:3" }},
		"an empty group": {"load:\nrate: 5", nil, func(s Spec) bool { return s.Load.Rate == 5 }},
	} {
		s := parse(t, c.doc)
		for _, x := range c.set {
			if err := s.Set(x); err != nil {
				t.Fatal(name, err)
			}
		}
		got, err := s.Points()
		if err != nil || len(got) != 1 || !c.ok(got[0].Spec) {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
}

// What completes a spec follows from the rest of it.
func TestDefaultsFollowTheOtherSettings(t *testing.T) {
	at := func(doc string) Spec { return one(t, doc).Spec }
	for doc, want := range map[string][2]int64{ // messages and bytes in flight
		"topics: 1":                         {10_000, 16 << 20},
		"topics: 4":                         {10_000, 16 << 20},
		"topics: 5\nproducers: 1":           {10_000, 64 << 20 / 5},
		"topics: 5\nproducers: 2":           {10_000, 64 << 20 / 10},
		"topics: 11":                        {100_000 / 11, 64 << 20 / 11},
		"topics: 1000\nsize: 1MiB":          {100, 1 << 20},
		"topics: 200000\nsize: 100":         {1, 335},
		"size: 8MiB":                        {10_000, 32 << 20},
		"size: 32MiB":                       {10_000, 128 << 20},
		"size: 33MiB":                       {10_000, 33 << 20},
		"topics: 8\nsize: 4MiB":             {10_000, 16 << 20},
		"topics: 9\nsize: 4MiB":             {10_000, 64 << 20 / 9},
		"inFlight.messages: 1\nsize: 32MiB": {1, 32 << 20},
		"inFlight.messages: 2\nsize: 32MiB": {2, 128 << 20},
	} {
		if s := at(doc); int64(s.InFlight.Messages) != want[0] || int64(s.InFlight.Bytes) != want[1] {
			t.Errorf("%q: %+v, want %v", doc, s.InFlight, want)
		}
	}
	for doc, want := range map[string]string{
		"measure: sustainable":                             "[{0s 0}]",
		"sustainable.latency: 1s":                          "[{1s 0.99}]",
		"sustainable: {latency: 1s, quantile: 0.5}":        "[{1s 0.5}]",
		"sustainable.goals: [{latency: 2s}, {}]":           "[{2s 0.99} {0s 0}]",
		"sustainable.goals: [{latency: 2s, quantile: .5}]": "[{2s 0.5}]",
	} {
		if got := fmt.Sprint(at(doc).Sustainable.Bounds()); got != want {
			t.Errorf("%q: bounds %s, want %s", doc, got, want)
		}
	}
	for doc, want := range map[string]int{
		"size: 100": 1000, "size: 16KiB": 1000, "size: 20KiB": 16 << 20 / (20 << 10), "size: 16MiB": 1, "size: 200MiB": 1,
		"size: [{size: 8, weight: 1}, {size: 20KiB, weight: 1}]": 16 << 20 / (40 << 10),
	} {
		if got := at(doc).RandomizedPayloadPoolSize; got != want {
			t.Errorf("%q: %d payloads, want %d", doc, got, want)
		}
	}
	for doc, want := range map[string]string{"rate: 5": "10s", "measure: peak": "1m", "measure: count": "2m", "measure: backlog": "10m", "rate: 5\ndrain: 7s": "7s"} {
		if got := at(doc).Drain.String(); got != want {
			t.Errorf("%q: drain %s, want %s", doc, got, want)
		}
	}
	for doc, want := range map[string][2]string{
		"rate: 5\nwarmup: auto":                        {"5s", "30s"},
		"rate: 5\nwarmup: {auto: true, for: 40s}":      {"40s", "40s"},
		"rate: 5\nwarmup: {auto: true, max: 60s}":      {"5s", "1m"},
		"testDurationMinutes: 1\nproducerRate: 5":      {"1m", "0s"},
		"count.messages: 5":                            {"0s", "0s"},
		"testDurationMinutes: 1\nbacklog.messages: 5":  {"0s", "0s"},
		"rate: 5\nwarmup.auto: true\nwarmup.max: 5s":   {"5s", "5s"},
		"measure: peak\nwarmup: auto\nwarmup.for: 1ms": {"1ms", "30s"},
	} {
		if s := at(doc); s.Warmup.For.String() != want[0] || s.Warmup.Max.String() != want[1] {
			t.Errorf("%q: warm-up %+v, want %v", doc, s.Warmup, want)
		}
	}
	for doc, want := range map[string]string{
		"broker: nats": "at-most-once memory none", "broker: redis-pubsub": "at-most-once memory none", "broker: kafka": "at-least-once log leader",
		"broker: kafka\nnodes: 3\nreplicas: 3": "at-least-once log quorum", "broker: kafka\ndelivery: at-most-once": "at-most-once log none",
		"broker: rabbitmq\ndelivery: at-most-once": "at-most-once memory none", "broker: rabbitmq": "at-least-once log leader", "broker: mosquitto": "at-least-once memory leader",
	} {
		if s := at(doc); strings.Join([]string{s.Delivery, s.Persistence, s.Acks}, " ") != want {
			t.Errorf("%q: %s %s %s, want %s", doc, s.Delivery, s.Persistence, s.Acks, want)
		}
	}
}

func TestValuesOfAnAxisAreCalledWhatTheySay(t *testing.T) {
	for axis, want := range map[string][]string{
		"load: [{rate: 5}, {rate: 6, shape: poisson}]":                         {"load=5", "load=load.rate=6 load.shape=poisson"},
		"broker: [kafka@4, nats]":                                              {"kafka@4", "nats"},
		"consumerBacklogSizeGB: [1, 2]":                                        {"backlog.bytes=1GiB", "backlog.bytes=2GiB"},
		"testDurationMinutes: [1, 2]":                                          {"duration=1m", "duration=2m"},
		"topics: {from: 1, to: 3, step: 1.5}":                                  nil,
		"randomBytesRatio: {from: 0.1, to: 0.3, step: 0.1}":                    {"randomBytesRatio=0.1", "randomBytesRatio=0.2", "randomBytesRatio=0.3"},
		"topics: {from: 1, to: 9, factor: 3}":                                  {"topics=1", "topics=3", "topics=9"},
		"topics: {from: 2, to: 9, step: 3}":                                    {"topics=2", "topics=5", "topics=8"},
		"size: {from: 1kB, to: 2kB, step: 500}":                                {"messageSize=1kB", "messageSize=1500", "messageSize=2kB"},
		"client.x: [1, 2.5]":                                                   {"client.x=1", "client.x=2.5"},
		"size: [[{size: 8, weight: 1}, {size: 9, weight: 2}], 100]":            {"messageSize=8:1,9:2", "messageSize=100"},
		"warmup: [auto, 3s]":                                                   {"warmup=auto", "warmup=3s"},
		"faults: [[{at: 1s, do: kill}], []]":                                   {"faults=1s kill", "faults="},
		"warmup: [{auto: true, max: 9s}, {for: 3s}]":                           {"warmup=warmup.auto=true warmup.max=9s", "warmup=3s"},
		"what: [{name: a, set: {rate: 5}}, {name: b, set: {measure: peak}}]":   {"a", "b"},
		"topics: [{name: few, set: {topics: 2}}, {name: m, set: {topics: 9}}]": {"few", "m"},
	} {
		extra := ""
		if strings.HasPrefix(axis, "test") || strings.HasPrefix(axis, "warm") || strings.HasPrefix(axis, "fau") {
			extra = "rate: 5\n"
		}
		all, err := points(extra + "axes: {" + axis + "}")
		var got []string
		for _, p := range all {
			got = append(got, p.Label)
		}
		if (err == nil) != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q: %v", axis, got, want, err)
		}
	}
}
