package jetstream

import (
	"slices"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/driver"
)

// dialects are client libraries whose settings are arguments of calls.
var dialects = []driver.Dialect{
	{Library: "Java (jnats)", Words: 0, Comment: "//"},
	{Library: "Go (nats.go)", Words: 1, Comment: "//"},
}

// phrases are settings in the form of each library, with times in milliseconds.
func phrases(fetching bool) []driver.Phrase {
	atOnce := []string{"ConsumeOptions.builder().batchSize(%s)", "jetstream.PullMaxMessages(%s)"}
	bytes := []string{"ConsumeOptions.builder().batchBytes(%s)", "jetstream.PullMaxBytes(%s)"}
	expiry := []string{"ConsumeOptions.builder().expiresIn(%s)", "jetstream.PullExpiry(%s * time.Millisecond)"}
	beats := []string{"", "jetstream.PullHeartbeat(%s * time.Millisecond)"}
	if fetching {
		atOnce = []string{"FetchConsumeOptions.builder().maxMessages(%s)", "consumer.Fetch(%s)"}
		bytes = []string{"FetchConsumeOptions.builder().maxBytes(%s)", "jetstream.FetchMaxBytes(%s)"}
		expiry = []string{"FetchConsumeOptions.builder().expiresIn(%s)", "jetstream.FetchMaxWait(%s * time.Millisecond)"}
		beats[1] = "jetstream.FetchHeartbeat(%s * time.Millisecond)"
	}
	return []driver.Phrase{
		{Setting: "WriteBufferSize", Sides: driver.Connecting, Words: []string{"Options.builder().bufferSize(%s)", "nats.WriteBufferSize(%s)"}},
		{Setting: "ReconnectBufSize", Sides: driver.Connecting, Words: []string{"Options.builder().reconnectBufferSize(%s)", "nats.ReconnectBufSize(%s)"}, Values: map[string][]string{"-1": {"0", "-1"}, "0": {"0", "-1"}}},
		{Setting: "ReconnectWait", Sides: driver.Connecting, Words: []string{"Options.builder().reconnectWait(Duration.ofMillis(%s))", "nats.ReconnectWait(%s * time.Millisecond)"}},
		{Setting: "PingInterval", Sides: driver.Connecting, Words: []string{"Options.builder().pingInterval(Duration.ofMillis(%s))", "nats.PingInterval(%s * time.Millisecond)"}},
		{
			Setting: "PublishAsyncTimeout", Sides: driver.Producing, Words: []string{"", "jetstream.WithPublishAsyncTimeout(%s * time.Millisecond)"},
			Else: "the application sends again what is not confirmed after so many ms",
		},
		{Setting: "Nats-Msg-Id", Sides: driver.Producing, Words: []string{"PublishOptions.builder().messageId(…) // %s", "jetstream.WithMsgID(…) // %s"}},
		{Setting: "consumer", Sides: driver.Consuming, Words: []string{"%s", "%s"}, Values: map[string][]string{
			durable: {"ConsumerConfiguration.builder().durable(…)", "jetstream.ConsumerConfig{Durable: …}"},
			ordered: {"streamContext.createOrderedConsumer(new OrderedConsumerConfiguration())", "stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})"},
		}},
		{Setting: "AckPolicy", Sides: driver.Consuming, Words: []string{"ConsumerConfiguration.builder().ackPolicy(AckPolicy.%s)", "jetstream.ConsumerConfig{AckPolicy: jetstream.%sPolicy}"}, Values: map[string][]string{
			"AckExplicit": {"Explicit", "AckExplicit"}, "AckAll": {"All", "AckAll"}, "AckNone": {"None", "AckNone"},
		}},
		{Setting: "AckWait", Sides: driver.Consuming, Words: []string{"ConsumerConfiguration.builder().ackWait(%s)", "jetstream.ConsumerConfig{AckWait: %s * time.Millisecond}"}},
		{Setting: "MaxAckPending", Sides: driver.Consuming, Words: []string{"ConsumerConfiguration.builder().maxAckPending(%s)", "jetstream.ConsumerConfig{MaxAckPending: %s}"}},
		{Setting: "consume", Sides: driver.Consuming, Words: []string{"%s", "%s"}, Values: map[string][]string{
			callback: {"consumerContext.consume(consumeOptions, handler)", "consumer.Consume(handler, options...)"},
			fetch:    {"consumerContext.fetch(fetchConsumeOptions)", driver.NoLine},
		}},
		{Setting: "PullMaxMessages", Sides: driver.Consuming, Words: atOnce},
		{Setting: "PullMaxBytes", Sides: driver.Consuming, Words: bytes},
		{Setting: "PullExpiry", Sides: driver.Consuming, Words: expiry},
		{Setting: "PullHeartbeat", Sides: driver.Consuming, Words: beats, Else: "jnats derives it from the expiry"},
	}
}

// elsewhere are client settings without a counterpart in other libraries: the use of the client by this driver, and its
// monitoring address.
var elsewhere = []string{"mode", "consumer.ack", "monitor"}

// pasted implements driver.Kind.Pasted, with the effective values of auto. It leaves out settings without effect.
func pasted(g driver.Guarantee, v driver.Values, _ int) []driver.Pasted {
	inForce := driver.InForce(slices.Concat(clientSettings, natsio.ClientSettings), g, v)
	for name, value := range inForce {
		if t, ok := value.(time.Duration); ok {
			inForce[name] = max(1, t.Milliseconds())
		}
	}
	policy, _ := ackPolicy(g, v)
	inForce["AckPolicy"] = policy.String()
	if g.Delivery == driver.ExactlyOnce {
		inForce["Nats-Msg-Id"] = "one for each message"
	}
	if v.Int("PullMaxBytes") == 0 {
		delete(inForce, "PullMaxBytes")
	}
	return driver.Paste(dialects, phrases(v.String("consume") == fetch), inForce)
}
