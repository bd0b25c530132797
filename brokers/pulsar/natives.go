package pulsar

import (
	"fmt"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/internal/driver"
)

// natives reads the native settings from the policies and options of a run.
func natives(g driver.Guarantee) []driver.Native {
	v, _ := driver.Decode(settings, driver.ClientScope, nil)
	topic, _ := driver.Decode(settings, driver.TopicScope, nil)
	s := &session{config: driver.Config{Guarantee: g, Client: v, Topic: topic}}
	var list []driver.Native
	add := func(side driver.Side, name string, value any) {
		list = append(list, driver.Native{Side: side, Name: name, Value: fmt.Sprint(value)})
	}
	if g.Delivery == driver.AtMostOnce {
		add(driver.ProducerSide, "no reconnecting", "")
	} else {
		add(driver.ProducerSide, "sendTimeout", max(0, producerOptions(g, v, 1).SendTimeout))
	}
	if g.Acks == driver.AcksNone {
		add(driver.ProducerSide, "SendAsync, its answer ignored", "")
	}
	if g.Ordering == driver.Ordered {
		add(driver.ProducerSide, "one partition per producer or key", "")
	}
	add(driver.ConsumerSide, "subscriptionType", subscriptionNames[subscriptionType(g, v)])
	switch {
	case g.Persistence == driver.Memory:
		add(driver.TopicSide, "non-persistent://", "")
		return list
	case g.Delivery == driver.AtMostOnce:
		add(driver.ConsumerSide, "acknowledged before delivery, no place delivered twice", "")
	case g.Delivery == driver.AtLeastOnce:
		add(driver.ConsumerSide, "acknowledged after delivery", "")
	case g.Delivery == driver.ExactlyOnce:
		add(driver.ConsumerSide, "acknowledged after delivery, no place delivered twice", "")
	}
	policies := s.policies()
	storage := policies["persistence"].(map[string]any)
	for _, name := range []string{"bookkeeperEnsemble", "bookkeeperWriteQuorum", "bookkeeperAckQuorum"} {
		add(driver.TopicSide, name, storage[name])
	}
	add(driver.TopicSide, "deduplicationEnabled", policies["deduplicationEnabled"])
	add(driver.ServerSide, journalSync, g.Persistence == driver.Fsync)
	return list
}

var subscriptionNames = map[client.SubscriptionType]string{
	client.Exclusive: "Exclusive", client.Shared: "Shared", client.Failover: "Failover", client.KeyShared: "Key_Shared",
}
