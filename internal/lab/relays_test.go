package lab_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/brokermark/brokermark/brokers/kafka"
	_ "github.com/brokermark/brokermark/brokers/pulsar"
	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/testkit"
)

// Relays, and in some cases the broker, are killed during a load. With exactly-once, no message is lost or duplicated; with
// at-least-once, the books count the messages that were relayed again since the last commit.
func TestBooksBalanceThoughRelaysAreKilled(t *testing.T) {
	testkit.Long(t)
	const load = `
acks: quorum
measure: rate
load.rate: 500
duration: 8s
warmup: 1s
drain: 2m
relays: 2
partitionsPerTopic: 2
keyDistributor: KEY_ROUND_ROBIN
keys: 20
`
	const kafka, pulsar = "broker: kafka\nordering: ordered\n", `
broker: pulsar
server: {jvm.Xms: 256m, jvm.Xmx: 512m, jvm.XX:MaxDirectMemorySize: 512m, jvm.XX:TieredStopAtLevel: 1}
`
	const both = "faults: [{at: 2s, do: kill, node: relay-1, for: 500ms}, {at: 4s, do: kill, node: relay-2, for: 500ms}]\n"
	for name, c := range map[string]struct {
		more    string
		faults  int
		repeats bool
	}{
		"exactly once": {more: kafka + "delivery: exactly-once\nclient: {commit.interval.ms: 300}\n" + both, faults: 4},
		"exactly once, groups of the broker": { // which gives a name that died to nobody before its session has ended
			more: kafka + `
delivery: exactly-once
client: {group.protocol: consumer}
server: {group.consumer.min.session.timeout.ms: 5000, group.consumer.session.timeout.ms: 5000}
faults: [{at: 2s, do: kill, node: relay-1, for: 500ms}]
`, faults: 2,
		},
		"exactly once, and the broker is killed": {
			more: kafka + "delivery: exactly-once\nfaults: [{at: 2s, do: kill, node: relay-1, for: 500ms}, {at: 3s, do: kill, for: 500ms}]\n", faults: 4,
		},
		"at least once":         {more: kafka + "delivery: at-least-once\nclient: {auto.commit.interval.ms: 600000}\n" + both, faults: 4, repeats: true},
		"Pulsar, at least once": {more: pulsar + "ordering: ordered\ndelivery: at-least-once\nclient: {ackGroupingTime: 10m, ackGroupingMaxSize: 100000}\n" + both, faults: 4, repeats: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := runPoint(t, parseSpec(t, load+c.more), lab.Options{Host: sharedHost(t)})
			if r.Status != store.OK {
				t.Fatalf("%s: %s, %+v", r.Status, r.Reason, r.Result)
			}
			b := r.Result.Books
			if !b.Balanced() || b.Due != 4000 || b.Acked != 4000 || b.Received != 4000 || b.Corrupted > 0 || r.Spec.Ordering == "ordered" && b.Reordered > 0 {
				t.Errorf("%+v", b)
			}
			if b.Duplicated > 0 != c.repeats {
				t.Errorf("%d came again", b.Duplicated)
			}
			if f := r.Result.Faults; len(f) != c.faults || f[0].Part != "relay-1" || f[0].Err != "" || f[1].Do != "restart" {
				t.Errorf("%+v", f)
			}
			if v := store.Promise(r.Spec, r.Failover, b); v.Promise != ledger.Kept {
				t.Errorf("%+v", v)
			}
			if cost := r.Result.Cost.Relays; cost == nil || cost.UserSeconds+cost.SystemSeconds <= 0 || cost.RSSBytes < 1<<20 {
				t.Errorf("the relays used %+v", cost)
			}
			t.Logf("%+v, faults %+v, outage %+v, relays %+v, doubts %+v", b, r.Result.Faults, r.Result.Outage, r.Result.Cost.Relays, r.Doubts)
		})
	}
}

// A relay is a process of ours: the broker is not to blame for its pauses.
func TestARelayThatStoodStillIsDoubted(t *testing.T) {
	testkit.Long(t)
	host := sharedHost(t)
	go func() {
		for t.Context().Err() == nil {
			if pid := relayProcess(t, host.Dir); pid != 0 {
				time.Sleep(5 * time.Second) // warm-up takes two, and connecting less than one
				_ = syscall.Kill(pid, syscall.SIGSTOP)
				time.Sleep(time.Second)
				_ = syscall.Kill(pid, syscall.SIGCONT)
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	const load = `
broker: kafka
acks: quorum
ordering: ordered
delivery: at-least-once
measure: rate
load.rate: 500
duration: 10s
warmup: 2s
drain: 1m
relays: 1
`
	r := runPoint(t, parseSpec(t, load), lab.Options{Host: host})
	for _, d := range r.Doubts {
		if d.Code == doubt.Pauses.Code() && strings.Contains(d.Text, "; a relay stood still") {
			return
		}
	}
	t.Errorf("%s: %+v", r.Status, r.Doubts)
}

// relayProcess returns the process id of a relay below a directory; 0 if there is none.
func relayProcess(t *testing.T, directory string) int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Error(err)
	}
	for _, file := range all {
		text, _ := os.ReadFile(file) // gone meanwhile
		process := filepath.Dir(file)
		if name, _ := os.ReadFile(filepath.Join(process, "comm")); strings.Contains(string(text), directory) && string(name) == agent.RelaysPart+"\n" {
			pid, _ := strconv.Atoi(filepath.Base(process))
			return pid
		}
	}
	return 0
}
