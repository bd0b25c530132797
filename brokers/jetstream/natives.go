package jetstream

import (
	"slices"
	"strconv"

	"github.com/brokermark/brokermark/internal/driver"
)

// natives reads the settings from the configuration of stream and consumer that Setup would send.
func natives(g driver.Guarantee) []driver.Native {
	topic, _ := driver.Decode(topicSettings, driver.TopicScope, nil)
	client, _ := driver.Decode(slices.Concat(clientSettings, topicSettings), driver.ClientScope, nil)
	policy, _ := ackPolicy(g, client)
	s := &session{config: driver.Config{Guarantee: g, Topic: topic, Client: client}, policy: policy, subscriptions: []string{"s"}}
	stream, consumer := s.streamConfig("t", "t"), s.consumerConfig("s")
	list := []driver.Native{
		{Side: driver.ProducerSide, Name: map[bool]string{true: "publish without reply", false: "publish with acknowledgement"}[g.Delivery == driver.AtMostOnce]},
		{Side: driver.ConsumerSide, Name: "ack_policy", Value: consumer.AckPolicy.String()},
		{Side: driver.TopicSide, Name: "storage", Value: stream.Storage.String()},
		{Side: driver.TopicSide, Name: "num_replicas", Value: strconv.Itoa(stream.Replicas)},
	}
	if g.Delivery == driver.AtMostOnce {
		list = append(list, driver.Native{Side: driver.ConsumerSide, Name: "no sequence delivered twice"})
	}
	if g.Delivery == driver.ExactlyOnce {
		list = append(list,
			driver.Native{Side: driver.ProducerSide, Name: "Nats-Msg-Id"},
			driver.Native{Side: driver.ConsumerSide, Name: "DoubleAck, no sequence delivered twice"},
			driver.Native{Side: driver.TopicSide, Name: "duplicate_window", Value: stream.Duplicates.String()})
	}
	if g.Ordering == driver.Ordered && g.Delivery != driver.AtMostOnce {
		list = append(list, driver.Native{Side: driver.ConsumerSide, Name: "set back to the first missing sequence", When: "ordered"})
	}
	if g.Persistence == driver.Fsync {
		list = append(list, driver.Native{Side: driver.ServerSide, Name: syncSetting, Value: syncAlways})
	}
	return list
}
