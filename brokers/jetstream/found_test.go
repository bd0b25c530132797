package jetstream

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestAStreamOfAnotherApplicationStaysUnchanged(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "jetstream"})
	for _, ordering := range []driver.Ordering{driver.Unordered, driver.Ordered} {
		g := livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, ordering)
		t.Run(string(ordering), func(t *testing.T) {
			drivertest.Found(t, drivertest.Suite{Kind: livetest.Kind(t, "jetstream")}, target, g, nil)
		})
	}
	conn, err := nats.Connect("nats://" + target.Addresses[0])
	livetest.Must(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	livetest.Must(t, err)
	for _, c := range []struct {
		stream   jetstream.StreamConfig
		topic    string
		ordering driver.Ordering
		refused  string
	}{
		{jetstream.StreamConfig{Name: "MANY", Subjects: []string{"many.>"}}, "many.a", driver.Unordered, ""},
		{jetstream.StreamConfig{Name: "MANY", Subjects: []string{"many.>"}}, "many.a", driver.Ordered, "topicName: many.a"},
		{jetstream.StreamConfig{Name: "WORK", Subjects: []string{"work"}, Retention: jetstream.WorkQueuePolicy}, "work", driver.Unordered, "topicName: work"},
		{jetstream.StreamConfig{Name: "MEMORY", Subjects: []string{"memory"}, Storage: jetstream.MemoryStorage}, "memory", driver.Unordered, "persistence: log"},
	} {
		before, err := js.CreateOrUpdateStream(t.Context(), c.stream)
		livetest.Must(t, err)
		config := livetest.Config(t, "jetstream", target, livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, c.ordering), nil, nil)
		topology := livetest.Topic(c.topic, 1, "s")
		topology.Found = true
		err = livetest.SetupError(t, "jetstream", config, topology)
		if c.refused != "" {
			livetest.Refused(t, err, c.refused)
		} else {
			livetest.Must(t, err)
		}
		after, err := js.Stream(t.Context(), c.stream.Name)
		livetest.Must(t, err)
		if a, b := after.CachedInfo(), before.CachedInfo(); a.Config.MaxMsgs != b.Config.MaxMsgs || !a.Created.Equal(b.Created) || len(a.Config.Subjects) != 1 || a.State.Consumers != map[bool]int{true: 1}[c.refused == ""] && c.stream.Name != "MANY" {
			t.Errorf("stream %s was %+v and is %+v", c.stream.Name, b, a)
		}
	}
}
