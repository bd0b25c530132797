package studies_test

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/study"
)

func kafkaWords(p study.Point) string {
	s := p.Spec
	return fmt.Sprintf("%s×%d %s batch %v linger %v %s partitions %d flush %v acks %s, %s from %s, %d subscriptions",
		s.Broker, s.Nodes, s.MessageSize, s.Client["batch.size"], s.Client["linger.ms"], s.Client["compression.type"],
		s.PartitionsPerTopic, s.Topic["flush.messages"], s.Acks, s.Measure, s.PayloadFile, s.SubscriptionsPerTopic)
}

func rabbitWords(p study.Point) string {
	s := p.Spec
	return fmt.Sprintf("%s×%d %s queues %d×%d exchange %v length %v %s %s", s.Broker, s.Nodes, s.MessageSize, s.Topics,
		s.PartitionsPerTopic*s.SubscriptionsPerTopic*s.ProducersPerTopic*s.ConsumerPerSubscription.Largest(), s.Topic["exchange"],
		s.Topic["x-max-length"], acknowledged(s), s.Persistence)
}

// acknowledged says who acknowledges: the consumer alone, in section 3.2.2, or the broker to producers as well.
func acknowledged(s study.Spec) string {
	ack, prefetch, every := s.Client["consumer.ack"], s.Client["prefetch"], s.Client["ack.every"]
	switch {
	case s.Delivery == "at-most-once" && s.Acks == "none" && ack == nil:
		return "automatic"
	case s.Delivery == "at-most-once" && s.Acks == "none":
		return fmt.Sprintf("manual (%v, %v, %v)", ack, prefetch, every)
	default:
		return fmt.Sprintf("%s, confirmed (%v, %v)", s.Delivery, prefetch, every)
	}
}

// acknowledgements are those of section 4.3.2: "manual and auto".
var acknowledgements = []string{"automatic", "manual (after, 0, 1)"}

// batches are those of every Kafka experiment of section 4.3.1.
var batches = steps(10_000, 200_000, 10_000)

// levels are the acknowledgements of experiments one and two: "level one for one set of experiments and level three for
// the other set"; by section 3.2.1 none, and all replicas.
var levels = []string{"none", "quorum"}

const (
	kafkaSaid  = "kafka×3 500 batch %d linger %v %s partitions %d flush %v acks %s, peak from letters500.txt, 0 subscriptions"
	rabbitSaid = "rabbitmq×3 500 queues %d×%d exchange %v length %v %s log"
)

var rabiee = map[string]ran{
	"kafka-1": {"4.3.1 one", 20 * 4 * 2, func(yield func(string)) {
		for _, batch := range batches {
			for _, partitions := range []int{5, 15, 30, 50} {
				for _, acks := range levels {
					yield(fmt.Sprintf(kafkaSaid, batch, 0, "snappy", partitions, nil, acks))
				}
			}
		}
	}, kafkaWords},
	"kafka-2": {"4.3.1 two", 20 * 10 * 2 * 2, func(yield func(string)) {
		for _, batch := range batches {
			for _, linger := range steps(10, 100, 10) {
				for _, partitions := range []int{5, 15} {
					for _, acks := range levels {
						yield(fmt.Sprintf(kafkaSaid, batch, linger, "snappy", partitions, nil, acks))
					}
				}
			}
		}
	}, kafkaWords},
	"kafka-3": {"4.3.1 three", 20 * 2, func(yield func(string)) {
		for _, batch := range batches {
			for _, compression := range []string{"snappy", "none"} {
				yield(fmt.Sprintf(kafkaSaid, batch, 0, compression, 5, nil, "leader"))
			}
		}
	}, kafkaWords},
	"kafka-4": {"4.3.1 four", 6 * 2 * 20, func(yield func(string)) {
		for _, flush := range []int{1, 1000, 5000, 10_000, 20_000, 30_000} {
			for _, partitions := range []int{5, 15} {
				for _, batch := range batches {
					yield(fmt.Sprintf(kafkaSaid, batch, 0, "snappy", partitions, flush, "leader"))
				}
			}
		}
	}, kafkaWords},
	"rabbitmq-1": {"4.3.2 one", 50 * 2, func(yield func(string)) {
		for _, queues := range steps(1, 50, 1) {
			for _, ack := range acknowledgements {
				yield(fmt.Sprintf(rabbitSaid, queues, 1, "fanout", nil, ack))
			}
		}
	}, rabbitWords},
	"rabbitmq-1-broadcast": {"4.3.2 one, its other reading", 49 * 2, func(yield func(string)) {
		for _, queues := range steps(2, 50, 1) {
			for _, ack := range acknowledgements {
				yield(fmt.Sprintf(rabbitSaid, 1, queues, "fanout", nil, ack))
			}
		}
	}, rabbitWords},
	"rabbitmq-2": {"4.3.2 two", 50 * 2, func(yield func(string)) {
		for _, queues := range steps(1, 50, 1) {
			for _, ack := range acknowledgements {
				yield(fmt.Sprintf(rabbitSaid, queues, 1, nil, nil, ack))
			}
		}
	}, rabbitWords},
	"rabbitmq-2-confirms": {"none: it is ours", 50, func(yield func(string)) {
		for _, queues := range steps(1, 50, 1) {
			yield(fmt.Sprintf(rabbitSaid, queues, 1, nil, nil, "at-least-once, confirmed (0, 1)"))
		}
	}, rabbitWords},
	"rabbitmq-3": {"4.3.2 three", 5 * 50 * 2, func(yield func(string)) {
		for _, length := range []int{-1, 10, 100, 1000, 10_000} { // -1: "the default length"
			for _, queues := range steps(1, 50, 1) {
				for _, ack := range acknowledgements {
					yield(fmt.Sprintf(rabbitSaid, queues, 1, nil, length, ack))
				}
			}
		}
	}, rabbitWords},
}

var nilssonSizes = []int{8, 64, 512, 4096, 32768, 262144, 1048000}

// sized names each combination of the thesis' sizes with one of the settings, each at 30 rates with 10 s before and 10 s of
// data (sections 3.3 and 3.5.2).
func sized(settings ...string) func(yield func(string)) {
	return func(yield func(string)) {
		for _, size := range nilssonSizes {
			for _, s := range settings {
				yield(fmt.Sprintf("%d B %s, 30 rates of 10s after 10s", size, s))
			}
		}
	}
}

func unit(settings func(s study.Spec) string) func(p study.Point) string {
	return func(p study.Point) string {
		s := p.Spec
		return fmt.Sprintf("%d B %s, %d rates of %s after %s", s.MessageSize.Largest(), settings(s), len(s.Curve.Fractions), s.Duration, s.Warmup.For)
	}
}

var nilsson = map[string]ran{
	"kafka": {
		"3.2", 28, sized("at-most-once none 1", "at-least-once leader 1", "at-most-once none 8", "at-least-once leader 8"),
		unit(func(s study.Spec) string {
			return fmt.Sprintf("%s %s %d", s.Delivery, s.Acks, s.PartitionsPerTopic)
		}),
	},
	"rabbitmq": {
		"3.2", 28, sized("at-most-once log", "at-least-once log", "at-most-once memory", "at-least-once memory"),
		unit(func(s study.Spec) string { return s.Delivery + " " + s.Persistence }),
	},
	"nats-streaming": {
		"3.2", 28, sized("at-most-once log true", "at-least-once log true", "at-most-once memory <nil>", "at-least-once memory <nil>"),
		unit(func(s study.Spec) string {
			return fmt.Sprintf("%s %s %v", s.Delivery, s.Persistence, s.Server["streaming.file.sync"])
		}),
	},
}

// models are those of section 4.5 on each broker.
func models(yield func(broker string, producers, subscriptions int)) {
	for _, broker := range []string{"activemq", "rabbitmq", "kafka"} {
		for _, producers := range []int{1, 2} {
			for _, consumers := range []int{1, 2} {
				yield(broker, producers, consumers)
			}
		}
	}
}

// rajeWords has the same promise for all brokers: the thesis sets nothing, and its consumers alone acknowledge (6.1, 6.2).
func rajeWords(p study.Point) string {
	s := p.Spec
	messages := s.Count.Messages
	if messages == 0 {
		messages = int64(s.Count.Bytes) / int64(s.MessageSize.Largest())
	}
	return fmt.Sprintf("%s %d:%d %d × %d B at %g/s %s acks %s consumers %v", s.Broker, s.ProducersPerTopic, s.SubscriptionsPerTopic, messages,
		s.MessageSize.Largest(), s.Load.Rate, s.Delivery, s.Acks, s.Client["consumer.ack"])
}

const rajeSaid = "%s %d:%d %d × %d B at %g/s at-most-once acks none consumers after"

// sizesOfGigabyte are section 4.3 C and D. rates are ours, of messages of each size; 0: as fast as they go.
func sizesOfGigabyte(rates ...float64) func(yield func(string)) {
	return func(yield func(string)) {
		models(func(b string, p, c int) {
			for i, of := range [][2]int{{3906250, 256}, {1000000, 1000}, {200000, 5000}, {1000, 1000000}} {
				yield(fmt.Sprintf(rajeSaid, b, p, c, of[0], of[1], rates[i]))
			}
		})
	}
}

var raje = map[string]ran{
	"throughput": {"4.3 A", 12, func(yield func(string)) {
		models(func(b string, p, c int) { yield(fmt.Sprintf(rajeSaid, b, p, c, 1_000_000, 50, 0.0)) })
	}, rajeWords},
	"latency-by-number": {"4.3 B", 48, func(yield func(string)) { // numbers and rate are ours
		models(func(b string, p, c int) {
			for _, n := range []int{10_000, 30_000, 100_000, 1_000_000} {
				yield(fmt.Sprintf(rajeSaid, b, p, c, n, 50, 2000.0))
			}
		})
	}, rajeWords},
	"latency-by-size": {"4.3 C", 48, sizesOfGigabyte(9766, 2500, 500, 2.5), rajeWords},
	"time-by-size":    {"4.3 D", 48, sizesOfGigabyte(0, 0, 0, 0), rajeWords},
}

// pipelineWords are those of a point of the whole way, from clients to consumer.
func pipelineWords(p study.Point) string {
	s := p.Spec
	return fmt.Sprintf("%d servlets with %d channels, %d threads %s away, %d requests, %s consumers with %v, answered %s, %s, %g cores", s.Pipeline.Servers, s.Pipeline.Pool,
		s.Pipeline.Threads, s.Network.Client.Delay, s.Count.Messages, s.ConsumerPerSubscription, s.Client["prefetch"], s.Pipeline.Answer, acknowledged(s), s.Limits.Server.CPU)
}

var chen = map[string]ran{
	"pipeline": {"of the logs", 17, func(yield func(string)) {
		for servlets, threads := range map[int][]int{
			1: {100, 200, 300, 400, 500, 800},
			2: {100, 200, 300, 400, 500, 800, 1000},
			4: {300, 400, 500, 800},
		} {
			for _, n := range threads {
				yield(fmt.Sprintf("%d servlets with 20 channels, %d threads 26ms away, 200000 requests, 32 consumers with 1, answered at-once, manual (after, 1, 1), 0.2 cores", servlets, n))
			}
		}
	}, pipelineWords},
	"unlimited": {"none: it is ours", 6, func(yield func(string)) {
		for _, servlets := range []int{1, 2, 4} {
			for _, n := range []int{100, 800} {
				yield(fmt.Sprintf("%d servlets with 20 channels, %d threads 26ms away, 200000 requests, 32 consumers with 1, answered at-once, manual (after, 1, 1), 0 cores", servlets, n))
			}
		}
	}, pipelineWords},
}

var dyjachBrokers = []string{"kafka", "pulsar", "rabbitmq"}

// dividing are the client settings that have each message of a backlog go to the next partition or consumer.
var dividing = map[string]string{
	"kafka": "map[partitioner:round-robin]", "pulsar": "map[batchingEnabled:false receiverQueueSize:1]", "rabbitmq": "map[]",
}

// backlog is one of tables 1 to 3.
func backlog(table string, size int, work string, consumers ...int) ran {
	return ran{table, 3 * len(consumers), func(yield func(string)) {
		for _, broker := range dyjachBrokers {
			for _, n := range consumers {
				yield(fmt.Sprintf("%s 10000 × %d B to %d/%d working %s, %s", broker, size, n, n, work, dividing[broker]))
			}
		}
	}, func(p study.Point) string {
		s := p.Spec
		return fmt.Sprintf("%s %d × %d B to %d/%s working %s, %v", s.Broker, s.Backlog.Messages, s.MessageSize.Largest(), s.PartitionsPerTopic,
			s.ConsumerPerSubscription, s.ConsumerDelay, s.Client)
	}}
}

// stable is section 5.3, with and without TLS.
func stable(size int, bound string) ran {
	return ran{"5.3 and 5.4", 3 * 2 * 7, func(yield func(string)) {
		for _, broker := range dyjachBrokers {
			for _, tls := range []string{"off", "mutual"} {
				for _, n := range []int{1, 5, 10, 15, 25, 50, 100} {
					yield(fmt.Sprintf("%s %s %d B %d/%d below %s", broker, tls, size, n, n, bound))
				}
			}
		}
	}, func(p study.Point) string {
		s := p.Spec
		return fmt.Sprintf("%s %s %d B %d/%s below %s", s.Broker, s.TLS, s.MessageSize.Largest(), s.PartitionsPerTopic, s.ConsumerPerSubscription, s.Sustainable.Latency)
	}}
}

var dyjach = map[string]ran{
	"backlog-100B": backlog("table 1", 100, "18ms", 1, 5, 25, 50, 100),
	"backlog-10kB": backlog("table 2", 10_000, "31ms", 1, 5, 25, 50),
	"backlog-50kB": backlog("table 3", 50_000, "39ms", 1, 5, 25, 50, 75),
	"latency": {"5.2 and 5.4", 3 * 6 * 2, func(yield func(string)) {
		for _, broker := range dyjachBrokers {
			for _, size := range []int{100, 10_000, 30_000, 50_000, 100_000, 300_000} {
				for _, tls := range []string{"off", "mutual"} {
					yield(fmt.Sprintf("%s %s %d B 40/s for 1m", broker, tls, size))
				}
			}
		}
	}, func(p study.Point) string {
		return fmt.Sprintf("%s %s %d B %g/s for %s", p.Spec.Broker, p.Spec.TLS, p.Spec.MessageSize.Largest(), p.Spec.Load.Rate, p.Spec.Duration)
	}},
	"stable-100B": stable(100, "200ms"),
	"stable-10kB": stable(10_000, "1s"),
}

// papers are the published studies: what each ran, and the versions it is run on.
var papers = map[string]struct {
	ran      map[string]ran
	points   int // in all, of one version
	versions string
}{
	"rabiee-2018":         {rabiee, 1940 + 98 + 50, "now kafka@4.3.1, now rabbitmq@4.0.5, then kafka@1.1.1, then rabbitmq@3.10.8"},
	"nilsson-pregen-2020": {nilsson, 84, "now kafka@4.3.1, now nats-streaming@0.25.6, now rabbitmq@4.0.5, then kafka@2.2.0, then nats-streaming@0.17.0, then rabbitmq@3.10.8"},
	"raje-2019":           {raje, 156, "now activemq@6.3.1, now kafka@4.3.1, now rabbitmq@4.0.5, then activemq@5.15.9, then kafka@2.2.0, then rabbitmq@3.10.8"},
	"chen-2024":           {chen, 17 + 6, "now rabbitmq@4.0.5, then rabbitmq@3.10.8"},
	"dyjach-2024":         {dyjach, 162, "now kafka@4.3.1, now pulsar@4.0.8, now rabbitmq@4.0.5, then kafka@3.7.0, then rabbitmq@3.10.8"},
}
