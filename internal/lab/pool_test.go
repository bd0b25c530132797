package lab

import (
	"reflect"
	"testing"

	"github.com/brokermark/brokermark/internal/study"
)

func TestPointsWithTheSameServerShareABroker(t *testing.T) {
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
		if got := SharedBroker(s) == SharedBroker(base); got != c.same {
			t.Errorf("%s: shared %v, want %v", name, got, c.same)
		}
	}
}

func TestABrokerThatIsBrokenOnPurposeIsNotShared(t *testing.T) {
	s := study.Defaults()
	s.Broker = "kafka"
	if SharedBroker(s) != "" {
		t.Error("isolation: fresh is shared")
	}
	if s.Isolation = "shared"; SharedBroker(s) == "" {
		t.Error("isolation: shared isn't")
	}
	if s.Faults = []study.Fault{{Do: "pause"}}; SharedBroker(s) != "" {
		t.Error("a broker that is paused is shared")
	}
}

func TestABrokerIsStartedWithTheSettingsThatTheGuaranteeNeeds(t *testing.T) {
	s := study.Defaults()
	s.Broker, s.Delivery, s.Persistence, s.Isolation = "nats-streaming", "at-least-once", "memory", "shared"
	synced := s
	synced.Persistence, synced.Server = "fsync", map[string]any{"max_payload": 9}
	settings, err := serverSettings(synced)
	want := map[string]any{"max_payload": 9, "streaming.store": "file", "streaming.file.sync": true}
	if err != nil || !reflect.DeepEqual(settings, want) {
		t.Errorf("%v, %v; want %v", settings, err, want)
	}
	if SharedBroker(s) == SharedBroker(synced) {
		t.Error("points that need different servers share one")
	}
	synced.Attach = []string{"127.0.0.1:4222"}
	if settings, _ := serverSettings(synced); len(settings) != 1 {
		t.Errorf("an attached broker was to be started with %v", settings)
	}
}
