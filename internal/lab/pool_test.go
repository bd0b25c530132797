package lab

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestABrokerIsSharedByThePointsThatStartTheSame(t *testing.T) {
	base := study.Defaults()
	base.Broker, base.Isolation = "kafka", "shared"
	base.Server = map[string]any{"num.io.threads": 4, "log.dirs": "x"}
	for name, c := range map[string]struct {
		edit func(*study.Spec)
		same bool
	}{
		"another broker":       {func(s *study.Spec) { s.Broker = "rabbitmq" }, false},
		"another version":      {func(s *study.Spec) { s.Version = "3.9.2" }, false},
		"more nodes":           {func(s *study.Spec) { s.Nodes = 3 }, false},
		"TLS":                  {func(s *study.Spec) { s.TLS = "on" }, false},
		"server settings":      {func(s *study.Spec) { s.Server = map[string]any{"num.io.threads": 8, "log.dirs": "x"} }, false},
		"settings in order":    {func(s *study.Spec) { s.Server = map[string]any{"log.dirs": "x", "num.io.threads": 4} }, true},
		"client settings":      {func(s *study.Spec) { s.Client = map[string]any{"linger.ms": 5} }, true},
		"what is measured":     {func(s *study.Spec) { s.Measure, s.Seed = "peak", 9 }, true},
		"message and topology": {func(s *study.Spec) { s.Topics, s.MessageSize = 7, study.Sizes{{Size: 8, Weight: 1}} }, true},
	} {
		s := base
		c.edit(&s)
		if got := instanceKey(s) == instanceKey(base); got != c.same {
			t.Errorf("%s: shared %v, want %v", name, got, c.same)
		}
	}
}

func TestABrokerThatIsBrokenOnPurposeIsNotShared(t *testing.T) {
	s := study.Defaults()
	if shareable(s) {
		t.Error("isolation: fresh is shared")
	}
	if s.Isolation = "shared"; !shareable(s) {
		t.Error("isolation: shared isn't")
	}
	if s.Faults = []study.Fault{{Do: "pause"}}; shareable(s) {
		t.Error("a broker that is paused is shared")
	}
}

func TestFaultsBecomeATimetable(t *testing.T) {
	at := func(s float64) study.Duration { return study.Duration(s * float64(time.Second)) }
	for name, c := range map[string]struct {
		faults []study.Fault
		want   []faultAction
	}{
		"none":                       {nil, nil},
		"a pause that ends":          {[]study.Fault{{At: at(10), Do: "pause", Node: "1", For: at(3)}}, []faultAction{{10e9, "pause", "1", false}, {13e9, "resume", "1", true}}},
		"a kill that ends":           {[]study.Fault{{At: at(1), Do: "kill", Node: "leader", For: at(0.5)}}, []faultAction{{1e9, "kill", "leader", false}, {1.5e9, "restart", "leader", true}}},
		"a pause and its own resume": {[]study.Fault{{At: at(2), Do: "pause"}, {At: at(4), Do: "resume"}}, []faultAction{{2e9, "pause", "", false}, {4e9, "resume", "", false}}},
		"interleaved, in order of time": {
			[]study.Fault{{At: at(5), Do: "kill", Node: "2", For: at(10)}, {At: at(6), Do: "pause", Node: "1", For: at(1)}, {At: at(3), Do: "restart", Node: "3"}},
			[]faultAction{{3e9, "restart", "3", false}, {5e9, "kill", "2", false}, {6e9, "pause", "1", false}, {7e9, "resume", "1", true}, {15e9, "restart", "2", true}},
		},
		"at once, in the order written": {
			[]study.Fault{{At: at(1), Do: "kill", Node: "1"}, {At: at(1), Do: "restart", Node: "1"}},
			[]faultAction{{1e9, "kill", "1", false}, {1e9, "restart", "1", false}},
		},
	} {
		if got := actionsOf(c.faults); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A restart is a fault of its own, too: a record that was to have one must not look as if it had.
func TestEveryFaultOfTheSpecThatTheRunWasOverBeforeIsMissed(t *testing.T) {
	hour := study.Duration(time.Hour)
	f := newFaults(nil)
	for _, a := range actionsOf([]study.Fault{{At: hour, Do: "restart"}, {At: hour, Do: "kill", For: hour}, {At: hour, Do: "pause", For: hour}}) {
		f.miss(a)
	}
	if want := []string{"restart at 1h0m0s", "kill at 1h0m0s", "pause at 1h0m0s"}; !reflect.DeepEqual(f.missed, want) {
		t.Errorf("%q, want %q", f.missed, want)
	}
}

func TestABrokerIsStartedWithWhatTheGuaranteeNeedsOfIt(t *testing.T) {
	s := study.Defaults()
	s.Broker, s.Delivery, s.Persistence, s.Isolation = "nats-streaming", "at-least-once", "memory", "shared"
	synced := s
	synced.Persistence, synced.Server = "fsync", map[string]any{"max_payload": 9}
	settings, err := serverSettings(synced)
	want := map[string]any{"max_payload": 9, "streaming.store": "file", "streaming.file.sync": true}
	if err != nil || !reflect.DeepEqual(settings, want) {
		t.Errorf("%v, %v; want %v", settings, err, want)
	}
	if instanceKey(s) == instanceKey(synced) {
		t.Error("points that need different servers share one")
	}
	synced.Attach = []string{"127.0.0.1:4222"}
	if settings, _ := serverSettings(synced); len(settings) != 1 {
		t.Errorf("an attached broker was to be started with %v", settings)
	}
}

func TestOrderIsJudgedByKeyWhereConsumersShareAStream(t *testing.T) {
	for name, c := range map[string]struct {
		partitions, consumers int
		byKey                 bool
	}{"one consumer": {1, 1, false}, "partitions": {4, 1, true}, "several consumers": {1, 3, true}} {
		b := bench{spec: study.Defaults(), record: &store.Record{PointID: "0123456789"}}
		b.spec.PartitionsPerTopic, b.spec.ConsumerPerSubscription = c.partitions, study.Consumers{c.consumers}
		if got := b.plan().KeyOrdered; got != c.byKey {
			t.Errorf("%s: by key %v, want %v", name, got, c.byKey)
		}
	}
}

func TestEachSubscriptionHasTheConsumersThatItWasGiven(t *testing.T) {
	s := study.Defaults()
	s.Topics, s.SubscriptionsPerTopic, s.ConsumerPerSubscription = 2, 2, study.Consumers{3, 1}
	var got []string
	for _, c := range consumers(s) {
		got = append(got, fmt.Sprintf("topic %d, s%d: %d of %d", c.Topic, c.Subscription, c.ID, c.Of))
	}
	want := []string{
		"topic 0, s0: 0 of 3", "topic 0, s0: 1 of 3", "topic 0, s0: 2 of 3", "topic 0, s1: 0 of 1",
		"topic 1, s0: 0 of 3", "topic 1, s0: 1 of 3", "topic 1, s0: 2 of 3", "topic 1, s1: 0 of 1",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if n := s.ConsumersPerTopic(); n != 4 {
		t.Errorf("%d consumers of a topic, want 4", n)
	}
}

func TestARefusalIsTheSentenceAlone(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"by the driver": {
			fmt.Errorf("consumer 1 of subscription 0: consume from bm-1: %w", driver.Unsupported("consumerPerSubscription: 2", "each would get every message")),
			"consumerPerSubscription: 2 is not supported: each would get every message",
		},
		"by the recipe": {
			fmt.Errorf("start kafka: node 1: %w", &provision.ErrSetting{Name: "no.such", Reason: "unknown"}), `server setting "no.such": unknown`,
		},
	} {
		status, why := (&bench{}).ending(t.Context(), c.err)
		if status != store.Refused || why.Text != c.want {
			t.Errorf("%s: %s, %q; want refused, %q", name, status, why.Text, c.want)
		}
	}
}
