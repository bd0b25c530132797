package exchange

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/secret"
)

// Assignment is a setting of a spec with its value as YAML: {"client.linger.ms", "5"}.
type Assignment struct{ Path, Value string }

// OMBDriver is a driver file of the OpenMessaging Benchmark as settings of a spec.
type OMBDriver struct {
	Settings []Assignment
	Notes    []string // what of it isn't used, and why
}

// IsOMBDriver reports whether a document is a driver file.
func IsOMBDriver(root *yaml.Node) bool {
	for i := 0; root.Kind == yaml.MappingNode && i < len(root.Content); i += 2 {
		if key, value := root.Content[i], root.Content[i+1]; key.Value == "driverClass" && value.Tag == "!!str" && value.Value != "" {
			return true
		}
	}
	return false
}

// ombReaders read the driver files of a class, by its name or a part of its package. LavinMQ and Redpanda speak the protocols of the others.
var ombReaders = map[string]func(*ombReader){
	"kafka": kafkaDriver, "redpanda": kafkaDriver, "pulsar": pulsarDriver, "rabbitmq": rabbitDriver, "lavinmq": rabbitDriver,
	"nats": plainDriver("jetstream", "natsHostUrl"), "natsstreaming": plainDriver("nats-streaming", "natsHostUrl", "clusterId"),
	"artemis": plainDriver("artemis", "brokerAddress"), "redis": plainDriver("redis", "redisHost", "redisPort", "jedisPoolMaxTotal", "jedisPoolMaxIdle"),
}

// ombReaderOf finds the reader for a class such as io.openmessaging.benchmark.driver.redpanda.swarm.RedpandaBenchmarkDriver; nil if there
// is none.
func ombReaderOf(class string) (name string, read func(*ombReader)) {
	parts := strings.Split(strings.ToLower(class), ".")
	own, isDriver := strings.CutSuffix(parts[len(parts)-1], "benchmarkdriver")
	for _, name := range append([]string{own}, parts...) {
		if read := ombReaders[name]; read != nil {
			return name, read
		}
	}
	if !isDriver {
		own = parts[max(0, len(parts)-2)]
	}
	return own, nil
}

// mostOfDriver bounds the settings of a driver file: each is laid over every point.
const mostOfDriver = 1000

// ReadOMBDriver reads a driver file, whose keys it takes out of file. What has no counterpart in a spec is an error that names all of it.
func ReadOMBDriver(file map[string]any) (OMBDriver, error) {
	name, read := ombReaderOf(fmt.Sprint(file["driverClass"]))
	if read == nil {
		return OMBDriver{}, fmt.Errorf("drivers of the OpenMessaging Benchmark for %s are not read; allowed: %s. Give the broker and its settings as flags, such as --broker nats --set client.NAME=VALUE",
			inLine(name), strings.Join(slices.Sorted(maps.Keys(ombReaders)), ", "))
	}
	r := &ombReader{left: file}
	r.ignore("name", "driverClass", "reset")
	read(r)
	if unread := r.unread(); len(unread) > 0 {
		return OMBDriver{}, fmt.Errorf("%s: without counterpart in a spec; leave them out, or say what they stand for as a setting of the broker (brokermark list settings)", strings.Join(unread, ", "))
	}
	if n := len(r.Settings); n > mostOfDriver {
		return OMBDriver{}, fmt.Errorf("%d settings; allowed: up to %d", n, mostOfDriver)
	}
	if len(r.ignored) > 0 {
		r.Notes = append(r.Notes, strings.Join(r.ignored, ", ")+" of the driver file change nothing here")
	}
	return r.OMBDriver, nil
}

// ombReader takes the keys of a driver file one by one.
type ombReader struct {
	OMBDriver
	left    map[string]any
	ignored []string // those that change nothing here
}

func (r *ombReader) set(path string, value any) {
	r.Settings = append(r.Settings, Assignment{path, fmt.Sprint(value)})
}

// take is the value at a path such as producer.batchingEnabled, which is read by it; nil if there is none.
func (r *ombReader) take(path string) any {
	at := r.left
	keys := strings.Split(path, ".")
	for _, key := range keys[:len(keys)-1] {
		below, ok := at[key].(map[string]any)
		if !ok {
			return nil
		}
		at = below
	}
	value := at[keys[len(keys)-1]]
	delete(at, keys[len(keys)-1])
	return value
}

// ignore takes paths that change nothing here.
func (r *ombReader) ignore(paths ...string) {
	for _, path := range paths {
		if r.take(path) != nil && path != "name" && path != "driverClass" {
			r.ignored = append(r.ignored, path)
		}
	}
}

// address takes where the broker is, which is attached to only if that is asked for. The broker is the first of the settings.
func (r *ombReader) address(what string, at any) {
	if at != nil {
		r.Notes = append(r.Notes, inLine(secret.Redact(fmt.Sprintf("%s: %v is not used: %s is started here unless --attach says where one is", what, at, r.Settings[0].Value))))
	}
}

// unread lists the paths that nothing was read of.
func (r *ombReader) unread() []string {
	var paths []string
	var walk func(prefix string, at map[string]any)
	walk = func(prefix string, at map[string]any) {
		for key, value := range at {
			if below, ok := value.(map[string]any); ok {
				walk(prefix+key+".", below)
			} else if value != nil {
				paths = append(paths, prefix+key)
			}
		}
	}
	walk("", r.left)
	slices.Sort(paths)
	return paths
}

// copies asks for this many copies of each message, on as many nodes.
func (r *ombReader) copies(n any) {
	if n, ok := n.(int); ok && n > 1 {
		r.set("replicas", n)
		r.set("nodes", n)
	}
}

// kafkaDriver reads clients' and topics' properties in Kafka's own format, line by line.
func kafkaDriver(r *ombReader) {
	r.set("broker", "kafka")
	copies, _ := r.take("replicationFactor").(int)
	r.copies(copies)
	for _, group := range []struct{ key, prefix string }{
		{"topicConfig", "topicConfig."}, {"commonConfig", "client."}, {"producerConfig", "client."}, {"consumerConfig", "client."},
	} {
		text, _ := r.take(group.key).(string)
		for line := range strings.Lines(text) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			name, value = strings.TrimSpace(name), strings.TrimSpace(value)
			switch {
			case name == "" || strings.HasPrefix(name, "#"):
			case name == "bootstrap.servers":
				r.address(name, value)
			case name == "acks":
				r.acks(value, copies)
			case name == "flush.messages" && value == "1" && group.key == "topicConfig": // each one, before it is acknowledged
				r.set("persistence", "fsync")
			case slices.Contains([]string{"group.id", "client.id", "auto.offset.reset", "default.api.timeout.ms", "key.serializer", "value.serializer", "key.deserializer", "value.deserializer"}, name),
				name == "request.timeout.ms" && group.key != "producerConfig", name == "min.insync.replicas" && copies < 2:
				r.ignored = append(r.ignored, name)
			default:
				r.set(group.prefix+name, value)
			}
		}
	}
}

// acks translates Kafka's.
func (r *ombReader) acks(value string, copies int) {
	switch {
	case value == "0":
		r.set("acks", "none")
		r.set("delivery", "at-most-once")
	case value == "1" || copies < 2:
		r.set("acks", "leader")
	default:
		r.set("acks", "quorum")
	}
}

// plainDriver reads the files of a driver that say little but where the broker is.
func plainDriver(broker, where string, ignored ...string) func(*ombReader) {
	return func(r *ombReader) {
		r.set("broker", broker)
		r.address(where, r.take(where))
		r.ignore(ignored...)
		r.copies(r.take("replicationFactor"))
	}
}

func pulsarDriver(r *ombReader) {
	r.set("broker", "pulsar")
	r.address("client.serviceUrl", r.take("client.serviceUrl"))
	r.ignore("client.httpUrl", "client.ioThreads", "client.clusterName", "client.namespacePrefix", "client.tlsAllowInsecureConnection",
		"client.tlsEnableHostnameVerification", "client.tlsTrustCertsFilePath", "client.authentication.plugin", "client.authentication.data",
		"client.persistence.ensembleSize", "client.persistence.ackQuorum", "producer.blockIfQueueFull")
	if off := r.take("client.persistence.deduplicationEnabled"); off == true {
		r.set("delivery", "exactly-once")
	}
	if r.take("client.topicType") == "non-persistent" {
		r.set("persistence", "memory")
		r.set("delivery", "at-most-once")
	}
	r.copies(r.take("client.persistence.writeQuorum"))
	for path, name := range map[string]string{
		"client.connectionsPerBroker": "connectionsPerBroker", "producer.batchingEnabled": "batchingEnabled", "producer.batchingMaxBytes": "batchingMaxSize",
		"producer.pendingQueueSize": "maxPendingMessages", "consumer.receiverQueueSize": "receiverQueueSize", "consumer.subscriptionType": "subscriptionType",
	} {
		if value := r.take(path); value != nil {
			r.set("client."+name, value)
		}
	}
	if ms := r.take("producer.batchingMaxPublishDelayMs"); ms != nil {
		r.set("client.batchingMaxPublishDelay", fmt.Sprintf("%vms", ms))
	}
	slices.SortStableFunc(r.Settings[1:], func(a, b Assignment) int { return strings.Compare(a.Path, b.Path) })
}

func rabbitDriver(r *ombReader) {
	r.set("broker", "rabbitmq")
	r.address("amqpUris", r.take("amqpUris"))
	r.ignore("producerCreationDelay", "producerCreationBatchSize", "consumerCreationDelay", "consumerCreationBatchSize")
	quorum := fmt.Sprint(r.take("queueType")) == "QUORUM"
	switch persistent := r.take("messagePersistence"); {
	case quorum: // whose messages are always persistent
		r.set("topicConfig.x-queue-type", "quorum")
	case persistent == false:
		r.set("persistence", "memory")
	}
}
