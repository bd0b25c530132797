package lab_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/brokermark/brokermark/brokers/rabbitmq"
	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/testkit"
)

// Consumers in a process of their own give the same counts, and the record holds the cost of each side.
func TestConsumersOfTheirOwnProcessCountTheSame(t *testing.T) {
	t.Parallel()
	const fault = "a broker that is restarted"
	usual := []string{fault, "a rate", "loss that was asked for", "a curve"} // all others take long together
	for name, c := range map[string]struct {
		text  string
		check func(t *testing.T, r store.Record)
	}{
		"a rate": {`
broker: jetstream
load.rate: 5000
duration: 2s
warmup: 500ms
producersPerTopic: 2
subscriptionsPerTopic: 2
consumerPerSubscription: 2
`, func(t *testing.T, r store.Record) {
			if b := r.Result.Books; b.Due != 10_000 || b.Received != 20_000 || b.Lost+b.Duplicated+b.Corrupted != 0 {
				t.Errorf("%+v", b)
			}
		}},
		"a rate without a copy": {`
broker: nats
load.rate: 5000
duration: 2s
warmup: 500ms
`, func(t *testing.T, r store.Record) {
			if b := r.Result.Books; b.Due != 10_000 || b.Received != 10_000 {
				t.Errorf("%+v", b)
			}
		}},
		"an automatic warm-up": {`
broker: jetstream
load.rate: 5000
duration: 1s
warmup.auto: true
warmup.for: 1s
warmup.max: 2s
`, func(t *testing.T, r store.Record) {
			if b := r.Result.Books; b.Due != 5000 || b.Received != 5000 || b.Lost+b.Duplicated != 0 {
				t.Errorf("%+v", b)
			}
		}},
		"loss that was asked for": {`
broker: jetstream
measure: backlog
backlog.messages: 3000
topicConfig: {max_msgs: 1000}
`, func(t *testing.T, r store.Record) {
			if b := r.Result.Books; b.Sent != 3000 || b.Received != 1000 || b.Lost != 2000 || b.MayDrop != 2000 {
				t.Errorf("%+v", b)
			}
		}},
		"loss that was asked for of another broker": {`
broker: rabbitmq
measure: backlog
backlog.messages: 3000
topicConfig: {x-max-length: 1000}
`, func(t *testing.T, r store.Record) {
			if b := r.Result.Books; b.Sent != 3000 || b.Received != 1000 || b.Lost != 2000 || b.MayDrop != 2000 {
				t.Errorf("%+v", b)
			}
		}},
		"certificates": {`
broker: nats
tls: mutual
load.rate: 2000
duration: 1s
warmup: 300ms
`, func(t *testing.T, r store.Record) {
			if b := r.Result.Books; b.Due != 2000 || b.Received != 2000 {
				t.Errorf("%+v", b)
			}
		}},
		fault: {`
broker: jetstream
persistence: fsync
load.rate: 500
duration: 3s
warmup: 300ms
drain: 30s
faults: [{at: 1s, do: kill, for: 500ms}]
`, func(t *testing.T, r store.Record) {
			if b := r.Result.Books; b.Due != 1500 || b.LostAcked != 0 || b.Received < 1400 {
				t.Errorf("%+v", b)
			}
		}},
		"duplicates, of messages that take longer than the broker waits": {`
broker: jetstream
load.rate: 10
duration: 2s
warmup: 0s
drain: 30s
consumerDelay: 300ms
client: {AckWait: 200ms}
`, func(t *testing.T, r store.Record) {
			if b := r.Result.Books; b.Due != 20 || b.Received != 20 || b.Duplicated == 0 || b.Lost != 0 || !hasDoubt(r, "redelivered") {
				t.Errorf("%+v, doubts %+v", b, r.Doubts)
			}
		}},
		"a peak": {`
broker: jetstream
measure: peak
duration: 2s
warmup: 500ms
`, func(t *testing.T, r store.Record) {
			if b := r.Result.Books; b.Sent < 1000 || b.Received != b.Sent || b.Lost+b.Duplicated != 0 {
				t.Errorf("%+v", b)
			}
			if rate := r.Result.Throughput; rate < 1000 {
				t.Errorf("throughput %g/s", rate)
			}
		}},
		"a count": {`
broker: jetstream
measure: count
count.messages: 20000
`, func(t *testing.T, r store.Record) {
			if b := r.Result.Books; b.Received != 20_000 || r.Result.Count.TotalSeconds <= 0 {
				t.Errorf("%+v, %+v", b, r.Result.Count)
			}
		}},
		"a curve": {`
broker: jetstream
measure: curve
curve.rates: [1000, 3000]
duration: 1s
warmup: 300ms
`, func(t *testing.T, r store.Record) {
			if len(r.Result.Curve) != 2 {
				t.Fatalf("%d rates", len(r.Result.Curve))
			}
			for i, want := range []int64{1000, 3000} {
				if b := r.Result.Curve[i].Books; b.Received != want || b.Lost+b.Duplicated+b.Stale != 0 {
					t.Errorf("%+v", b)
				}
			}
		}},
	} {
		for _, where := range []string{"beside", "apart"} {
			t.Run(name+"/"+where, func(t *testing.T) {
				if where == "beside" || name != fault && (testing.Short() || !slices.Contains(usual, name)) {
					testkit.Long(t)
				}
				h := newHost(t)
				text := c.text
				if where == "apart" {
					text += "consumersApart: true\n"
				}
				if !strings.Contains(text, "measure:") {
					text += "measure: rate\n"
				}
				r := runCounts(t, parseSpec(t, text), lab.Options{Host: h})
				if b := r.Result.Books; !b.Balanced() {
					t.Errorf("%+v", b)
				}
				c.check(t, r)
				checkSides(t, r, where == "apart")
				checkNothingLeft(t, h)
			})
		}
	}
}

// checkSides checks that the cost of both sides adds up to the generator's.
func checkSides(t *testing.T, r store.Record, apart bool) {
	t.Helper()
	c := r.Result.Cost
	if !apart {
		if c.Sides != nil || c.Shares != nil && c.Shares.Sides != nil {
			t.Errorf("one process has sides: %+v", c)
		}
		return
	}
	if c.Sides == nil {
		t.Fatal("what each side used isn't known")
	}
	p, q := c.Sides.Producing, c.Sides.Consuming
	if sum := p.UserSeconds + p.SystemSeconds + q.UserSeconds + q.SystemSeconds; sum-c.GeneratorUserSeconds-c.GeneratorSystemSeconds > 1e-6 || sum <= 0 {
		t.Errorf("the sides used %g s, the generator %g", sum, c.GeneratorUserSeconds+c.GeneratorSystemSeconds)
	}
	if p.RSSBytes < 1<<20 || q.RSSBytes < 1<<20 || c.GeneratorRSSBytes < max(p.RSSBytes, q.RSSBytes) || c.GeneratorRSSBytes > p.RSSBytes+q.RSSBytes {
		t.Errorf("memory %d and %d, together %d", p.RSSBytes, q.RSSBytes, c.GeneratorRSSBytes)
	}
	if s := c.Shares; s != nil {
		sum := s.Sides.Producing.User + s.Sides.Producing.System + s.Sides.Consuming.User + s.Sides.Consuming.System
		if d := sum - s.Generator; d > 1e-6 || d < -1e-6 {
			t.Errorf("the sides used %g cores, the generator %g", sum, s.Generator)
		}
	}
	for _, tick := range r.Result.Series {
		if tick.GeneratorCPU > 0 && (tick.Sides == nil || tick.Sides.Consuming.RSSBytes == 0) {
			t.Errorf("%+v", tick)
		}
	}
}

func TestASearchCanHaveItsConsumersApart(t *testing.T) {
	testkit.NotShort(t)
	h := newHost(t)
	r := runPoint(t, parseSpec(t, `
broker: nats
measure: sustainable
consumersApart: true
sustainable.maxRate: 4000
sustainable.confirms: 1
sustainable.confirm: 1s
sustainable.trial: 300ms
sustainable.warmup: 200ms
`), lab.Options{Host: h})
	if r.Status != store.OK || r.Result.Sustainable == nil || r.Result.Sustainable.Low < 3500 {
		t.Fatalf("%s: %s: %+v", r.Status, r.Reason, r.Result)
	}
	checkSides(t, r, true)
	checkNothingLeft(t, h)
}

// It is a part of the generator: the broker has failed nobody, and what it had received before is not known any more.
func TestAConsumersProcessThatDiesAbortsItsPoint(t *testing.T) {
	t.Parallel()
	h, db := newHost(t), openStore(t)
	killed := false
	began := time.Now()
	_, err := lab.Run(t.Context(), runsOf(parseSpec(t, "broker: jetstream\nmeasure: rate\nload.rate: 1000\nduration: 1h\nconsumersApart: true\n")), lab.Options{
		Store: db, Host: h, Log: testLog{t},
		Watch: func(e lab.Event) {
			if e.Kind != lab.Sampled || killed || e.Sample.Count.Received < 300 {
				return
			}
			for _, in := range h.Running() {
				if in.Broker == agent.ConsumersPart {
					killed = true
					if err := syscall.Kill(in.Nodes[0].Main, syscall.SIGKILL); err != nil {
						t.Error(err)
					}
				}
			}
		},
	})
	if err != nil || time.Since(began) > time.Minute {
		t.Fatalf("after %v: %v", time.Since(began), err)
	}
	records := readRecords(t, db)
	if len(records) != 1 || records[0].Status != store.Aborted || !strings.HasPrefix(records[0].Reason, "the consumers' process died: node 1 was ended by a signal: killed") {
		t.Errorf("%s", endings(records))
	}
	for _, d := range records[0].Doubts {
		if d.Code == "loss" {
			t.Errorf("messages that were not counted are called lost: %s", d.Text)
		}
	}
	if !slices.ContainsFunc(records[0].Doubts, func(d store.Doubt) bool { return d.Code == doubt.Late.Code() }) {
		t.Errorf("no doubt about what is missing: %v", records[0].Doubts)
	}
	checkNothingLeft(t, h)
}

func TestConsumersApartOfABrokerInThisProcessAreRefused(t *testing.T) {
	r := runPoint(t, parseSpec(t, "broker: sim\nmeasure: rate\nload.rate: 1000\nduration: 1s\nconsumersApart: true\n"), lab.Options{})
	if want := "consumersApart: true is not supported: sim runs in this process, and no other one reaches it"; r.Status != store.Refused || r.Reason != want {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
	if err := lab.Possible(r.Spec); err == nil {
		t.Error("check says nothing of it")
	}
}
