package pulsar

import (
	"fmt"
	"math"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/backoff"

	"github.com/brokermark/brokermark/internal/driver"
)

// leaked is why there are no transactions (decision 048).
const leaked = "consumers would receive the messages of aborted transactions until apache/pulsar-client-go issue 1498 is mended"

// settings have the names of Pulsar's own clients and policies.
var settings = []driver.Setting{
	driver.ModeSetting("messages are used again, the consumer's channel has room for receiverQueueSize messages instead of 10, and what has come is handed over together"),
	driver.AckSetting().IdleWhere(unkept),
	clientSetting("batchingEnabled", true, "send several messages as one entry"),
	clientSetting("batchingMaxPublishDelay", time.Millisecond, "how long a batch waits for more messages").IdleWhere(unbatched).In(driver.Batching).Trying("5ms", "20ms"),
	clientSetting("batchingMaxMessages", int64(1000), "most messages in a batch").IdleWhere(unbatched).In(driver.Batching).Trying("100", "10000"),
	clientSetting("batchingMaxSize", int64(128<<10), "largest batch before compression, bytes; a larger message goes alone").IdleWhere(unbatched).In(driver.Batching),
	clientSetting("batchBuilder", "auto", "which messages share a batch; auto: keys are kept apart with Key_Shared", "auto", "DEFAULT", "KEY_BASED").IdleWhere(unbatched),
	clientSetting("compressionType", "NONE", "compression of batches by the producer", "NONE", "LZ4", "ZLIB", "ZSTD", "SNAPPY").Trying("LZ4", "ZSTD"),
	clientSetting("maxPendingMessages", int64(0), "messages of one producer and partition that may wait for an answer; 0: the run's own window").In(driver.Publishing),
	clientSetting("memoryLimitBytes", int64(0), "bytes that may wait for an answer, per producer; 0: no limit but the run's window").In(driver.Publishing),
	clientSetting("sendTimeout", time.Duration(0), "a message without an answer after this time has failed; 0: never"),
	clientSetting("subscriptionType", "auto", "how consumers share a subscription; auto: Failover when ordered, else Shared", "auto", "Exclusive", "Shared", "Failover", "Key_Shared"),
	clientSetting("receiverQueueSize", int64(1000), "messages a consumer asks for ahead, per partition").In(driver.Prefetching).Trying("100", "10000"),
	clientSetting("ackGroupingTime", 100*time.Millisecond, "how long acknowledgements are gathered; 0: each is sent at once").In(driver.Acknowledging).Trying("10ms"),
	clientSetting("ackGroupingMaxSize", int64(1000), "how many acknowledgements are gathered at most").IdleWhere(ungrouped).In(driver.Acknowledging),
	clientSetting("transactions", false, "send in transactions; true is refused: "+leaked),
	clientSetting("operationTimeout", 3*time.Second, "how long lookups, subscribing and closing wait for an answer"),
	clientSetting("connectionTimeout", 5*time.Second, "how long connecting may take"),
	clientSetting("keepAliveInterval", 30*time.Second, "how often the broker is asked whether it lives; silent for two of them, its connection is given up"),
	clientSetting("connectionsPerBroker", int64(1), "connections of one producer or consumer to each broker").Trying("2"),
	clientSetting(tenantSetting, publicTenant, "the tenant in which the run makes its namespace"),
	clientSetting(namespaceSetting, "", "a namespace of the tenant that is there, for the topics; its policies have to be those of the guarantee. Empty: the run makes one"),
	clientSetting("webServiceUrl", "", "the admin interface; empty: what the broker was started with, or port 8080 (TLS: 8443) of its address"),

	policy("numBundles", int64(4), int64(1), "parts of the namespace, which brokers share among them"),
	policy("retentionTimeInMinutes", int64(0), int64(-1), "how long messages stay after every subscription has acknowledged them; -1: for ever").IdleWhere(unkept),
	policy("retentionSizeInMB", int64(0), int64(-1), "how much of them stays; -1: all").IdleWhere(unkept),
	policy("messageTTLInSeconds", int64(0), int64(0), "after which time a message counts as acknowledged; 0: never").IdleWhere(unkept),
	policy("maxUnackedMessagesPerConsumer", int64(-1), int64(-1), "delivered and not acknowledged, with Shared; 0: no limit, -1: the broker's setting").IdleWhere(unkept),
	policy("maxUnackedMessagesPerSubscription", int64(-1), int64(-1), "the same for all consumers of a subscription").IdleWhere(unkept),
	policy("backlogQuota.limitSize", int64(-1), int64(-1), "bytes that may wait to be acknowledged; -1: the broker's setting. The broker looks every backlogQuotaCheckIntervalInSeconds (a server setting, 60)").IdleWhere(unkept),
	{
		Scope: driver.TopicScope, Name: "backlogQuota.policy", Default: "producer_request_hold", Doc: "what happens beyond the quota: producers wait, they fail, or the oldest messages go",
		Allowed: []string{"producer_request_hold", "producer_exception", "consumer_backlog_eviction"}, Idle: unquoted,
	},
	policy("managedLedgerMaxMarkDeleteRate", 1.0, 0.0, "how often a second the place of a subscription is stored").IdleWhere(unkept),
}

func clientSetting(name string, value any, doc string, allowed ...string) driver.Setting {
	return driver.Setting{Scope: driver.ClientScope, Name: name, Default: value, Allowed: allowed, Doc: doc}
}

func unbatched(_ driver.Guarantee, v driver.Values) string {
	return driver.If(!v.Bool("batchingEnabled"), "batchingEnabled is false")
}

func ungrouped(_ driver.Guarantee, v driver.Values) string {
	return driver.If(v.Duration("ackGroupingTime") == 0, "with ackGroupingTime: 0s each acknowledgement is sent at once")
}

func unkept(g driver.Guarantee, _ driver.Values) string {
	return driver.If(g.Persistence == driver.Memory, "a non-persistent topic keeps no message and no place of a subscription")
}

func unquoted(g driver.Guarantee, v driver.Values) string {
	if v.Int("backlogQuota.limitSize") < 0 {
		return "backlogQuota.limitSize sets no limit"
	}
	return unkept(g, v)
}

// keeps implements driver.Kind.Keeps. The backlog is cut down to nine tenths of the quota, entry by entry, and an entry may be a
// whole batch.
func keeps(client, topic driver.Values, size int64) driver.Limit {
	const beside = 512 // the most bytes stored beside a payload
	var limit driver.Limit
	if n := topic.Int("messageTTLInSeconds"); n > 0 {
		limit = driver.OldAge("messageTTLInSeconds", n, time.Duration(n)*time.Second)
	}
	quota := topic.Int("backlogQuota.limitSize")
	if quota < 0 || topic.String("backlogQuota.policy") != "consumer_backlog_eviction" {
		return limit
	}
	stays := quota / 10 * 9
	if client.Bool("batchingEnabled") {
		stays -= client.Int("batchingMaxSize")
	}
	return limit.Least(driver.Limit{Setting: fmt.Sprintf("topicConfig.backlogQuota.limitSize: %d", quota), Messages: max(0, stays) / (size + beside)})
}

func policy(name string, value, least any, doc string) driver.Setting {
	return driver.Setting{Scope: driver.TopicScope, Name: name, Default: value, Least: least, Doc: doc}
}

var (
	compressions = map[string]client.CompressionType{"NONE": client.NoCompression, "LZ4": client.LZ4, "ZLIB": client.ZLib, "ZSTD": client.ZSTD, "SNAPPY": client.SNAPPY}
	types        = map[string]client.SubscriptionType{"Exclusive": client.Exclusive, "Shared": client.Shared, "Failover": client.Failover, "Key_Shared": client.KeyShared}
)

// checkClient refuses client settings that contradict the guarantee or each other.
func checkClient(g driver.Guarantee, v driver.Values) error {
	kind, builder := v.String("subscriptionType"), v.String("batchBuilder")
	switch {
	case v.Bool("transactions"):
		return driver.Unsupported("client.transactions: true", leaked+"; delivery: exactly-once works without them, by deduplication")
	case kind == "Shared" && g.Ordering == driver.Ordered:
		return driver.Unsupported("client.subscriptionType: Shared", "its consumers take turns, which keeps no order")
	case kind == "Key_Shared" && builder == "DEFAULT" && v.Bool("batchingEnabled"):
		return driver.Unsupported("client.batchBuilder: DEFAULT", "Key_Shared hands out batches whole, so one must not hold several keys")
	case g.Delivery == driver.ExactlyOnce && v.Duration("sendTimeout") > 0:
		return driver.Unsupported("client.sendTimeout", "the broker recognises only what the client itself sends again; exactly-once needs 0")
	case g.Delivery == driver.AtMostOnce && v.Int("maxPendingMessages") > 0:
		return driver.Unsupported("client.maxPendingMessages", "at most once nothing waits in the client; the run's window is the limit")
	case v.Duration("batchingMaxPublishDelay") <= 0:
		return driver.Unsupported("client.batchingMaxPublishDelay: 0s", "the client would take 0 for 10ms; ask for 1ns, or batchingEnabled: false")
	case v.Duration("connectionTimeout") <= 0:
		return driver.Unsupported("client.connectionTimeout: 0s", "the client would take 0 for 10s")
	case v.Duration("operationTimeout") <= 0 || v.Duration("keepAliveInterval") <= 0:
		return driver.Unsupported("client.operationTimeout and keepAliveInterval", "they must be longer than 0s")
	}
	for name, least := range map[string]int64{"batchingMaxMessages": 1, "batchingMaxSize": 1, "receiverQueueSize": 1, "connectionsPerBroker": 1} {
		if n := v.Int(name); n < least {
			return driver.Unsupported("client."+name, "%d is less than %d", n, least)
		}
	}
	for name, value := range v {
		if n, number := value.(int64); number && (n < 0 || n > math.MaxInt32) {
			return driver.Unsupported("client."+name, "%d is not between 0 and %d", n, math.MaxInt32)
		}
	}
	return nil
}

// producerOptions maps guarantee and settings to the client's options, except the topic.
func producerOptions(g driver.Guarantee, v driver.Values, inFlight int) client.ProducerOptions {
	o := client.ProducerOptions{
		DisableBatching: !v.Bool("batchingEnabled"), BatchingMaxPublishDelay: v.Duration("batchingMaxPublishDelay"),
		BatchingMaxMessages: uint(v.Int("batchingMaxMessages")), BatchingMaxSize: uint(v.Int("batchingMaxSize")),
		CompressionType:    compressions[v.String("compressionType")],
		MaxPendingMessages: int(v.Int("maxPendingMessages")), SendTimeout: v.Duration("sendTimeout"),
		PartitionsAutoDiscoveryInterval: never, BackOffPolicyFunc: func() backoff.Policy { return &pauses{} },
	}
	if o.MaxPendingMessages == 0 {
		o.MaxPendingMessages = inFlight
	}
	if o.SendTimeout == 0 {
		o.SendTimeout = -1 // the client takes 0 for 30 s
	}
	if b := v.String("batchBuilder"); b == "KEY_BASED" || b == "auto" && v.String("subscriptionType") == "Key_Shared" {
		o.BatcherBuilderType = client.KeyBasedBatchBuilder
	}
	return o
}

func subscriptionType(g driver.Guarantee, v driver.Values) client.SubscriptionType {
	if kind, ok := types[v.String("subscriptionType")]; ok {
		return kind
	}
	if g.Ordering == driver.Ordered {
		return client.Failover
	}
	return client.Shared
}

func consumerOptions(g driver.Guarantee, v driver.Values) client.ConsumerOptions {
	o := client.ConsumerOptions{
		Type: subscriptionType(g, v), SubscriptionInitialPosition: client.SubscriptionPositionEarliest,
		ReceiverQueueSize:   int(v.Int("receiverQueueSize")),
		AckGroupingOptions:  &client.AckGroupingOptions{MaxSize: uint32(v.Int("ackGroupingMaxSize")), MaxTime: v.Duration("ackGroupingTime")},
		AutoDiscoveryPeriod: never, BackOffPolicyFunc: func() backoff.Policy { return &pauses{} },
	}
	if !driver.UsesStock(v) { // the client's own channel has room for 10, so that it and this driver would wake each other all the time
		o.MessageChannel = make(chan client.ConsumerMessage, v.Int("receiverQueueSize"))
	}
	if v.Duration("ackGroupingTime") == 0 {
		o.AckGroupingOptions.MaxSize = 1
	}
	return o
}

const (
	firstPause = 50 * time.Millisecond
	lastPause  = time.Second
)

// pauses lie between attempts to reconnect. The client's own grow up to a minute, which would count as the broker's recovery time.
type pauses struct{ last time.Duration }

func (p *pauses) Next() time.Duration {
	p.last = min(max(2*p.last, firstPause), lastPause)
	return p.last
}

func (p *pauses) IsMaxBackoffReached() bool { return p.last == lastPause }

func (p *pauses) Reset() { p.last = 0 }
