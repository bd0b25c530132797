package study

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/usual"
)

// about documents one setting for users. fallback describes its default if that depends on other settings; otherwise the default
// is read from a completed Spec.
type about struct {
	path, doc string
	fallback  string
	usual     func() string // fallback if the default is the broker's, which registers it
	allowed   []string
}

// abouts documents all settings, in the order of Spec.
var abouts = []about{
	{path: "name", doc: "a name for people; not part of a point's identity", fallback: "the study's"},
	{path: "label", doc: "a label for people; not part of a point's identity", fallback: "made from the axes"},

	{path: "broker", doc: "the broker to measure, or broker@version"},
	{path: "version", doc: "the broker's version; with attach: how the attached broker's version has to begin, or the point is refused", fallback: "the recipe's newest"},
	{path: "attach", doc: "addresses (host:port) of a running broker to use instead of starting one", fallback: "none"},
	{path: "nodes", doc: "servers in the cluster"},
	{path: "tls", doc: "encrypt the clients' connections; mutual: the broker demands a client certificate, too", allowed: []string{TLSOff, TLSOn, TLSMutual}},
	{path: "server", doc: "server settings by their native names", fallback: "the broker's"},
	{path: "client", doc: "client settings by their native names", fallback: "the driver's"},
	{path: "topicConfig", doc: "topic, queue or stream settings by their native names", fallback: "the driver's"},
	{path: "login", doc: "attached broker: the credentials that clients present instead of user and password", fallback: "user and password", allowed: Logins},
	{path: "user", doc: "attached broker: the user to connect as; with login: oauth the client's id, with aws the access key's", fallback: "none"},
	{path: "passwordEnv", doc: "attached broker: the environment variable that holds the user's password, or the secret of login; not part of a point's identity", fallback: "none"},
	{path: "passwordFile", doc: "attached broker: the file whose first line is that secret; with login: credentials or aws the whole file; not part of a point's identity", fallback: "none"},
	{path: "oauth.url", doc: "with login: oauth the endpoint that gives tokens, as https://idp/token; not part of a point's identity", fallback: "none"},
	{path: "oauth.scope", doc: "with login: oauth the scope to ask for, words between spaces; not part of a point's identity", fallback: "none"},
	{path: "oauth.audience", doc: "with login: oauth the audience to ask for; not part of a point's identity", fallback: "none"},
	{path: "caFile", doc: "attached broker with TLS: the authorities to trust, a PEM file; not part of a point's identity", fallback: "the system's"},
	{path: "certFile", doc: "attached broker with mutual TLS: the client's certificate, a PEM file; not part of a point's identity", fallback: "none"},
	{path: "keyFile", doc: "attached broker with mutual TLS: the certificate's key, a PEM file; not part of a point's identity", fallback: "none"},

	{path: "delivery", doc: "how often a message may reach the application", usual: usualDelivery, allowed: []string{atMostOnce, atLeastOnce, exactlyOnce}},
	{path: "persistence", doc: "where a message is when it is acknowledged: in memory, handed to the OS, flushed to disk", usual: usualPersistence, allowed: []string{memory, log, fsync}},
	{path: "replicas", doc: "copies of each message, on as many nodes"},
	{path: "acks", doc: "who must have a message when it is acknowledged", fallback: "none for at-most-once, quorum for several replicas, else leader", allowed: []string{acksNone, acksLeader, acksQuorum}},
	{path: "ordering", doc: "whether messages of one stream must arrive in the order sent", allowed: []string{unordered, ordered}},

	{path: "topicName", doc: "attached broker: an existing topic to use instead of a new one; its settings and messages stay as they are", fallback: "none"},
	{path: "topicPrefix", doc: "prefix of the names of created topics and subscriptions, such as mine.; not part of a point's identity", fallback: "none"},
	{path: "topics", doc: "topics, queues or subjects"},
	{path: "partitionsPerTopic", doc: "partitions of each topic"},
	{path: "producersPerTopic", doc: "producers of each topic"},
	{path: "subscriptionsPerTopic", doc: "subscriptions of each topic; each receives every message"},
	{path: "consumerPerSubscription", doc: "consumers that share the messages of one subscription; 3+2: three of the first, two of the second"},
	{path: "connections", usual: usualConnections, doc: "client connections that the topics share, for each of a topic's producers and consumers; 0: every one has its own"},
	{path: "producerDelay", doc: "how long a producer works on each message, such as 2ms, from when it is due and the one before it was sent; then it sends it", fallback: "none"},
	{path: "consumerDelay", doc: "how long a consumer works on each message, such as 20ms, before it takes the next one and acknowledges this one", fallback: "none"},
	{path: "consumerDelays", doc: "how these times differ from message to message", fallback: "constant", allowed: []string{constant, exponential}},
	{path: "relays", doc: "processes between producers and consumers that consume every message and produce it to a further topic, which the consumers read; with delivery: exactly-once in one transaction", fallback: "0"},
	{path: "consumersApart", doc: "run the consumers in a process of their own, so that processor time and memory of producing and consuming are known apart", fallback: "false"},
	{path: "limits.broker.cpu", doc: "cores that each node of a broker started here may use, such as 0.2, by a control group of the kernel", fallback: "none"},
	{path: "limits.broker.memory", doc: "memory that each of these nodes may use, page cache included, such as 2GiB; the kernel ends one that needs more", fallback: "none"},
	{path: "limits.broker.io", doc: "bytes per second that each of these nodes may read from the disk of its data, and as many that it may write, such as 10MB", fallback: "none"},
	{path: "limits.server.cpu", doc: "likewise of each server of a pipeline", fallback: "none"},
	{path: "limits.server.memory", doc: "likewise of each server of a pipeline", fallback: "none"},
	{path: "limits.server.io", doc: "likewise of each server of a pipeline", fallback: "none"},
	{path: "limits.balancer.cpu", doc: "likewise of a pipeline's balancer", fallback: "none"},
	{path: "limits.balancer.memory", doc: "likewise of a pipeline's balancer", fallback: "none"},
	{path: "limits.balancer.io", doc: "likewise of a pipeline's balancer", fallback: "none"},
	{path: "limits.consumer.cpu", doc: "likewise of the consumers' process of a pipeline, or with consumersApart", fallback: "none"},
	{path: "limits.consumer.memory", doc: "likewise of the consumers' process of a pipeline, or with consumersApart", fallback: "none"},
	{path: "limits.consumer.io", doc: "likewise of the consumers' process of a pipeline, or with consumersApart", fallback: "none"},
	{path: "dataInMemory", doc: "hold the data of each node of a broker that is started here in memory (tmpfs), at most so many bytes, such as 4GiB, and not on the disk; for root", fallback: "none: on the disk"},
	{path: "network.broker.delay", doc: "delay, each way, that a proxy adds between a broker of one node that is started here and all its clients", fallback: "none"},
	{path: "network.broker.jitter", doc: "the most by which a delay may be longer, drawn evenly; the order on a connection is kept", fallback: "none"},
	{path: "network.broker.bandwidth", doc: "bytes per second that pass each way on each connection", fallback: "none"},
	{path: "network.client.delay", doc: "likewise between a pipeline's client and its balancer, or its only server", fallback: "none"},
	{path: "network.client.jitter", doc: "likewise between a pipeline's client and its balancer, or its only server", fallback: "none"},
	{path: "network.client.bandwidth", doc: "likewise between a pipeline's client and its balancer, or its only server", fallback: "none"},
	{path: "place.deal", doc: "with --agents: all clients of a topic on one agent, or producers and consumers distributed over all agents (short form: place: spread)", fallback: "topic", allowed: []string{PlaceTopic, PlaceSpread}},
	{path: "place.producers", doc: "with --agents: names of the agents that run the producers, in turn; an agent named twice gets twice as many", fallback: "none"},
	{path: "place.consumers", doc: "with --agents: names of the agents that run the consumers, in turn", fallback: "none"},

	{path: "generator", doc: "what sends and receives: brokermark, or a load generator of the broker's maker, which reports figures of its own", fallback: OwnGenerator},
	{path: "pipeline.servers", fallback: "1", doc: "an application around the broker (docs/pipeline.md): HTTP servers that publish what clients post"},
	{path: "pipeline.balancer", fallback: "haproxy before several servers, else none", doc: "the program that distributes requests over the servers", allowed: []string{none, haproxy, nginx}},
	{path: "pipeline.pool", fallback: "20", doc: "producers of each server, which its requests share"},
	{path: "pipeline.answer", fallback: "confirmed", doc: "when a server answers: when the broker has confirmed the ride, or when the client library has taken it", allowed: []string{confirmed, atOnce}},
	{path: "pipeline.threads", fallback: "100", doc: "threads of the HTTP client in its second phase; measure: rate: requests that can be under way"},
	{path: "pipeline.state", fallback: "memory", doc: "where the consumer keeps its counts; sqlite and postgres survive its death", allowed: []string{memory, sqlite, postgres}},

	{path: "messageSize", doc: "payload size, at least 8 bytes, or a weighted distribution", fallback: "100, or the size of the payload samples"},
	{path: "useRandomizedPayloads", doc: "generate payloads; if true, payloadFile is not read; false without a payloadFile: all zero bytes", fallback: "true unless there is a payloadFile"},
	{path: "randomBytesRatio", doc: "share of a generated payload that does not compress, 0 to 1"},
	{path: "randomizedPayloadPoolSize", doc: "different generated payloads of each size", fallback: "1000, fewer for large messages (16 MiB in all)"},
	{path: "payloadFile", doc: "real payloads: a file, each line of a .jsonl or .ndjson file, payloadColumn of a CSV file, or all files of a directory; looked for from here, beside the study, and one folder above it. They arrive as they are, with a message's identity and times in a header; where the protocol has no headers, these take the first 32 bytes", fallback: "none"},
	{path: "payloadColumn", doc: "the column of a CSV file (or .tsv) whose cells are the payloads, by its name in the first line", fallback: "none"},
	{path: "headers", doc: "headers of every message (properties, fields): names and values, or {count: 5, size: 20} for five generated ones with values of 20 bytes; refused where the protocol has none", fallback: "none"},
	{path: "keyDistributor", doc: "which key a message gets", allowed: []string{noKey, keyRoundRobin, randomNano, keyRandom, keyZipf}},
	{path: "keys", doc: "distinct keys"},
	{path: "zipfExponent", doc: "skew of ZIPF keys, above 1"},

	{path: "measure", doc: "what is measured", fallback: "inferred from the given groups, else sustainable", allowed: measures},
	{path: "load.shape", doc: "how the rate changes with time; searches and curves: constant or poisson arrivals", allowed: []string{constant, poisson, steps, ramp, bursts}},
	{path: "load.rate", doc: "messages per second over all producers; count and backlog without it go as fast as the in-flight window allows", fallback: "none"},
	{path: "load.to", doc: "ramp: the rate at its end", fallback: "none"},
	{path: "load.steps", doc: "steps: one after the other, such as [{rate: 1k, for: 1m}, {rate: 1k, to: 5k, for: 30s}], which goes evenly from 1k to 5k; the last rate holds", fallback: "none"},
	{path: "load.repeat", doc: "steps: they begin again after the last one", fallback: "false"},
	{path: "load.burst.rate", doc: "bursts: messages per second within a burst", fallback: "none"},
	{path: "load.burst.every", doc: "bursts: time from one start to the next", fallback: "none"},
	{path: "load.burst.for", doc: "bursts: length of one", fallback: "none"},
	{path: "warmup.auto", doc: "warm up until rate and median latency stop drifting (short form: warmup: auto)"},
	{path: "warmup.for", doc: "length of the warm-up; with auto the shortest (short form: warmup: 5s)", fallback: "5s; 1m in a file that says testDurationMinutes"},
	{path: "warmup.max", doc: "with auto: the longest warm-up", fallback: "30s"},
	{path: "duration", doc: "length of the measured phase", fallback: "30s"},
	{path: "drain", doc: "allowance for everything to arrive after the last send", fallback: "10s; peak 1m, count 2m, backlog 10m"},
	{path: "inFlight.messages", doc: "messages a producer may have outstanding", fallback: "10000, fewer for more than 10 producers (100000 in all)"},
	{path: "inFlight.bytes", doc: "bytes a producer may have outstanding", fallback: "16MiB, fewer for more than 4 producers (64MiB in all), and room for 4 messages where all producers together need no more than 128MiB for that"},
	{path: "sustainable.width", doc: "how close the highest passing and the lowest failing rate must be, as a share", fallback: "0.05"},
	{path: "sustainable.trial", doc: "length of a short trial", fallback: "1s"},
	{path: "sustainable.confirm", doc: "length of a confirming trial", fallback: "5s"},
	{path: "sustainable.confirms", doc: "confirming trials that must pass", fallback: "2"},
	{path: "sustainable.exceed", doc: "share of the trial time at a rate in which the backlog may grow or the latency be above its bound; lost messages are never excused", fallback: "0.34"},
	{path: "sustainable.soak", doc: "length of one more trial at the rate that was found, longer than what the page cache takes (short form: --soak 10m)", fallback: "none"},
	{path: "sustainable.warmup", doc: "warm-up at the start of every trial; longer where the latency is longer than half of it", fallback: "500ms"},
	{path: "sustainable.maxTrials", doc: "most trials for each goal", fallback: "40"},
	{path: "sustainable.budget", doc: "time for the trials of each goal: none begins that would end later, though twice as long until a rate is confirmed (short form: --budget 30s)", fallback: "none"},
	{path: "sustainable.maxRate", doc: "highest rate to try", fallback: "none"},
	{path: "sustainable.quantile", doc: "quantile that sustainable.latency bounds; 1: the maximum", fallback: "0.99"},
	{path: "sustainable.latency", doc: "bound of the end-to-end latency", fallback: "none"},
	{path: "sustainable.goals", doc: "several bounds in one search, such as [{}, {latency: 10ms, quantile: 0.99}]; {} bounds no latency; the first is the rate that reports show", fallback: "one, of sustainable.latency"},
	{path: "curve.fractions", doc: "rates as shares of the sustainable rate, which is searched first", fallback: "0.1, 0.25, 0.5, 0.75, 0.9 unless curve.rates are given"},
	{path: "curve.rates", doc: "fixed rates, messages per second", fallback: "none"},
	{path: "count.messages", doc: "messages to send, over all producers", fallback: "1000000 unless count.bytes is given"},
	{path: "count.bytes", doc: "bytes of payload to send, over all producers", fallback: "none"},
	{path: "backlog.bytes", doc: "bytes of payload to pile up before the consumers start", fallback: "none"},
	{path: "backlog.messages", doc: "messages to pile up before the consumers start", fallback: "100000 unless backlog.bytes is given"},
	{path: "backlog.drainRatio", doc: "share of the backlog that must be gone, 0 to 1; 0: drain for the duration", fallback: "1"},
	{path: "backlog.keepSending", doc: "producers go on while consumers drain", fallback: "true with backlog.rate, else false"},
	{path: "backlog.rate", doc: "messages per second at which they go on", fallback: "load.rate"},
	{path: "backlog.topics", doc: "topics that have a backlog; the consumers of the others receive messages as they are sent (tail)", fallback: "all"},
	{path: "backlog.subscriptions", doc: "subscriptions of these topics that have a backlog; the consumers of the others tail", fallback: "all"},
	{path: "read.from", doc: "where to begin on a topic to which other programs publish; now: with the next message, for the duration; start: with the oldest one, as fast as possible, for the duration at most", fallback: "now", allowed: []string{ReadNow, ReadStart}},
	{path: "faults", doc: "faults injected into the broker, by offset from the start of the measured phase", fallback: "none"},
	{path: "objectives", doc: "bounds that the point should keep, by metric, such as {e2e_p99: '< 20ms', throughput: '> 99%', lost: 0}; a plain value is the worst that is allowed. They are judged in every report, and decide the exit code", fallback: "none"},
	{path: "seed", doc: "of payload contents, arrivals and keys, which each repetition draws anew; where given also of the order of points"},
	{path: "isolation", doc: "a new broker for each point, or one for all points of a repetition that need the same", fallback: "fresh; shared where attached", allowed: []string{fresh, shared}},
	{path: "brokerWarmup", doc: "how long a newly started broker runs under full load before its first measurement", fallback: "none"},
}

// aboutOf finds a setting's documentation by its path.
var aboutOf = func() map[string]about {
	m := map[string]about{}
	for _, a := range abouts {
		m[a.path] = a
	}
	return m
}()

func usualDelivery() string {
	return atMostOnce + " for " + names(func(d usual.Defaults) bool { return d.NoCopy }) + ", else " + atLeastOnce
}

func usualPersistence() string {
	return memory + " for " + names(func(d usual.Defaults) bool { return d.Persistence == usual.Memory }) +
		", and at most once where there is a choice; else " + log
}

func usualConnections() string {
	words := []string{fmt.Sprintf("0 up to %d topics; above:", fewTopics)}
	words = append(words, "1 for "+names(func(d usual.Defaults) bool { return d.Sharing == usual.AnyNumber })+",")
	for _, broker := range usual.BrokersWith(func(d usual.Defaults) bool { return d.Sharing > 0 && d.Sharing < usual.AnyNumber }) {
		words = append(words, fmt.Sprintf("1 per %d partitions for %s,", usual.Of(broker).Sharing, broker))
	}
	return strings.Join(append(words, "else 0"), " ")
}

// names lists the registered brokers for which are is true.
func names(are func(usual.Defaults) bool) string {
	if all := usual.BrokersWith(are); len(all) > 0 {
		return strings.Join(all, ", ")
	}
	return "none"
}
