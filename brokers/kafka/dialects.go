package kafka

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
)

// dialects are the client libraries of phrases. Python's uses librdkafka's names.
var dialects = []driver.Dialect{
	{Library: "Java", Words: 0, Line: "%s=%s", Comment: "#"},
	{Library: "librdkafka", Words: 1, Line: "%s=%s", Comment: "#"},
	{Library: "Python (confluent-kafka)", Words: 1, Line: `"%s": %s,`, Comment: "#", Python: true},
	{Library: "Go (franz-go)", Words: 2, Line: "%s(%s),", Comment: "//"},
}

var onBoth = []driver.Side{driver.ProducerSide, driver.ConsumerSide}

// phrases are settings in the form of Java's client, librdkafka and franz-go. batch is the batch size in bytes.
func phrases(batch int) []driver.Phrase {
	return []driver.Phrase{
		{Setting: "acks", Sides: driver.Producing, Words: []string{"acks", "acks", "kgo.RequiredAcks"}, Values: map[string][]string{
			"0": {"0", "0", "kgo.NoAck()"}, "1": {"1", "1", "kgo.LeaderAck()"}, "all": {"all", "all", "kgo.AllISRAcks()"},
		}},
		{Setting: "linger.ms", Sides: driver.Producing, Words: []string{"linger.ms", "linger.ms", "kgo.ProducerLinger(%s * time.Millisecond),"}},
		{Setting: "batch.size", Sides: driver.Producing, Words: []string{"batch.size", "batch.size", "kgo.ProducerBatchMaxBytes"}},
		{Setting: largestRequest, Sides: driver.Producing, Words: []string{"max.request.size", "message.max.bytes", driver.NoLine}},
		{
			Setting: "partitioner", Sides: driver.Producing, Words: []string{"partitioner.class", "partitioner", "kgo.RecordPartitioner"},
			Values: map[string][]string{ // librdkafka's assigns keys to the same partitions, and stays with one partition for 10 ms without a key
				uniform:    {driver.NoLine, "murmur2_random", fmt.Sprintf("kgo.UniformBytesPartitioner(%d, false, true, nil)", batch)},
				byClient:   {driver.NoLine, "murmur2_random", driver.NoLine},
				sticky:     {"", "murmur2_random", "kgo.StickyKeyPartitioner(nil)"},
				default1:   {"", "", ""},
				ofProducer: {"", "", ""},
				roundRobin: {"org.apache.kafka.clients.producer.RoundRobinPartitioner", "", "kgo.RoundRobinPartitioner()"},
			},
			Else: "the application has to choose the partition of messages without a key",
		},
		{
			Setting: "buffer.memory", Sides: driver.Producing, Words: []string{"buffer.memory", "", "kgo.MaxBufferedBytes"},
			Else: "queue.buffering.max.kbytes has it in units of 1024 bytes",
		},
		{Setting: "compression.type", Sides: driver.Producing, Words: []string{"compression.type", "compression.type", "kgo.ProducerBatchCompression"}, Values: map[string][]string{
			"none": {"none", "none", "kgo.NoCompression()"}, "gzip": {"gzip", "gzip", "kgo.GzipCompression()"},
			"snappy": {"snappy", "snappy", "kgo.SnappyCompression()"}, "lz4": {"lz4", "lz4", "kgo.Lz4Compression()"}, "zstd": {"zstd", "zstd", "kgo.ZstdCompression()"},
		}},
		{Setting: "enable.idempotence", Sides: driver.Producing, Words: []string{"enable.idempotence", "enable.idempotence", "%s,"}, Values: map[string][]string{
			"true": {"true", "true", driver.NoLine}, "false": {"false", "false", "kgo.DisableIdempotentWrite()"},
		}},
		{Setting: window, Sides: driver.Producing, Words: []string{window, window, "kgo.MaxProduceRequestsInflightPerBroker"}, Values: map[string][]string{
			idempotentWindow: {"5", "5", driver.NoLine},
		}},
		{Setting: "retries", Sides: driver.Producing, Words: []string{"retries", "retries", "kgo.RecordRetries"}},
		{
			Setting: "delivery.timeout.ms", Sides: driver.Producing, Words: []string{"delivery.timeout.ms", "delivery.timeout.ms", "kgo.RecordDeliveryTimeout(%s * time.Millisecond),"},
			Values: map[string][]string{"0": {"2147483647", "0", "0"}}, // never; Java has no such value
		},
		{Setting: "request.timeout.ms", Sides: driver.Producing, Words: []string{"request.timeout.ms", "request.timeout.ms", "kgo.ProduceRequestTimeout(%s * time.Millisecond),"}},
		{Setting: "transaction.timeout.ms", Sides: driver.Producing, Words: []string{"transaction.timeout.ms", "transaction.timeout.ms", "kgo.TransactionTimeout(%s * time.Millisecond),"}},
		{
			Setting: "commit.interval.ms", Sides: driver.Producing, Words: []string{"", "", ""},
			Else: "the application, which also chooses a transactional.id, has to commit so often",
		},
		{Setting: "group.protocol", Sides: driver.Consuming, Words: []string{"group.protocol", "group.protocol", "%s,"}, Values: map[string][]string{
			classicGroups: {"classic", "classic", driver.NoLine}, shareGroups: {"", "", ""},
			brokerGroups: {"consumer", "consumer", "kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer())"},
		}, Else: "a client of its own reads as a share group, such as Java's KafkaShareConsumer"},
		{Setting: "session.timeout.ms", Sides: driver.Consuming, Words: []string{"session.timeout.ms", "session.timeout.ms", "kgo.SessionTimeout(%s * time.Millisecond),"}},
		{Setting: "heartbeat.interval.ms", Sides: driver.Consuming, Words: []string{"heartbeat.interval.ms", "heartbeat.interval.ms", "kgo.HeartbeatInterval(%s * time.Millisecond),"}},
		{Setting: "auto.offset.reset", Sides: driver.Consuming, Words: []string{"auto.offset.reset", "auto.offset.reset", "kgo.ConsumeResetOffset"}, Values: map[string][]string{
			"earliest": {"earliest", "earliest", "kgo.NewOffset().AtStart()"},
		}},
		{Setting: "isolation.level", Sides: driver.Consuming, Words: []string{"isolation.level", "isolation.level", "kgo.FetchIsolationLevel"}, Values: map[string][]string{
			"read_committed":   {"read_committed", "read_committed", "kgo.ReadCommitted()"},
			"read_uncommitted": {"read_uncommitted", "read_uncommitted", "kgo.ReadUncommitted()"},
		}},
		{Setting: "fetch.min.bytes", Sides: driver.Consuming, Words: []string{"fetch.min.bytes", "fetch.min.bytes", "kgo.FetchMinBytes"}},
		{Setting: "fetch.max.wait.ms", Sides: driver.Consuming, Words: []string{"fetch.max.wait.ms", "fetch.wait.max.ms", "kgo.FetchMaxWait(%s * time.Millisecond),"}},
		{Setting: "fetch.max.bytes", Sides: driver.Consuming, Words: []string{"fetch.max.bytes", "fetch.max.bytes", "kgo.FetchMaxBytes"}},
		{Setting: "max.partition.fetch.bytes", Sides: driver.Consuming, Words: []string{"max.partition.fetch.bytes", "max.partition.fetch.bytes", "kgo.FetchMaxPartitionBytes"}},
		{
			Setting: "max.poll.records", Sides: driver.Consuming, Words: []string{"max.poll.records", "", ""}, Values: map[string][]string{"0": {"2147483647", driver.NoLine, driver.NoLine}},
			Else: "the application asks for so many at once",
		},
		{Setting: "check.crcs", Sides: driver.Consuming, Words: []string{"check.crcs", "check.crcs", "%s,"}, Values: map[string][]string{
			"true": {"true", "true", driver.NoLine}, "false": {"false", "false", "kgo.DisableFetchCRCValidation()"},
		}},
		{Setting: "enable.auto.commit", Sides: driver.Consuming, Words: []string{"enable.auto.commit", "enable.auto.commit", "%s,"}, Values: map[string][]string{
			"true": {"true", "true", "kgo.AutoCommitMarks()"}, "false": {"false", "false", "kgo.DisableAutoCommit()"},
		}},
		{ // Java commits what the poll before returned
			Setting: marked, Sides: driver.Consuming, Words: []string{driver.NoLine, "enable.auto.offset.store", ""},
			Values: map[string][]string{afterWork: {driver.NoLine, "false", ""}}, Else: "the application marks each message when it is done with it, by MarkCommitRecords",
		},
		{Setting: "auto.commit.interval.ms", Sides: driver.Consuming, Words: []string{"auto.commit.interval.ms", "auto.commit.interval.ms", "kgo.AutoCommitInterval(%s * time.Millisecond),"}},
		{Setting: "metadata.max.age.ms", Sides: onBoth, Words: []string{"metadata.max.age.ms", "topic.metadata.refresh.interval.ms", "kgo.MetadataMaxAge(%s * time.Millisecond),"}},
	}
}

const (
	marked           = "offsets marked"
	afterWork        = "after the work"
	window           = "max.in.flight.requests.per.connection"
	largestRequest   = "max.request.size"
	idempotentWindow = "5 (idempotent)" // franz-go's default with idempotence, which it doesn't allow to be set
	ofProducer       = "one partition for each producer"
	byClient         = "uniform by 64 KiB" // franz-go's default
)

// elsewhere are client settings without a counterpart in other libraries: the use of the client by this driver, and the login.
var elsewhere = []string{"mode", "consumer.ack", "sasl.mechanism"}

// pasted implements driver.Kind.Pasted.
func pasted(g driver.Guarantee, v driver.Values, largest int) []driver.Pasted {
	batch := batchSize(v, largest)
	values := inForce(g, v)
	values["batch.size"], values[largestRequest] = batch, max(batch, 1<<20) // which is Java's default
	return driver.Paste(dialects, phrases(batch), values)
}

// inForce are the client's settings with the effective values of auto and 0, and the settings derived from the guarantee. It
// leaves out settings without effect.
func inForce(g driver.Guarantee, v driver.Values) map[string]any {
	values := driver.InForce(settings, g, v)
	values["acks"] = map[driver.Acks]string{driver.AcksNone: "0", driver.AcksLeader: "1", driver.AcksQuorum: "all"}[g.Acks]
	values["auto.offset.reset"], values["isolation.level"] = "earliest", "read_uncommitted"
	if g.Delivery == driver.ExactlyOnce {
		values["isolation.level"] = "read_committed"
	}
	values["enable.idempotence"], values["retries"], values[window] = idempotent(g, v), retriesOf(g, v), idempotentWindow
	if !idempotent(g, v) {
		values[window] = windowOf(g, v)
	}
	if g.Delivery != driver.AtMostOnce && v.Bool("enable.auto.commit") && !shares(v) {
		values[marked] = afterWork
	}
	if v.Int("buffer.memory") == 0 { // the run's window bounds the client's buffer
		delete(values, "buffer.memory")
	}
	if v.String("partitioner") == "auto" {
		values["partitioner"] = byClient
		if g.Ordering == driver.Ordered {
			values["partitioner"] = ofProducer
		}
	}
	if shares(v) {
		delete(values, "auto.offset.reset") // the group has it
	}
	return values
}
