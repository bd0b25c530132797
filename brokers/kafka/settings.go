package kafka

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/internal/driver"
)

// settings are the client's under Java's names, and the topic's under Kafka's own.
var settings = append([]driver.Setting{
	driver.ModeSetting("records of producer and consumer are used again, and those of a batch have one timestamp"),
	client("linger.ms", int64(1), "how long a partition waits for more messages before a batch is sent, ms").In(driver.Batching).Trying("0", "5", "20"),
	client("batch.size", int64(1_000_012), "largest batch of one partition before compression, bytes; raised to fit the largest message").In(driver.Batching).Trying("16384", "131072"),
	client("partitioner", "auto", "which partition a message goes to, as Java's producer chooses: uniform (since 3.3), sticky (since 2.4), default-1 (before: in turn), round-robin (keys ignored); auto: uniform by 64 KiB, or when ordered one partition per producer", "auto", uniform, sticky, default1, roundRobin),
	client("buffer.memory", int64(0), "bytes of messages that may wait in the client or be on their way; then sending waits; 0: inFlight is the limit").In(driver.Publishing),
	client("compression.type", "none", "compression of batches by the producer", "none", "gzip", "snappy", "lz4", "zstd").Trying("lz4", "zstd"),
	client("max.in.flight.requests.per.connection", int64(0), "unanswered produce requests per broker; 0: 5, or 1 where retries would break the order; always 5 when idempotent"),
	client("enable.idempotence", "auto", "deduplication of retries by the broker; auto: with acks: quorum, except at most once", "auto", "true", "false"),
	client("retries", int64(math.MaxInt32), "how often a batch is sent again within delivery.timeout.ms; at most once: always 0"),
	client("delivery.timeout.ms", int64(120_000), "when a message that isn't acknowledged has failed, ms, at least 1000; 0: never"),
	client("request.timeout.ms", int64(30_000), "how long the broker may take to replicate a produce request, ms").IdleWhere(unanswered),
	client("transaction.timeout.ms", int64(60_000), "when the broker aborts an open transaction, ms").IdleWhere(transactionless),
	client("commit.interval.ms", int64(100), "exactly once: how long a transaction of a producer, or of a relay, collects messages before it is committed, ms").IdleWhere(transactionless),
	client("fetch.min.bytes", int64(1), "what a fetch waits for, bytes").Trying("16384"),
	client("fetch.max.wait.ms", int64(500), "how long a fetch waits for fetch.min.bytes, ms, at least 10"),
	client("fetch.max.bytes", int64(50<<20), "largest answer to a fetch, bytes").In(driver.Prefetching),
	client("max.partition.fetch.bytes", int64(1<<20), "largest share of one partition in a fetch, bytes").In(driver.Prefetching),
	client("max.poll.records", int64(0), "most messages handed over at once, and with group.protocol: share asked for at once; 0: all that a fetch brought, and the client's 500"),
	client("check.crcs", true, "whether the consumer checks the checksum of batches"),
	driver.AckSetting(),
	client("enable.auto.commit", true, "commit offsets in the background; false: one commit per poll, waited for").IdleWhere(sharing).In(driver.Acknowledging),
	client("auto.commit.interval.ms", int64(5_000), "how often offsets are committed in the background, ms, at least 100").IdleWhere(committing).In(driver.Acknowledging),
	client("group.protocol", classicGroups, "classic: members of a group divide partitions among themselves; consumer: the broker does (KIP-848, since 4.0); share: they share each partition, and acknowledge record by record (KIP-932, since 4.2; at least once, unordered)", classicGroups, brokerGroups, shareGroups),
	client("session.timeout.ms", int64(45_000), "when a silent consumer loses its partitions, ms").IdleWhere(byBroker),
	client("heartbeat.interval.ms", int64(500), "how often a consumer asks whether its group rebalances, ms").IdleWhere(byBroker),
	client("metadata.max.age.ms", int64(300_000), "how often metadata are fetched anew, ms, at least 10"),
	client(mechanism, "PLAIN", "how user and password are presented; login says what else can be", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
}, topicSettings(
	"cleanup.policy", "compression.gzip.level", "compression.lz4.level", "compression.type", "compression.zstd.level",
	"delete.retention.ms", "file.delete.delay.ms", "flush.messages", "flush.ms", "index.interval.bytes",
	"local.retention.bytes", "local.retention.ms", "max.compaction.lag.ms", "max.message.bytes",
	"message.timestamp.after.max.ms", "message.timestamp.before.max.ms", "message.timestamp.type",
	"min.cleanable.dirty.ratio", "min.compaction.lag.ms", "min.insync.replicas", "preallocate",
	"remote.storage.enable", "retention.bytes", "retention.ms", "segment.bytes", "segment.index.bytes",
	"segment.jitter.ms", "segment.ms", "unclean.leader.election.enable",
)...)

func client(name string, value any, doc string, allowed ...string) driver.Setting {
	return driver.Setting{Scope: driver.ClientScope, Name: name, Default: value, Allowed: allowed, Doc: doc}
}

func transactionless(g driver.Guarantee, _ driver.Values) string {
	return driver.If(g.Delivery != driver.ExactlyOnce, "only delivery: exactly-once has transactions")
}

// The values of group.protocol, as in Java's client.
const (
	classicGroups = "classic"
	brokerGroups  = "consumer"
	shareGroups   = "share"
)

func sharing(_ driver.Guarantee, v driver.Values) string {
	return driver.If(shares(v), "with group.protocol: share records are acknowledged one by one, and no offset is committed")
}

func byBroker(_ driver.Guarantee, v driver.Values) string {
	if shares(v) {
		return "with group.protocol: share the broker decides (server.group.share.session.timeout.ms and …heartbeat.interval.ms)"
	}
	if v.String("group.protocol") == brokerGroups {
		return "with group.protocol: consumer the broker decides (server.group.consumer.session.timeout.ms and …heartbeat.interval.ms)"
	}
	return ""
}

// redelivers implements driver.Kind.Redelivers: when a group has waited in vain for a member, another one reads on from the last
// committed offset. A share group gives a record to another member after its lock has expired, by default after a shorter time.
func redelivers(_ driver.Guarantee, client driver.Values, server map[string]any) (time.Duration, string) {
	if client.String("group.protocol") == classicGroups {
		return millis(client, "session.timeout.ms"), "" // a member sends heartbeats while it works
	}
	timeout, err := strconv.Atoi(fmt.Sprint(server["group."+client.String("group.protocol")+".session.timeout.ms"]))
	if err != nil {
		return 45 * time.Second, "" // the server's own default
	}
	return time.Duration(timeout) * time.Millisecond, ""
}

func unanswered(g driver.Guarantee, _ driver.Values) string {
	return driver.If(g.Acks == driver.AcksNone, "with acks: none the broker doesn't answer")
}

func committing(g driver.Guarantee, v driver.Values) string {
	if shares(v) {
		return sharing(g, v)
	}
	if !v.Bool("enable.auto.commit") {
		return "enable.auto.commit is false"
	}
	return ""
}

func topicSettings(names ...string) (all []driver.Setting) {
	for _, name := range names {
		all = append(all, driver.Setting{
			Scope: driver.TopicScope, Name: name, Default: "",
			Doc: "Kafka's topic configuration of that name; empty: what the guarantee needs, or else the broker's default",
		})
	}
	return all
}

func millis(v driver.Values, name string) time.Duration {
	return time.Duration(v.Int(name)) * time.Millisecond
}

// idempotent reports whether the broker detects duplicates of this producer.
func idempotent(g driver.Guarantee, v driver.Values) bool {
	switch v.String("enable.idempotence") {
	case "auto":
		return g.Delivery != driver.AtMostOnce && g.Acks == driver.AcksQuorum
	case "true":
		return true
	}
	return false
}

// checkClient refuses client settings that contradict the guarantee.
func checkClient(g driver.Guarantee, v driver.Values) error {
	const idempotence = "client.enable.idempotence: "
	deduplicated := idempotent(g, v)
	window := v.Int("max.in.flight.requests.per.connection")
	switch {
	case deduplicated && g.Delivery == driver.AtMostOnce:
		return driver.Unsupported(idempotence+"true", "at most once nothing is sent again, so there is nothing to deduplicate")
	case deduplicated && g.Acks != driver.AcksQuorum:
		return driver.Unsupported(idempotence+"true", "the broker deduplicates only with acks: quorum (acks=all)")
	case !deduplicated && g.Delivery == driver.ExactlyOnce:
		return driver.Unsupported(idempotence+"false", "transactions need an idempotent producer")
	case g.Delivery == driver.AtMostOnce && v.Int("retries") != math.MaxInt32 && v.Int("retries") != 0:
		return driver.Unsupported("client.retries", "at most once nothing is sent again")
	case window < 0 || deduplicated && window != 0 && window != 5:
		return driver.Unsupported("client.max.in.flight.requests.per.connection", "franz-go has 5 when idempotent, else any number from 1")
	case window > 1 && !deduplicated && g.Ordering == driver.Ordered && g.Delivery == driver.AtLeastOnce:
		return driver.Unsupported("client.max.in.flight.requests.per.connection", "ordering: ordered with retries needs 1, or an idempotent producer (acks: quorum)")
	case g.Delivery == driver.ExactlyOnce && v.Int("commit.interval.ms") >= v.Int("transaction.timeout.ms"):
		return driver.Unsupported("client.commit.interval.ms", "it must be shorter than transaction.timeout.ms")
	}
	for name, value := range v {
		if n, number := value.(int64); number && (n < 0 || n > math.MaxInt32) {
			return driver.Unsupported("client."+name, "%d is not between 0 and %d", n, math.MaxInt32)
		}
	}
	opts := append(producerOptions(g, v), consumerOptions(g, v, "group", "topic")...)
	if err := kgo.ValidateOpts(append(opts, kgo.ProducerBatchMaxBytes(int32(v.Int("batch.size"))))...); err != nil {
		return driver.Unsupported("client settings", "franz-go says: %v", err)
	}
	return nil
}

// producerOptions maps guarantee and settings to the client's options. The settings must have passed checkClient.
func producerOptions(g driver.Guarantee, v driver.Values) []kgo.Opt {
	acks := map[driver.Acks]kgo.Acks{driver.AcksNone: kgo.NoAck(), driver.AcksLeader: kgo.LeaderAck(), driver.AcksQuorum: kgo.AllISRAcks()}
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	opts := []kgo.Opt{
		kgo.RequiredAcks(acks[g.Acks]),
		kgo.ProducerLinger(millis(v, "linger.ms")),
		kgo.ProducerBatchCompression(codecs[v.String("compression.type")]),
		kgo.ProduceRequestTimeout(millis(v, "request.timeout.ms")),
		kgo.RecordDeliveryTimeout(millis(v, "delivery.timeout.ms")),
		kgo.TransactionTimeout(millis(v, "transaction.timeout.ms")),
		kgo.UnknownTopicRetries(-1), // Setup has seen the topics; a restarting broker may not know them yet
	}
	opts = append(opts, kgo.RecordRetries(retriesOf(g, v)))
	if !idempotent(g, v) {
		opts = append(opts, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(windowOf(g, v)))
	}
	return opts
}

// retriesOf is the number of times that a batch is sent again.
func retriesOf(g driver.Guarantee, v driver.Values) int {
	if g.Delivery == driver.AtMostOnce {
		return 0
	}
	return int(v.Int("retries"))
}

// windowOf is the number of unanswered produce requests per broker if the producer isn't idempotent.
func windowOf(g driver.Guarantee, v driver.Values) int {
	asked := int(v.Int(window))
	switch {
	case asked > 0:
		return asked
	case retriesOf(g, v) > 0 && g.Ordering == driver.Ordered:
		return 1 // a resent batch would come after the following one
	}
	return 5
}

// consumerOptions maps guarantee and settings to the client's options for a member of group that reads topics.
func consumerOptions(g driver.Guarantee, v driver.Values, group string, topics ...string) []kgo.Opt {
	if shares(v) {
		return shareOptions(v, group, topics...)
	}
	return append(append(groupOptions(g, v, group, topics...), commitOptions(v)...), kgo.BlockRebalanceOnPoll())
}

// groupOptions are the options of a member of a consumer group, except its way of committing.
func groupOptions(g driver.Guarantee, v driver.Values, group string, topics ...string) []kgo.Opt {
	opts := append(
		fetchOptions(v),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topics...), // from the start: topics are made for the run
		kgo.SessionTimeout(millis(v, "session.timeout.ms")),
		kgo.HeartbeatInterval(millis(v, "heartbeat.interval.ms")),
	)
	if v.String("group.protocol") == brokerGroups { // sticky is the client's name for the broker's default, uniform
		opts = append(opts, kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()))
	}
	if g.Delivery == driver.ExactlyOnce {
		opts = append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	return opts
}

func commitOptions(v driver.Values) []kgo.Opt {
	if v.Bool("enable.auto.commit") {
		return []kgo.Opt{kgo.AutoCommitMarks(), kgo.AutoCommitInterval(millis(v, "auto.commit.interval.ms"))}
	}
	return []kgo.Opt{kgo.DisableAutoCommit()}
}

// batches bounds a producer's batches; the largest message fits.
func batches(v driver.Values, largest int) kgo.Opt {
	return kgo.ProducerBatchMaxBytes(int32(batchSize(v, largest)))
}

func batchSize(v driver.Values, largest int) int {
	return max(largest+headroom, int(v.Int("batch.size")))
}

// fetchOptions are the options of every consumer.
func fetchOptions(v driver.Values) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.FetchMinBytes(int32(v.Int("fetch.min.bytes"))),
		kgo.FetchMaxWait(millis(v, "fetch.max.wait.ms")),
		kgo.FetchMaxBytes(int32(v.Int("fetch.max.bytes"))),
		kgo.FetchMaxPartitionBytes(int32(v.Int("max.partition.fetch.bytes"))),
	}
	if !v.Bool("check.crcs") {
		opts = append(opts, kgo.DisableFetchCRCValidation())
	}
	return opts
}
