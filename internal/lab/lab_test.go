package lab_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	_ "github.com/brokermark/brokermark/brokers/nats"
	_ "github.com/brokermark/brokermark/brokers/nats-streaming"
	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/pgtest"
	"github.com/brokermark/brokermark/internal/study"
)

func TestMain(m *testing.M) {
	provision.Main() // nats is a child of the test's own program
	if url := os.Getenv(runWithStore); url != "" {
		if err := runShared(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	pgtest.Stop()
	os.Exit(code)
}

func TestEveryEndingHasItsStatusAndReason(t *testing.T) {
	client := func(name string, value any) func(*study.Spec) {
		return func(s *study.Spec) { s.Client = map[string]any{name: value} }
	}
	for name, c := range map[string]struct {
		edit   func(*study.Spec)
		status store.Status
		reason string
		doubt  string
	}{
		"a guarantee it can't keep": {func(s *study.Spec) { s.Delivery = "exactly-once" }, store.Refused, "delivery: exactly-once is not supported: sim neither", ""},
		"replicas":                  {func(s *study.Spec) { s.Replicas = 3 }, store.Refused, "replicas is not supported", ""},
		"an unknown setting":        {client("capacty", 5), store.Refused, `client setting "capacty" is unknown; did you mean "capacity"?`, ""},
		"an impossible setting":     {client("capacity", -5), store.Refused, "client.capacity is not supported: -5 is negative", ""},
		"a setting of another type": {client("capacity", "much"), store.Failed, `client setting "capacity": `, ""},
		"a backlog on core nats": {func(s *study.Spec) {
			s.Broker, s.Delivery, s.Acks, s.Measure, s.Backlog.Messages = "nats", "at-most-once", "none", "backlog", 10
		}, store.Refused, "measure: backlog is not supported: nats keeps nothing", ""},
		"keys that go nowhere": {func(s *study.Spec) {
			s.Broker, s.Delivery, s.Acks, s.KeyDistributor, s.Keys = "nats", "at-most-once", "none", "RANDOM", 10
		}, store.Refused, "keyDistributor: RANDOM is not supported: a subject has neither partitions nor keys", ""},
		"transactions on Pulsar": {func(s *study.Spec) {
			s.Broker, s.Delivery, s.Persistence, s.Acks, s.Client = "pulsar", "exactly-once", "log", "quorum", map[string]any{"transactions": true}
		}, store.Refused, "until apache/pulsar-client-go issue 1498 is mended", ""},
		"relays on Pulsar, exactly once": {func(s *study.Spec) {
			s.Broker, s.Delivery, s.Persistence, s.Acks, s.Relays = "pulsar", "exactly-once", "log", "quorum", 2
		}, store.Refused, "until apache/pulsar-client-go issue 1498 is mended", ""},
		"a setting without effect": {client("stall.at", "1s"), store.Refused, `client setting "stall.at" is not supported: it would have no effect: stall.for is 0s`, ""},
		"nodes of one process":     {func(s *study.Spec) { s.Nodes = 3 }, store.Refused, "nodes: 3 is not supported: sim runs in this process", ""},
		"a version of ourselves":   {func(s *study.Spec) { s.Version = "9" }, store.Refused, "version: 9 is not supported: sim runs in this process", ""},
		"a server of ourselves":    {func(s *study.Spec) { s.Server = map[string]any{"x": 1} }, store.Refused, "server is not supported: sim runs in this process", ""},
		"attached to ourselves":    {func(s *study.Spec) { s.Attach = []string{"a:1"} }, store.Refused, "attach is not supported: sim runs in this process", ""},
		"limits for ourselves":     {func(s *study.Spec) { s.Limits.Broker.CPU = 0.2 }, store.Refused, "limits.broker is not supported: sim runs in this process", ""},
		"shared by ourselves":      {func(s *study.Spec) { s.Isolation = "shared" }, store.Refused, "isolation: shared is not supported: sim runs in this process", ""},
		"slow consumers of ourselves": {func(s *study.Spec) {
			s.ConsumerPerSubscription, s.ConsumerDelay, s.ConsumerDelays = study.Consumers{2}, study.Duration(time.Millisecond), "constant"
		}, store.Refused, "consumerDelay is not supported: sim serves its 2 consumers one after the other", ""},
		"faults of ourselves":        {func(s *study.Spec) { s.Faults = []study.Fault{{Do: "kill", Node: "1"}} }, store.Refused, "faults is not supported: sim runs in this process", ""},
		"an unknown broker":          {func(s *study.Spec) { s.Broker = "nots" }, store.Failed, "nots", ""},
		"payload samples not there":  {func(s *study.Spec) { s.PayloadFile = "/none" }, store.Failed, "payload samples", ""},
		"refused messages":           {client("fail.every", 10), store.Failed, "of 600 sends failed: sim: the broker refused the message", "failed-sends"},
		"confirmed messages lost":    {client("loss.every", 10), store.Failed, "messages were lost although the broker had confirmed them", "loss"},
		"order asked for and broken": {func(s *study.Spec) { s.Ordering, s.Client = "ordered", map[string]any{"reorder.every": 10} }, store.Failed, "arrived out of order although order was asked for", ""},
		"nothing due":                {func(s *study.Spec) { s.Load.Rate = 0.001 }, store.Failed, "nothing could be sent in the measured phase", ""},
		"loss at most once": {func(s *study.Spec) {
			s.Delivery, s.Acks, s.Client = "at-most-once", "none", map[string]any{"loss.every": 10}
		}, store.OK, "", "loss"},
		"disorder not minded": {client("reorder.every", 10), store.OK, "", "in-process"},
		"all well":            {nil, store.OK, "", "few-samples"},
	} {
		t.Run(name, func(t *testing.T) {
			s := simSpec(func(s *study.Spec) { s.Drain = study.Duration(300 * time.Millisecond) })
			s.Load.Rate = 2000
			if c.edit != nil {
				c.edit(&s)
			}
			r := runPoint(t, s, lab.Options{Tool: "test"})
			if r.Status != c.status || !strings.Contains(r.Reason, c.reason) || (r.Reason == "") != (r.Status == store.OK) {
				t.Errorf("%s: %q; want %s: %q", r.Status, r.Reason, c.status, c.reason)
			}
			if c.doubt != "" && !hasDoubt(r, c.doubt) {
				t.Errorf("no doubt %q in %+v", c.doubt, r.Doubts)
			}
			if r.Versions.Tool != "test" || r.Host.Cores == 0 || r.Ended.Before(r.Began) || r.Spec.Broker != s.Broker {
				t.Errorf("the record lacks facts: %+v %+v", r.Versions, r.Host)
			}
			if c.status == store.OK && (r.Result.Books.Sent != 600 || r.Result.OfferedRate != 2000 || r.Result.Cost.BrokerKnown) {
				t.Errorf("%+v at %g/s", r.Result.Books, r.Result.OfferedRate)
			}
		})
	}
}

func TestAnInterruptedRepetitionIsRecordedAsAborted(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*study.Spec){
		"warming up": func(s *study.Spec) { s.Warmup.For = study.Duration(time.Hour) },
		"settling": func(s *study.Spec) {
			s.Warmup = study.Warmup{Auto: true, For: study.Duration(time.Hour), Max: study.Duration(time.Hour)}
		},
		"measuring": func(s *study.Spec) { s.Duration = study.Duration(time.Hour) },
		"peak":      func(s *study.Spec) { s.Measure, s.Duration = "peak", study.Duration(time.Hour) },
		"draining": func(s *study.Spec) {
			s.Client, s.Drain = map[string]any{"stall.at": "250ms", "stall.for": "1h"}, study.Duration(time.Hour)
		},
		"searching": func(s *study.Spec) { s.Measure = "sustainable" },
		"curve": func(s *study.Spec) {
			s.Measure, s.Curve.Rates, s.Duration = "curve", []float64{100, 200}, study.Duration(time.Hour)
		},
		"backlog": func(s *study.Spec) {
			s.Measure, s.Backlog = "backlog", study.Backlog{Messages: 1e6, DrainRatio: 1}
			s.Client = map[string]any{"capacity": 100, "window": 10}
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := openStore(t)
			ctx, cancel := context.WithCancel(t.Context())
			var stop *time.Timer
			began := time.Now()
			tally, err := lab.Run(ctx, runsOf(simSpec(edit), simSpec(nil)), lab.Options{Store: db, Watch: func(e lab.Event) {
				if e.Kind == lab.Sampled && stop == nil { // in the midst of a trial
					stop = time.AfterFunc(300*time.Millisecond, cancel)
				}
			}})
			if !errors.Is(err, context.Canceled) || time.Since(began) > 30*time.Second {
				t.Errorf("Run returned %v after %v", err, time.Since(began))
			}
			records := readRecords(t, db)
			if len(records) != 1 || records[0].Status != store.Aborted || records[0].Reason != "interrupted" || tally.Aborted != 1 {
				t.Fatalf("%d records, %+v", len(records), tally)
			}
			if r := records[0].Result; r != nil && (r.WarmupSeconds > 2*3600 || r.Seconds > 60 || r.Books.Sent != r.Books.Acked+r.Books.Failed+r.Books.Unresolved) {
				t.Errorf("%g s of warm-up, %+v", r.WarmupSeconds, r.Books)
			}
		})
	}
}

// interruptedClose is an agent whose user interrupts the run while it closes.
type interruptedClose struct {
	agent.Agent
	interrupt func()
}

func (a interruptedClose) Close() error {
	a.interrupt()
	return a.Agent.Close()
}

func TestAnInterruptionAfterTheMeasurementTakesNothingFromIt(t *testing.T) {
	t.Parallel()
	db := openStore(t)
	ctx, interrupt := context.WithCancel(t.Context())
	_, err := lab.Run(ctx, runsOf(simSpec(nil), simSpec(func(s *study.Spec) { s.Seed++ })), lab.Options{
		Store: db, NewAgent: func() agent.Agent { return interruptedClose{&agent.Local{}, interrupt} },
	})
	records := readRecords(t, db)
	if !errors.Is(err, context.Canceled) || len(records) != 1 || !countsHold(records[0]) || records[0].Result.Books.Received != 600 {
		t.Errorf("%v, %s", err, endings(records))
	}
}

func TestStoredRepetitionsAreSkippedAndAbortedOnesRunAgain(t *testing.T) {
	db := openStore(t)
	counted := func(seed int64) func(*study.Spec) { // without a schedule, which a busy machine could miss
		return func(s *study.Spec) {
			s.Measure, s.Count, s.Load, s.Seed = "count", study.Count{Messages: 200}, study.Load{Shape: "constant"}, seed
		}
	}
	good, cut := simSpec(counted(1)), simSpec(counted(2))
	refused := simSpec(func(s *study.Spec) { s.Replicas = 3 })
	aborted := store.Record{PointID: cut.ID(), Status: store.Aborted, Repetition: 1, Spec: cut, Began: time.Now()}
	if _, err := db.Append(t.Context(), aborted); err != nil {
		t.Fatal(err)
	}
	var points []study.Point
	for _, r := range runsOf(good, refused, cut) {
		points = append(points, *r.Point)
	}
	const repeats = 2
	runs := study.Order(points, repeats, 1, lab.SharedBroker)
	var last lab.Event
	watch := func(e lab.Event) { last = e }
	for i, want := range []lab.Tally{
		{OK: 2 * repeats, Refused: repeats},
		{Skipped: 3 * repeats},
	} {
		tally, err := lab.Run(t.Context(), runs, lab.Options{Store: db, Watch: watch})
		if err != nil || tally != want {
			t.Errorf("run %d: %+v, %v; want %+v", i, tally, err, want)
		}
		if last.Done != len(runs) || last.Total != len(runs) || last.Left != 0 {
			t.Errorf("run %d ended at %d of %d with %v left", i, last.Done, last.Total, last.Left)
		}
	}
	if tally, err := lab.Run(t.Context(), runs[:1], lab.Options{Store: db, Again: true}); err != nil || tally.Skipped != 0 {
		t.Errorf("again: %+v, %v", tally, err)
	}
	seen := map[string]int{}
	for _, r := range readRecords(t, db) {
		if r.Status != store.Aborted {
			seen[fmt.Sprint(r.PointID, r.Repetition)]++
		}
	}
	again := fmt.Sprint(runs[0].Point.ID, runs[0].Repetition)
	for _, run := range runs {
		want, key := 1, fmt.Sprint(run.Point.ID, run.Repetition)
		if key == again {
			want = 2
		}
		if seen[key] != want {
			t.Errorf("%s: %d records, want %d", key, seen[key], want)
		}
	}
}

func TestAStoreThatCannotKeepRecordsEndsTheRun(t *testing.T) {
	db := openStore(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var se *store.Error
	if _, err := lab.Run(t.Context(), runsOf(simSpec(nil)), lab.Options{Store: db}); !errors.As(err, &se) {
		t.Errorf("%v (%T)", err, err)
	}
}
