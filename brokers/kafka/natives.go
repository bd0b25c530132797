package kafka

import (
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/internal/driver"
)

// natives reads the native settings from the options of a producer and from the topic's configuration.
func natives(g driver.Guarantee) []driver.Native {
	defaults, _ := driver.Decode(settings, driver.ClientScope, nil)
	topic, _ := driver.Decode(settings, driver.TopicScope, nil)
	list := producerNatives(g, defaults)
	consumer := func(name, value string) {
		list = append(list, driver.Native{Side: driver.ConsumerSide, Name: name, Value: value})
	}
	consumer("enable.auto.commit", strconv.FormatBool(defaults.Bool("enable.auto.commit")))
	consumer("auto.commit.interval.ms", strconv.FormatInt(defaults.Int("auto.commit.interval.ms"), 10))
	switch g.Delivery {
	case driver.AtMostOnce:
		consumer("offset marked before delivery", "")
	case driver.AtLeastOnce:
		consumer("offset marked after delivery", "")
	case driver.ExactlyOnce:
		consumer("isolation.level", "read_committed")
		consumer("offset marked after delivery, none delivered twice", "")
	}
	list = append(list, driver.Native{Side: driver.TopicSide, Name: "replication.factor", Value: strconv.Itoa(max(1, g.Replicas))})
	configs, err := topicConfigs(driver.Config{Guarantee: g, Topic: topic})
	if err != nil {
		return list
	}
	for _, name := range []string{"min.insync.replicas", "flush.messages"} {
		if value := configs[name]; value != nil {
			list = append(list, driver.Native{Side: driver.TopicSide, Name: name, Value: *value})
		}
	}
	return list
}

func producerNatives(g driver.Guarantee, defaults driver.Values) []driver.Native {
	client, err := kgo.NewClient(slices.Concat(producerOptions(g, defaults), []kgo.Opt{kgo.DisableClientMetrics()})...) // connects to nothing
	if err != nil {
		return nil
	}
	defer client.Close()
	var list []driver.Native
	producer := func(name, value string) {
		list = append(list, driver.Native{Side: driver.ProducerSide, Name: name, Value: value})
	}
	producer("acks", map[any]string{kgo.NoAck(): "0", kgo.LeaderAck(): "1", kgo.AllISRAcks(): "all"}[client.OptValue(kgo.RequiredAcks)])
	retries, _ := client.OptValue(kgo.RecordRetries).(int64)
	producer("retries", strconv.FormatInt(retries, 10))
	single, _ := client.OptValue(kgo.DisableIdempotentWrite).(bool)
	producer("enable.idempotence", strconv.FormatBool(!single))
	if single {
		window, _ := client.OptValue(kgo.MaxProduceRequestsInflightPerBroker).(int)
		producer("max.in.flight.requests.per.connection", strconv.Itoa(window))
	}
	if g.Delivery == driver.ExactlyOnce {
		producer("transactional.id", "TOPIC.N")
	}
	if g.Ordering == driver.Ordered {
		producer("one partition per producer or key", "")
	}
	return list
}
