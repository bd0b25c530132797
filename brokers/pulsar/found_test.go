package pulsar

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestATopicOfAnotherApplicationStaysUnchanged(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "pulsar", Server: small(nil)})
	drivertest.Found(t, drivertest.Suite{Kind: livetest.Kind(t, "pulsar")}, target, atLeast, func(made driver.Topology) string {
		return publicTenant + "/" + namespaceOf(made) + "/" + made.Topics[0].Name
	})
	config := livetest.Config(t, "pulsar", target, atLeast, nil, nil)
	kept := livetest.Topic("kept", 1, "s")
	owner := livetest.SetUp(t, "pulsar", config, kept)
	defer func() { livetest.Must(t, owner.(driver.Cleaner).Clean(t.Context())) }()
	for name, c := range map[string]struct {
		partitions int
		refused    string
	}{
		"persistent://public/default/none":                   {1, "topicName: persistent://public/default/none"},
		"public/" + namespaceOf(kept) + "/kept":              {2, "partitionsPerTopic: 2"},
		"persistent://public/" + namespaceOf(kept) + "/none": {1, "topicName: persistent://public/" + namespaceOf(kept) + "/none"},
	} {
		topology := livetest.Topic(name, c.partitions, "s")
		topology.Found = true
		livetest.Refused(t, livetest.SetupError(t, "pulsar", config, topology), c.refused)
	}
}
