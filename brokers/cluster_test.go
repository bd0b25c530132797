package all_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/brokermark/brokermark/brokers"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) { livetest.Main(m) }

// clusters are those whose copies wait for a quorum, small enough to stand beside each other on one machine.
var clusters = map[string]struct{ copies, server string }{
	"jetstream":       {"3", "ordering: unordered\n"},
	"kafka":           {"3", "server: {jvm.Xmx: 384m}\n"},
	"rabbitmq":        {"3", "topicConfig: {x-queue-type: quorum}\npersistence: fsync\n"},
	"rabbitmq-stream": {"3", ""},
	"artemis":         {"2", "server: {jvm.Xmx: 384m, jvm.Xms: 256m}\n"},
}

// Whether the copies really follow the leader, the lab asks each broker's administration before it measures. Qpid's group
// has such a test beside its driver; a proof of other faults, longer, is the study proof/BROKER.
func TestNothingAcknowledgedIsLostWhenTheLeaderOfAClusterIsKilled(t *testing.T) {
	for broker, c := range clusters {
		t.Run(broker, func(t *testing.T) {
			if broker == "kafka" || broker == "artemis" || broker == "rabbitmq-stream" {
				testkit.Long(t)
			}
			record := runOne(t, fmt.Sprintf(`
broker: %s
nodes: %s
replicas: %s
acks: quorum
delivery: at-least-once
%sload: {rate: 200}
warmup: 1s
duration: 6s
drain: 60s
faults: [{at: 1500ms, do: kill, node: leader}]
`, broker, c.copies, c.copies, c.server))
			if record.Result == nil {
				t.Fatalf("%s: %s", record.Status, record.Reason)
			}
			books, faults := record.Result.Books, record.Result.Faults
			if len(faults) != 1 || faults[0].Do != "kill" || faults[0].Err != "" {
				t.Fatalf("the leader was not killed: %+v", faults)
			}
			if books.LostAcked != 0 || books.Corrupted != 0 {
				t.Errorf("%d acknowledged messages lost, %d corrupted: %+v", books.LostAcked, books.Corrupted, books)
			}
			// 300 messages are due before the leader dies; what comes after it must be accepted by another.
			if books.Acked < 600 {
				t.Errorf("%d of %d messages acknowledged: nobody took over: %s %s", books.Acked, books.Sent, record.Status, record.Reason)
			}
			t.Logf("node %d killed; %d sent, %d acked, %d failed, %d received, %d lost (%d acknowledged), %d again: %s %s", faults[0].Node,
				books.Sent, books.Acked, books.Failed, books.Received, books.Lost, books.LostAcked, books.Duplicated, record.Status, record.Reason)
		})
	}
}

// runOne runs a spec once.
func runOne(t *testing.T, spec string) store.Record {
	t.Helper()
	testkit.Live(t)
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	livetest.Must(t, err)
	s, err := study.Parse("cluster.yaml", []byte(spec))
	livetest.Must(t, err)
	points, err := s.Points()
	livetest.Must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	_, err = host.Install(ctx, points[0].Spec.Broker, points[0].Spec.Version)
	livetest.Must(t, err)
	db, err := store.Open(filepath.Join(t.TempDir(), "store.db"))
	livetest.Must(t, err)
	defer db.Close()
	if _, err := lab.Run(ctx, study.Order(points, 1, 1, lab.SharedBroker), lab.Options{Store: db, Host: host, Log: io.Discard}); err != nil {
		t.Fatal(err)
	}
	records, err := db.Records(ctx, store.Filter{})
	if err != nil || len(records) != 1 {
		t.Fatalf("%d records: %v", len(records), err)
	}
	return records[0]
}
