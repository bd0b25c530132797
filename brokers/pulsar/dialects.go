package pulsar

import (
	"fmt"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/internal/driver"
)

// dialects are client libraries whose settings are calls of builders (Java) or fields of structs (Go).
var dialects = []driver.Dialect{
	{Library: "Java", Words: 0, Comment: "//"},
	{Library: "Go (pulsar-client-go)", Words: 1, Comment: "//"},
}

// phrases are settings in the form of each library. Go has one option for the two settings of grouping acknowledgements.
func phrases(v driver.Values) []driver.Phrase {
	lasting := func(name string) map[string][]string { return lasts(v.Duration(name)) }
	sending := lasting("sendTimeout")
	sending["0s"] = []string{"0, TimeUnit.SECONDS", "-1"} // never; Go's 0 is 30 s
	gathered := v.Int("ackGroupingMaxSize")
	if v.Duration("ackGroupingTime") == 0 {
		gathered = 1
	}
	return []driver.Phrase{
		{Setting: "operationTimeout", Sides: driver.Connecting, Words: []string{".operationTimeout(%s)", "OperationTimeout: %s,"}, Values: lasting("operationTimeout")},
		{Setting: "connectionTimeout", Sides: driver.Connecting, Words: []string{".connectionTimeout(%s)", "ConnectionTimeout: %s,"}, Values: lasting("connectionTimeout")},
		{Setting: "keepAliveInterval", Sides: driver.Connecting, Words: []string{".keepAliveInterval(%s)", "KeepAliveInterval: %s,"}, Values: lasting("keepAliveInterval")},
		{Setting: "connectionsPerBroker", Sides: driver.Connecting, Words: []string{".connectionsPerBroker(%s)", "MaxConnectionsPerBroker: %s,"}},
		{
			Setting: "memoryLimitBytes", Sides: driver.Connecting, Words: []string{".memoryLimit(%s, SizeUnit.BYTES)", "MemoryLimitBytes: %s,"},
			Values: map[string][]string{"0": {"0", "-1"}}, // no limit
		},
		{Setting: "batchingEnabled", Sides: driver.Producing, Words: []string{".enableBatching(%s)", "DisableBatching: %s,"}, Values: map[string][]string{"true": {"true", "false"}, "false": {"false", "true"}}},
		{Setting: "batchingMaxPublishDelay", Sides: driver.Producing, Words: []string{".batchingMaxPublishDelay(%s)", "BatchingMaxPublishDelay: %s,"}, Values: lasting("batchingMaxPublishDelay")},
		{Setting: "batchingMaxMessages", Sides: driver.Producing, Words: []string{".batchingMaxMessages(%s)", "BatchingMaxMessages: %s,"}},
		{Setting: "batchingMaxSize", Sides: driver.Producing, Words: []string{".batchingMaxBytes(%s)", "BatchingMaxSize: %s,"}},
		{Setting: "batchBuilder", Sides: driver.Producing, Words: []string{".batcherBuilder(BatcherBuilder.%s)", "BatcherBuilderType: pulsar.%s,"}, Values: map[string][]string{
			"DEFAULT": {"DEFAULT", "DefaultBatchBuilder"}, "KEY_BASED": {"KEY_BASED", "KeyBasedBatchBuilder"},
		}},
		{Setting: "compressionType", Sides: driver.Producing, Words: []string{".compressionType(CompressionType.%s)", "CompressionType: pulsar.%s,"}, Values: map[string][]string{
			"NONE": {"NONE", "NoCompression"}, "LZ4": {"LZ4", "LZ4"}, "ZLIB": {"ZLIB", "ZLib"}, "ZSTD": {"ZSTD", "ZSTD"}, "SNAPPY": {"SNAPPY", "SNAPPY"},
		}},
		{Setting: "maxPendingMessages", Sides: driver.Producing, Words: []string{".maxPendingMessages(%s)", "MaxPendingMessages: %s,"}},
		{Setting: "sendTimeout", Sides: driver.Producing, Words: []string{".sendTimeout(%s)", "SendTimeout: %s,"}, Values: sending},
		{Setting: "subscriptionType", Sides: driver.Consuming, Words: []string{".subscriptionType(SubscriptionType.%s)", "Type: pulsar.%s,"}, Values: map[string][]string{
			"Key_Shared": {"Key_Shared", "KeyShared"},
		}},
		{Setting: "receiverQueueSize", Sides: driver.Consuming, Words: []string{".receiverQueueSize(%s)", "ReceiverQueueSize: %s,"}},
		{
			Setting: "ackGroupingTime", Sides: driver.Consuming, Values: lasting("ackGroupingTime"),
			Words: []string{".acknowledgmentGroupTime(%s)", fmt.Sprintf("AckGroupingOptions: &pulsar.AckGroupingOptions{MaxTime: %%s, MaxSize: %d},", gathered)},
		},
		{Setting: "ackGroupingMaxSize", Sides: driver.Consuming, Words: []string{".maxAcknowledgmentGroupSize(%s)", driver.NoLine}},
	}
}

// lasts maps a duration to its form in each library.
func lasts(d time.Duration) map[string][]string {
	units := []struct {
		length       time.Duration
		java, golang string
	}{{time.Millisecond, "MILLISECONDS", "Millisecond"}, {time.Microsecond, "MICROSECONDS", "Microsecond"}, {1, "NANOSECONDS", "Nanosecond"}}
	for _, u := range units {
		if d%u.length == 0 {
			n := int64(d / u.length)
			return map[string][]string{d.String(): {fmt.Sprintf("%d, TimeUnit.%s", n, u.java), fmt.Sprintf("%d * time.%s", n, u.golang)}}
		}
	}
	return nil // no duration is a fraction of a nanosecond
}

// elsewhere are client settings without a counterpart in other libraries: the use of the client by this driver, and the place of
// its topics.
var elsewhere = []string{"mode", "consumer.ack", "transactions", tenantSetting, namespaceSetting, "webServiceUrl"}

// pasted implements driver.Kind.Pasted, with the effective values of auto. It leaves out settings without effect.
func pasted(g driver.Guarantee, v driver.Values, _ int) []driver.Pasted {
	inForce := driver.InForce(settings, g, v)
	inForce["subscriptionType"] = subscriptionNames[subscriptionType(g, v)]
	if _, batched := inForce["batchBuilder"]; batched {
		inForce["batchBuilder"] = "DEFAULT"
		if producerOptions(g, v, 1).BatcherBuilderType == client.KeyBasedBatchBuilder {
			inForce["batchBuilder"] = "KEY_BASED"
		}
	}
	if v.Int("maxPendingMessages") == 0 { // the run's window bounds the client's queue
		delete(inForce, "maxPendingMessages")
	}
	return driver.Paste(dialects, phrases(v), inForce)
}
