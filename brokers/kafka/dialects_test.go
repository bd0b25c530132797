package kafka

import (
	"go/parser"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestEveryClientSettingIsSaidInOtherWordsOrMeantForThisDriver(t *testing.T) {
	said := map[string]bool{}
	for _, p := range phrases(1) {
		if said[p.Setting] || len(p.Words) != 3 || len(p.Sides) == 0 {
			t.Errorf("%s: said twice, or not in three libraries", p.Setting)
		}
		for value, words := range p.Values {
			if len(words) != 3 {
				t.Errorf("%s %s: not in three libraries", p.Setting, value)
			}
		}
		lacks := slices.Contains(p.Words, "")
		for _, words := range p.Values {
			lacks = lacks || slices.Contains(words, "")
		}
		if lacks && p.Else == "" {
			t.Errorf("%s: nothing says what to do without a counterpart", p.Setting)
		}
		said[p.Setting] = true
	}
	for _, s := range settings {
		if s.Scope == driver.ClientScope && said[s.Name] == slices.Contains(elsewhere, s.Name) {
			t.Errorf("%s: in other words %v", s.Name, said[s.Name])
		}
	}
}

func TestClientSettingsArePastedWithWhatWasInForce(t *testing.T) {
	quorum := driver.Guarantee{Delivery: driver.AtLeastOnce, Acks: driver.AcksQuorum, Ordering: driver.Ordered, Replicas: 1, Persistence: driver.Log}
	leader, atMostOnce, once := quorum, quorum, quorum
	leader.Acks, leader.Ordering = driver.AcksLeader, driver.Unordered
	atMostOnce.Delivery, atMostOnce.Acks = driver.AtMostOnce, driver.AcksNone
	once.Delivery = driver.ExactlyOnce
	for name, c := range map[string]struct {
		g      driver.Guarantee
		client map[string]any
		has    map[string][]string // by library
		not    []string            // in none
	}{
		"with a quorum, in order": {quorum, map[string]any{"linger.ms": 5, "compression.type": "lz4", "max.poll.records": 100, "metadata.max.age.ms": 9000}, map[string][]string{
			"Java": {
				"acks=all\n", "linger.ms=5\n", "enable.idempotence=true\n", "max.in.flight.requests.per.connection=5\n", "compression.type=lz4\n", "max.poll.records=100\n", "auto.offset.reset=earliest\n",
				"Without: partitioner one partition for each producer: the application has to choose",
			},
			"librdkafka":               {"enable.auto.offset.store=false\n", "fetch.wait.max.ms=500\n", "isolation.level=read_uncommitted\n", "topic.metadata.refresh.interval.ms=9000\n", "Without: max.poll.records 100: the application asks for so many at once"},
			"Python (confluent-kafka)": {`"linger.ms": 5,`, `"acks": "all",`, `"enable.idempotence": True,`, `"group.protocol": "classic",`, `"enable.auto.offset.store": False,`},
			"Go (franz-go)":            {"kgo.RequiredAcks(kgo.AllISRAcks()),", "kgo.ProducerLinger(5 * time.Millisecond),", "kgo.ProducerBatchCompression(kgo.Lz4Compression()),", "kgo.AutoCommitMarks(),", "Without: offsets marked after the work: the application marks"},
		}, []string{"buffer.memory", "\ncommit.interval", "transaction.timeout", "idempotent)", "kgo.MaxProduceRequests", "kgo.DisableIdempotentWrite"}},
		"with the leader": {leader, map[string]any{"delivery.timeout.ms": 0, "check.crcs": false, "enable.auto.commit": false, "buffer.memory": 65536}, map[string][]string{
			"Java":                     {"acks=1\n", "enable.idempotence=false\n", "max.in.flight.requests.per.connection=5\n", "delivery.timeout.ms=2147483647\n", "max.poll.records=2147483647\n", "buffer.memory=65536\n"},
			"librdkafka":               {"delivery.timeout.ms=0\n", "partitioner=murmur2_random\n", "Without: buffer.memory 65536: queue.buffering.max.kbytes"},
			"Python (confluent-kafka)": {`"check.crcs": False,`},
			"Go (franz-go)":            {"kgo.DisableIdempotentWrite(),", "kgo.MaxProduceRequestsInflightPerBroker(5),", "kgo.DisableFetchCRCValidation(),", "kgo.DisableAutoCommit(),", "kgo.MaxBufferedBytes(65536),"},
		}, []string{"auto.commit.interval", "kgo.AutoCommitInterval", "kgo.RecordPartitioner"}},
		"in order without idempotence": {quorum, map[string]any{"enable.idempotence": "false"}, map[string][]string{"Java": {"max.in.flight.requests.per.connection=1\n"}}, nil},
		"at most once":                 {atMostOnce, nil, map[string][]string{"Java": {"acks=0\n", "retries=0\n"}, "Go (franz-go)": {"kgo.RecordRetries(0),"}}, []string{"request.timeout.ms", "offset.store"}},
		"exactly once": {once, nil, map[string][]string{
			"Java":          {"isolation.level=read_committed\n", "transaction.timeout.ms=60000\n", "Without: commit.interval.ms 100: the application"},
			"Go (franz-go)": {"kgo.FetchIsolationLevel(kgo.ReadCommitted()),", "kgo.TransactionTimeout(60000 * time.Millisecond),"},
		}, nil},
		"for large messages": {leader, map[string]any{"batch.size": 1000}, map[string][]string{
			"Java": {"batch.size=5001024\n", "max.request.size=5001024\n"}, "librdkafka": {"message.max.bytes=5001024\n"}, "Go (franz-go)": {"kgo.ProducerBatchMaxBytes(5001024)"},
		}, nil},
		"by the broker": {leader, map[string]any{"group.protocol": "consumer", "partitioner": "uniform", "batch.size": 77777}, map[string][]string{
			"Java":          {"group.protocol=consumer\n"},
			"Go (franz-go)": {"kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()),", "kgo.UniformBytesPartitioner(77777, false, true, nil)"},
		}, []string{"session.timeout.ms", "partitioner.class"}},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := driver.Decode(settings, driver.ClientScope, c.client)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkClient(c.g, v); err != nil {
				t.Fatal(err)
			}
			largest := 100
			if name == "for large messages" {
				largest = 5_000_000
			}
			for _, p := range pasted(c.g, v, largest) {
				all := p.Text + "Without: " + strings.Join(p.Without, "\nWithout: ")
				for _, want := range c.has[p.Library] {
					if !strings.Contains(all, want) {
						t.Errorf("%s: no %q in\n%s", p.Library, want, all)
					}
				}
				for _, never := range append(c.not, "auto\n", "\"auto\"", "(auto)", "=\n", "%!") {
					if strings.Contains(p.Text, never) {
						t.Errorf("%s: %q in\n%s", p.Library, never, p.Text)
					}
				}
				if strings.HasPrefix(p.Library, "Go") {
					if _, err := parser.ParseExpr("[]kgo.Opt{\n" + p.Text + "}"); err != nil {
						t.Errorf("not Go: %v\n%s", err, p.Text)
					}
				}
			}
		})
	}
}
