// Package study knows what an experiment is: it decodes, completes, validates and expands specs, and gives each point its
// identity. It knows nothing of brokers' capabilities, processes, clocks or results.
package study

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Spec is one complete experiment description. In a record every default is filled in. JSON names are the YAML names; they are
// those of the OpenMessaging Benchmark's workload files if those have the setting.
type Spec struct {
	Name  string `json:"name,omitempty"`  // for people; not part of the point's identity
	Label string `json:"label,omitempty"` // for people; made from the axes if empty; not part of the identity

	// The broker.
	Broker  string         `json:"broker"`            // kafka, rabbitmq, nats, jetstream, sim, …
	Version string         `json:"version,omitempty"` // "" = the recipe's default; "broker: kafka@4.3.1" fills it too
	Attach  []string       `json:"attach,omitempty"`  // addresses of a running broker, instead of starting one
	Nodes   int            `json:"nodes"`             // cluster size
	TLS     string         `json:"tls"`               // off | on | mutual
	Server  map[string]any `json:"server,omitempty"`  // native server settings
	Client  map[string]any `json:"client,omitempty"`  // native client settings
	Topic   map[string]any `json:"topicConfig,omitempty"`

	// Credentials for an attached broker. The password itself is never in a spec; the sources of secrets are not part of the identity.
	Login        string `json:"login,omitempty"` // token, nkey, …; "" = user and password, where there is a user
	User         string `json:"user,omitempty"`
	PasswordEnv  string `json:"passwordEnv,omitempty"`  // environment variable
	PasswordFile string `json:"passwordFile,omitempty"` // its first line; with login: credentials or aws all of it
	OAuth        OAuth  `json:"oauth,omitzero"`         // with login: oauth
	CAFile       string `json:"caFile,omitempty"`       // PEM; "" = the system's authorities
	CertFile     string `json:"certFile,omitempty"`     // PEM, with tls: mutual
	KeyFile      string `json:"keyFile,omitempty"`      // PEM, with tls: mutual

	// The guarantee (see driver.Guarantee for the words).
	Delivery    string `json:"delivery"`
	Persistence string `json:"persistence"`
	Replicas    int    `json:"replicas"`
	Acks        string `json:"acks"`
	Ordering    string `json:"ordering"`

	// The topology.
	TopicName             string `json:"topicName,omitempty"`   // one that is on the attached broker, and stays as it is; "": topics are made
	TopicPrefix           string `json:"topicPrefix,omitempty"` // prefix of all created names; not part of the identity
	Topics                int    `json:"topics"`
	PartitionsPerTopic    int    `json:"partitionsPerTopic"`
	ProducersPerTopic     int    `json:"producersPerTopic"`
	SubscriptionsPerTopic int    `json:"subscriptionsPerTopic"`
	// ConsumerPerSubscription is one number for every subscription of a topic, or one for each: 3+2.
	ConsumerPerSubscription Consumers `json:"consumerPerSubscription"`
	// Connections is the number of connections among which the topics are divided: the producers of the topics on a connection
	// share it, and so do their consumers of a subscription. 0: every producer and consumer has its own.
	Connections int `json:"connections,omitempty"`
	// ProducerDelay is the time for which a producer works on each message before it sends it, one after the other.
	ProducerDelay Duration `json:"producerDelay,omitempty"`
	// ConsumerDelay is the time for which a consumer works on each message before it takes the next; the message is acknowledged
	// after that. ConsumerDelays is the distribution of these times: constant or exponential.
	ConsumerDelay  Duration `json:"consumerDelay,omitempty"`
	ConsumerDelays string   `json:"consumerDelays,omitempty"`
	// Relays is the number of processes between producers and consumers, each of which consumes from the topics and produces to
	// further topics, which the consumers read; 0: consumers read the topics themselves.
	Relays int `json:"relays,omitempty"`
	// ConsumersApart runs the consumers in a process of their own, which measures the costs of producing and consuming separately.
	ConsumersApart bool `json:"consumersApart,omitempty"`
	// Limits bound the resources of each process of a part that is started here; 0 means no limit.
	Limits Limits `json:"limits,omitzero"`
	// DataInMemory is how many bytes of data each node of a broker that is started here may have, in memory; 0: they are on the disk.
	DataInMemory Size `json:"dataInMemory,omitempty"`
	// Network slows the connections between parts.
	Network Network `json:"network,omitzero"`
	// Place says which agents have a topic's producers and consumers.
	Place Place `json:"place,omitzero"`

	// Generator is a load generator of the broker's maker that runs instead of producers and consumers of ours; "": ours.
	Generator string `json:"generator,omitempty"`
	// Pipeline puts an application around the broker; nil: producers and consumers alone.
	Pipeline *Pipeline `json:"pipeline,omitempty"`

	// The messages.
	MessageSize               Sizes   `json:"messageSize"` // one size or a weighted distribution
	UseRandomizedPayloads     bool    `json:"useRandomizedPayloads"`
	RandomBytesRatio          float64 `json:"randomBytesRatio"` // share that doesn't compress, 0..1
	RandomizedPayloadPoolSize int     `json:"randomizedPayloadPoolSize"`
	PayloadFile               string  `json:"payloadFile,omitempty"`   // a file, or a directory of files, as written in the document
	PayloadColumn             string  `json:"payloadColumn,omitempty"` // of CSV: the column whose cells are the payloads
	PayloadDigest             string  `json:"payloadDigest,omitempty"` // of the samples' contents: replaces PayloadFile in the identity
	Headers                   Headers `json:"headers,omitempty"`       // of every message, beside its payload
	KeyDistributor            string  `json:"keyDistributor"`          // NO_KEY | KEY_ROUND_ROBIN | RANDOM_NANO | RANDOM | ZIPF
	Keys                      int     `json:"keys"`                    // number of distinct keys
	ZipfExponent              float64 `json:"zipfExponent"`            // > 1

	// The measurement.
	Measure     string      `json:"measure"` // rate | peak | sustainable | curve | count | backlog | read
	Load        Load        `json:"load"`
	Warmup      Warmup      `json:"warmup"`
	Duration    Duration    `json:"duration"` // of the measured phase
	Drain       Duration    `json:"drain"`    // allowance for everything to arrive after the last send
	InFlight    InFlight    `json:"inFlight"`
	Sustainable Sustainable `json:"sustainable"`
	Curve       Curve       `json:"curve"`
	Count       Count       `json:"count"`
	Backlog     Backlog     `json:"backlog"`
	Read        Read        `json:"read,omitzero"`
	Faults      []Fault     `json:"faults,omitempty"`
	Objectives  Objectives  `json:"objectives,omitempty"` // targets of the point; not part of the identity
	Seed        int64       `json:"seed"`                 // payload contents, Poisson arrivals, keys
	Isolation   string      `json:"isolation"`            // fresh (a new broker per point and repetition) | shared (one per repetition and broker settings)
	// BrokerWarmup is how long a broker that was just started is driven before its first measurement; 0: not at all.
	BrokerWarmup Duration `json:"brokerWarmup,omitempty"`
}

// Objectives are bounds by the names of metrics: "< 20ms", "> 99%", or 0, which may not be exceeded. They don't change the
// measurement. Package gate knows what the names and bounds mean.
type Objectives map[string]any

// OAuth is the endpoint and the scope of a client's token: OAuth 2, client credentials.
type OAuth struct {
	URL      string `json:"url,omitempty"`
	Scope    string `json:"scope,omitempty"`
	Audience string `json:"audience,omitempty"`
}

// Pipeline is the application around the broker: a client posts rides over HTTP to servers, each of which publishes them through
// a pool of producers, and a consumer keeps every skier's record. ConsumerPerSubscription is the number of its threads.
type Pipeline struct {
	Servers  int    `json:"servers"`  // instances
	Balancer string `json:"balancer"` // none | haproxy | nginx
	Pool     int    `json:"pool"`     // producers of each server
	Answer   string `json:"answer"`   // confirmed | at-once
	Threads  int    `json:"threads"`  // of the client: of its second phase, or of an open loop
	State    string `json:"state"`    // of the consumer: memory | sqlite
}

// Limits are those of the broker's nodes, of a pipeline's servers and balancer, and of the consumers if they are a process of their own.
type Limits struct {
	Broker   Limit `json:"broker,omitzero"`
	Server   Limit `json:"server,omitzero"`
	Balancer Limit `json:"balancer,omitzero"`
	Consumer Limit `json:"consumer,omitzero"`
}

// Limit bounds one process with all its children.
type Limit struct {
	CPU    float64 `json:"cpu,omitempty"` // cores
	Memory Size    `json:"memory,omitempty"`
	IO     Size    `json:"io,omitempty"` // per second
}

// Network has the path between the broker and all its clients, and the path between a pipeline's client and its servers.
type Network struct {
	Broker Path `json:"broker,omitzero"`
	Client Path `json:"client,omitzero"`
}

// Path slows traffic in both directions.
type Path struct {
	Delay     Duration `json:"delay,omitempty"`
	Jitter    Duration `json:"jitter,omitempty"`    // the most by which a delay may be longer, drawn evenly
	Bandwidth Size     `json:"bandwidth,omitempty"` // bytes per second of each connection
}

// Load is the open-loop schedule of the whole point; the producers divide it exactly.
type Load struct {
	Shape  string  `json:"shape"`            // constant | poisson | steps | ramp | bursts
	Rate   float64 `json:"rate"`             // messages per second over all producers (OMB: producerRate); ramp: the start
	To     float64 `json:"to,omitempty"`     // ramp: the end
	Steps  []Step  `json:"steps,omitempty"`  // steps: one after the other; the last rate holds
	Repeat bool    `json:"repeat,omitempty"` // steps: they begin again after the last one
	Burst  *Burst  `json:"burst,omitempty"`  // bursts: on top of Rate
}

// Step is a rate for a time; it is constant, or changes linearly to To if that is set.
type Step struct {
	Rate float64  `json:"rate"`
	To   *float64 `json:"to,omitempty"`
	For  Duration `json:"for"`
}

// End is the rate at the end of the step.
func (s Step) End() float64 {
	if s.To == nil {
		return s.Rate
	}
	return *s.To
}

// Burst sends Rate for For at the start of every Every, Load.Rate otherwise.
type Burst struct {
	Rate  float64  `json:"rate"`
	Every Duration `json:"every"`
	For   Duration `json:"for"`
}

// Warmup is a fixed time, or automatic: until rate and median latency stop drifting, at most Max.
type Warmup struct {
	Auto bool     `json:"auto"`
	For  Duration `json:"for"` // with Auto: the shortest
	Max  Duration `json:"max"` // with Auto: the longest
}

// InFlight bounds a producer's outstanding messages.
type InFlight struct {
	Messages int  `json:"messages"` // per producer
	Bytes    Size `json:"bytes"`    // per producer
}

// Sustainable is the goal of the search for the highest sustainable rate (docs/method.md).
type Sustainable struct {
	Width     float64      `json:"width"`             // highest passing and lowest failing within this share, 0.05
	Trial     Duration     `json:"trial"`             // short trial
	Confirm   Duration     `json:"confirm"`           // long trial
	Confirms  int          `json:"confirms"`          // how many long trials must pass
	Exceed    float64      `json:"exceed,omitempty"`  // share of the trial time at a rate that may fail by backlog or latency
	Soak      Duration     `json:"soak,omitempty"`    // one more trial of this length at the rate that was found; 0: none
	Warmup    Duration     `json:"warmup"`            // at the start of every trial
	MaxTrials int          `json:"maxTrials"`         // for each goal; void ones don't count, up to as many again
	Budget    Duration     `json:"budget,omitempty"`  // for each goal: no trial begins that would end later; 0: no bound
	MaxRate   float64      `json:"maxRate,omitempty"` // 0: no bound
	Quantile  float64      `json:"quantile"`          // of the latency bound, e.g. 0.99
	Latency   Duration     `json:"latency,omitempty"` // end-to-end bound at Quantile; 0: none
	Goals     []SearchGoal `json:"goals,omitempty"`   // several bounds, judged from the same trials, instead of Latency
}

// SearchGoal is one bound for which a search finds the sustainable rate.
type SearchGoal struct {
	Latency  Duration `json:"latency,omitempty"`  // end-to-end bound at Quantile; 0: none
	Quantile float64  `json:"quantile,omitempty"` // 0.99; 0 without a bound
}

// Bounds are the bounds of the search: Goals, or else the one of Latency.
func (s Sustainable) Bounds() []SearchGoal {
	switch {
	case len(s.Goals) > 0:
		return s.Goals
	case s.Latency > 0:
		return []SearchGoal{{s.Latency, s.Quantile}}
	}
	return []SearchGoal{{}}
}

// Curve measures latency at fractions of the sustainable rate (searched first), or at fixed rates.
type Curve struct {
	Fractions []float64 `json:"fractions,omitempty"`
	Rates     []float64 `json:"rates,omitempty"`
}

// Count sends exactly this many messages, or bytes of payload, as fast as the in-flight window allows, or at Load.
type Count struct {
	Messages int64 `json:"messages,omitempty"`
	Bytes    Size  `json:"bytes,omitempty"`
}

// Backlog fills the topics with consumers off, then drains them (OMB: consumerBacklogSizeGB, backlogDrainRatio).
type Backlog struct {
	Bytes       Size    `json:"bytes,omitempty"`
	Messages    int64   `json:"messages,omitempty"`
	DrainRatio  float64 `json:"drainRatio"`  // drained when this share of the backlog is gone, 1.0 = all
	KeepSending bool    `json:"keepSending"` // producers go on while consumers drain, at Rate or else at Load
	Rate        float64 `json:"rate,omitempty"`
	// Topics and Subscriptions are the numbers of topics, and of subscriptions of each of these, that have the backlog; 0: all.
	// The consumers of the others receive messages from the beginning.
	Topics        int `json:"topics,omitempty"`
	Subscriptions int `json:"subscriptions,omitempty"`
}

// Lagging returns the numbers of topics, and of subscriptions of each of these, that have the backlog.
func (s Spec) Lagging() (topics, subscriptions int) {
	if s.Measure != MeasureBacklog {
		return 0, 0
	}
	return cmp.Or(s.Backlog.Topics, s.Topics), cmp.Or(s.Backlog.Subscriptions, s.SubscriptionsPerTopic)
}

// Tails reports whether some consumers have a backlog while others receive messages as they are sent.
func (s Spec) Tails() bool {
	topics, subscriptions := s.Lagging()
	return topics > 0 && subscriptions > 0 && (topics < s.Topics || subscriptions < s.SubscriptionsPerTopic)
}

// Read reads a topic to which other programs publish (Spec.TopicName), and sends nothing.
type Read struct {
	From string `json:"from,omitempty"` // now: what comes from now on | start: what is stored, as fast as it goes
}

// Fault is an action on a broker process at an offset from the start of the measured phase.
type Fault struct {
	At   Duration `json:"at"`
	Do   string   `json:"do"`             // pause | resume | kill | restart
	Node string   `json:"node,omitempty"` // "" = 1; a number, "all", or "leader"
	For  Duration `json:"for,omitempty"`  // pause: resume after; kill: restart after
}

// ID identifies the experiment of a complete Spec: the first 16 hex digits of the SHA-256 of its canonical JSON, without name,
// label, topicPrefix and objectives. It doesn't depend on the order of keys, on spelling (1KiB or 1024, 60s or 1m), on the path
// of payload samples (only on their contents), or on the sources of passwords, tokens and certificates.
func (s Spec) ID() string {
	s.Name, s.Label, s.TopicPrefix, s.Objectives = "", "", "", nil
	if s.PayloadDigest != "" {
		s.PayloadFile, s.PayloadColumn = "", ""
	}
	s.PasswordEnv, s.PasswordFile, s.CAFile, s.CertFile, s.KeyFile, s.OAuth = "", "", "", "", "", OAuth{}
	s.Server, s.Client, s.Topic = spelled(s.Server), spelled(s.Client), spelled(s.Topic)
	s.Headers = spelled(s.Headers)
	data, err := json.Marshal(s)
	if err == nil {
		// Once more through a map: keys sorted, so that moving a field within Spec changes no identity.
		var keys map[string]any
		exact := json.NewDecoder(bytes.NewReader(data))
		exact.UseNumber() // a seed beyond 2^53 must keep its digits
		if err = exact.Decode(&keys); err == nil {
			data, err = json.Marshal(keys)
		}
	}
	if err != nil {
		panic(fmt.Sprintf("study: a spec that can't be written: %v", err)) // NaN: validation comes first
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// spelled writes native values as text: 4 from YAML, and "4" and 4.0 from a stored record, are the same to a broker.
func spelled(native map[string]any) map[string]any {
	if len(native) == 0 {
		return nil
	}
	out := make(map[string]any, len(native))
	for name, v := range native {
		if f, ok := v.(float64); ok {
			out[name] = number(f)
			continue
		}
		out[name] = fmt.Sprint(v)
	}
	return out
}

// number formats a float shortly and without an exponent.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// inWords formats a number for a sentence, without hundreds of digits.
func inWords(f float64) string {
	if size := math.Abs(f); size >= 1e21 || 0 < size && size < 1e-6 {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return number(f)
}
