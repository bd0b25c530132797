package lab_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/pipeline/parts"
	"github.com/brokermark/brokermark/internal/testkit"
)

// watchedDeliveries finds, in the samples that a watcher gets, the longest time that may have passed without a delivery.
type watchedDeliveries struct {
	received int64 // by the last sample
	latest   int64 // time of the last sample
	since    int64 // time of the last sample that did not have the last delivery yet
	longest  int64 // ns
}

func (w *watchedDeliveries) add(at, received int64) {
	if received > w.received {
		if w.received > 0 {
			w.longest = max(w.longest, at-w.since)
		}
		w.since = w.latest
	}
	w.latest, w.received = at, received
}

// Every part of a pipeline around JetStream is killed or paused during a load: each accepted ride is counted once, and the record
// holds the cost of each part.
func TestThePipelinesBooksBalanceThoughItsPartsDie(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	host := newHost(t)
	var w watchedDeliveries
	r := runCounts(t, parseSpec(t, `
broker: jetstream
persistence: log
measure: rate
load.rate: 400
duration: 4s
warmup: 500ms
drain: 30s
client: {AckWait: 1s}
pipeline: {threads: 60, pool: 4, state: sqlite}
consumerPerSubscription: 4
faults:
- {at: 500ms, do: kill, node: server-1, for: 300ms}
- {at: 1500ms, do: kill, node: consumer, for: 300ms}
- {at: 2500ms, do: pause, node: server-1, for: 300ms}
- {at: 3s, do: pause, node: "1", for: 300ms}
`), lab.Options{Host: host, Watch: func(e lab.Event) {
		if e.Kind == lab.Sampled && e.Target == 400 && e.CPU.Broker > 0 {
			w.add(e.Sample.At, e.Sample.Count.Received)
		}
	}})
	if w.received < 1000 { // what a live view is made of
		t.Errorf("the watcher saw %d rides received", w.received)
	}
	b, p := r.Result.Books, r.Result.Pipeline
	if !b.Balanced() || b.Due != 1600 || b.Acked != 1600 || b.Received != 1600 || b.LostAcked+b.Duplicated+b.Corrupted+b.Failed != 0 || b.Resent == 0 {
		t.Errorf("%+v", b)
	}
	if len(r.Result.Faults) != 8 || r.Result.Faults[0].Part != "server-1" || r.Result.Faults[7].Part != "" {
		t.Errorf("%+v", r.Result.Faults)
	}
	// The server stood still for 300 ms, and so did the broker.
	if o := r.Result.Outage; o == nil || o.SampleNs != 50e6 || o.PublishNs < 200e6 || o.ReceiveNs < 200e6 || o.ReceiveNs > w.longest+2*o.SampleNs {
		t.Errorf("the longest outages are %+v; the watcher saw none received for %d ns at most", o, w.longest)
	}
	if p.Response.Count() != 1600 || p.QueueMax == nil || len(p.Series) < 5 {
		t.Errorf("%d response times, queue %v, %d ticks", p.Response.Count(), p.QueueMax, len(p.Series))
	}
	for _, name := range []string{"client", "server", "broker", "consumer"} {
		if part, ok := p.Part(name); !ok || part.RSSBytes == 0 || part.UserSeconds+part.SystemSeconds <= 0 {
			t.Errorf("%s: %+v", name, part)
		}
	}
	checkNothingLeft(t, host)
}

// The client of a fault trial retries until the part that was killed is back: rides that were never accepted would prove nothing.
func TestAFaultThatLastsLongerThanTheClientsRetriesFailsNoRide(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	r := runCounts(t, parseSpec(t, `
broker: jetstream
persistence: log
measure: rate
load.rate: 200
duration: 2s
warmup: 0s
drain: 30s
pipeline: {threads: 60, pool: 4}
faults:
- {at: 500ms, do: kill, node: server-1, for: 5s}
`), lab.Options{Host: newHost(t)})
	if b := r.Result.Books; b.Due != 400 || b.Acked != 400 || b.Received != 400 || b.LostAcked+b.Duplicated != 0 {
		t.Errorf("%s: %s: %+v", r.Status, r.Reason, b)
	}
}

func TestAClosedLoopPipelineIsACount(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	host := newHost(t)
	r := runCounts(t, parseSpec(t, `
broker: jetstream
measure: count
count.messages: 1500
tls: on
pipeline: {threads: 20, pool: 3, answer: at-once}
consumerPerSubscription: 2
`), lab.Options{Host: host})
	if b := r.Result.Books; b.Sent != 1500 || b.Acked != 1500 || b.Received != 1500 || r.Result.Count.Messages != 1500 || r.Result.PublishRate <= 0 {
		t.Errorf("%+v, %+v", b, r.Result.Count)
	}
	if r.Spec.ProducersPerTopic != 3 {
		t.Errorf("%d producers", r.Spec.ProducersPerTopic)
	}
	checkNothingLeft(t, host)
}

func TestAPipelineNeedsABrokerInAProcessOfItsOwn(t *testing.T) {
	if r := runOnce(t, parseSpec(t, "broker: sim\nmeasure: count\npipeline: {threads: 2}\n"), lab.Options{}); r.Status != "refused" {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
}

// A broker is warmed up by rides that no book has, before the parts that are measured are started.
func TestAPipelinesBrokerIsWarmedUpByItsOwnLoad(t *testing.T) {
	testkit.NotShort(t)
	text := `
broker: jetstream
measure: count
count.messages: 300
isolation: shared
brokerWarmup: 1s
pipeline: {threads: 10, pool: 3}
consumerPerSubscription: 2
`
	first, second := parseSpec(t, text), parseSpec(t, text)
	second.Pipeline.Threads = 5
	stages, records := stagesOf(t, first, second)
	warming := func(s string) bool { return s == "warming up jetstream" }
	if len(stages) != 2 || !slices.ContainsFunc(stages[0], warming) || slices.ContainsFunc(stages[1], warming) {
		t.Errorf("stages %q", stages)
	}
	for _, r := range records {
		if b := r.Result.Books; r.Status != "ok" || b.Sent != 300 || b.Acked != 300 || b.Received != 300 || b.Duplicated != 0 {
			t.Errorf("%s: %s: %+v", r.Status, r.Reason, b)
		}
	}
}

// A part dies during a load although no fault kills it: the record says so and keeps the figures measured until then.
func TestAPartThatDiesEndsTheRunAndKeepsItsFigures(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	for part, program := range map[string]string{"server": parts.ServerPart, "consumer": parts.ConsumerPart} {
		t.Run(part, func(t *testing.T) {
			host := newHost(t)
			began := time.Now()
			var once sync.Once
			r := runOnce(t, parseSpec(t, `
broker: jetstream
measure: rate
load.rate: 200
duration: 20s
warmup: 200ms
pipeline: {threads: 20, pool: 4}
consumerPerSubscription: 2
`), lab.Options{Host: host, Watch: func(e lab.Event) {
				if e.Kind == lab.Sampled && e.Sample.Count.Acked >= 150 { // 40 of them are of the warm-up
					once.Do(func() { killProgram(t, host.Dir, program) })
				}
			}})
			if r.Status != "failed" || !strings.Contains(r.Reason, "the "+part+" died") || !strings.Contains(r.Reason, "killed") {
				t.Errorf("%s: %s", r.Status, r.Reason)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it ended after %s", took)
			}
			if r.Result == nil {
				t.Fatal("nothing that was measured is kept")
			}
			b := r.Result.Books
			if b.Acked < 100 || b.LostAcked+b.Duplicated != 0 || r.Result.Pipeline == nil || r.Result.Pipeline.Response.Count() != b.Acked || len(r.Result.Series) == 0 {
				t.Errorf("%+v", b)
			}
			if known := b.Received >= b.Acked; known != (part == "server") {
				t.Errorf("%d of %d accepted rides are counted", b.Received, b.Acked)
			}
			checkNothingLeft(t, host)
		})
	}
}

// Rides that were under way when the broker died never arrive. The consumer still tells which ones it has counted.
func TestABrokerThatDiesLeavesThePipelinesBooksKnown(t *testing.T) {
	testkit.NotShort(t)
	testkit.Long(t)
	t.Parallel()
	host := newHost(t)
	var once sync.Once
	r := runOnce(t, parseSpec(t, `
broker: jetstream
measure: rate
load.rate: 1000
duration: 20s
warmup: 0s
pipeline: {threads: 20, pool: 4, answer: at-once}
consumerPerSubscription: 2
`), lab.Options{Host: host, Watch: func(e lab.Event) {
		if e.Kind == lab.Sampled && e.Sample.Count.Received >= 500 {
			once.Do(func() { killProgram(t, host.Dir, "nats-server") })
		}
	}})
	if r.Status != "failed" || !strings.Contains(r.Reason, "the broker died") || r.Result == nil {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	if b := r.Result.Books; b.Received < 500 || b.Expected-b.Received != b.Lost || b.Lost == 0 {
		t.Errorf("%+v", b)
	}
	checkNothingLeft(t, host)
}

// killProgram ends the program of that name below dir.
func killProgram(t *testing.T, dir, name string) {
	list, err := os.ReadDir("/proc")
	if err != nil {
		t.Error(err)
	}
	killed := 0
	for _, e := range list {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		environment, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		if slices.Contains(strings.Split(string(line), "\x00"), name) && strings.Contains(string(environment), dir) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			killed++
		}
	}
	if killed == 0 {
		t.Errorf("no %s runs below %s", name, dir)
	}
}

// If a balancer can't be installed, the reason names it, and the parts that were started before it are stopped.
func TestAnErrorNamesTheBalancerThatCannotBeInstalled(t *testing.T) {
	testkit.NotShort(t)
	const text = "broker: jetstream\nmeasure: count\ncount.messages: 100\npipeline: {servers: 2, balancer: nginx}\n"
	empty, broken := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\necho 'E: Unable to locate package nginx' >&2\nexit 100\n"
	for _, program := range []string{"apt-get", "dpkg"} {
		if err := os.WriteFile(filepath.Join(broken, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ path, says string }{
		"without apt-get":       {empty, "apt-get"},
		"apt-get finds nothing": {broken, "Unable to locate package nginx"},
	} {
		t.Run(name, func(t *testing.T) {
			host := newHost(t)
			t.Setenv("PATH", c.path)
			r := runOnce(t, parseSpec(t, text), lab.Options{Host: host})
			if r.Status == "ok" || !strings.Contains(r.Reason, "nginx") || !strings.Contains(r.Reason, c.says) {
				t.Errorf("%s: %s", r.Status, r.Reason)
			}
			checkNothingLeft(t, host)
		})
	}
}
