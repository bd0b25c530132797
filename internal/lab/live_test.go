package lab_test

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/brokermark/brokermark/brokers/jetstream"
	_ "github.com/brokermark/brokermark/brokers/kafka"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestABrokerThatDiesFailsItsPointAndNoOther(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{"fresh", "shared"} {
		t.Run(isolation, func(t *testing.T) {
			h, db := newHost(t), openStore(t)
			doomed := natsSpec(func(s *study.Spec) { s.Duration, s.Isolation = study.Duration(time.Hour), isolation })
			next := natsSpec(func(s *study.Spec) { s.Isolation = isolation })
			killed := 0
			began := time.Now()
			tally, err := lab.Run(t.Context(), runsOf(doomed, next), lab.Options{
				Store: db, Host: h, Log: testLog{t},
				Watch: func(e lab.Event) {
					if e.Kind != lab.Sampled || killed > 0 || e.Sample.Count.Received < 300 {
						return
					}
					killed = h.Running()[0].Nodes[0].Main
					if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
						t.Error(err)
					}
				},
			})
			if err != nil || time.Since(began) > time.Minute {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
			records := readRecords(t, db)
			if tally.Failed != 1 || len(records) != 2 || tally.OK+tally.Void != 1 {
				t.Fatalf("%+v: %s", tally, endings(records))
			}
			dead := records[0]
			if dead.Status != store.Failed || !strings.HasPrefix(dead.Reason, "the broker died: node 1 ") {
				t.Errorf("%s: %s", dead.Status, dead.Reason)
			}
			if dead.Result == nil || dead.Result.Books.Sent < 100 || dead.Result.Seconds > 60 || dead.Result.OfferedRate < 900 {
				t.Errorf("what was measured until then is missing: %+v", dead.Result)
			}
			if r := records[1]; r.Result.Books.Received != 500 || !r.Result.Cost.BrokerKnown || r.Versions.Broker == "" {
				t.Errorf("the next point: %s %s %+v %+v", r.Status, r.Reason, r.Result.Books, r.Result.Cost)
			}
			checkNothingLeft(t, h)
		})
	}
}

func TestAnInterruptedRunLeavesNoBrokerBehind(t *testing.T) {
	h, db := newHost(t), openStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := lab.Run(ctx, runsOf(natsSpec(func(s *study.Spec) { s.Duration = study.Duration(time.Hour) })), lab.Options{
		Store: db, Host: h, Watch: func(e lab.Event) {
			if e.Kind == lab.Sampled {
				cancel()
			}
		},
	})
	if records := readRecords(t, db); err == nil || len(records) != 1 || records[0].Status != store.Aborted {
		t.Errorf("%v, %+v", err, records)
	}
	checkNothingLeft(t, h)
}

func TestABrokerThatCannotBeStartedFailsItsPoint(t *testing.T) {
	for name, c := range map[string]struct {
		edit   func(*study.Spec)
		status store.Status
		reason string
	}{
		"unknown version":        {func(s *study.Spec) { s.Version = "0.0.1" }, store.Refused, `no version "0.0.1"`},
		"unknown server setting": {func(s *study.Spec) { s.Server = map[string]any{"max_paylod": 5} }, store.Refused, "max_paylod"},
		"too many nodes":         {func(s *study.Spec) { s.Nodes = 1000 }, store.Refused, "nodes: 1000 is not supported: at most "},
		"nobody at the address":  {func(s *study.Spec) { s.Attach = []string{"127.0.0.1:1"} }, store.Failed, "nats at 127.0.0.1:1 is unreachable: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			r := runPoint(t, natsSpec(c.edit), lab.Options{Host: h})
			if r.Status != c.status || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("%s: %q; want %s: %q", r.Status, r.Reason, c.status, c.reason)
			}
			checkNothingLeft(t, h)
		})
	}
}

func TestAnAttachedBrokerIsFoundByItsAddressAndMetered(t *testing.T) {
	t.Parallel()
	in, err := newHost(t).Start(t.Context(), provision.Options{Broker: "nats"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Stop(t.Context()) }()
	metered := in.Meter().Sample()
	r := runCounts(t, natsSpec(func(s *study.Spec) {
		s.Attach = in.Addresses()
		setRate(s, 20_000, time.Second)
	}), lab.Options{})
	if !hasDoubt(r, "attached") || r.Result.Books.Received != 20_000 {
		t.Fatalf("%s %s, doubts %+v, %+v", r.Status, r.Reason, r.Doubts, r.Result.Books)
	}
	after := in.Meter().Sample()
	c := r.Result.Cost
	used, most := c.BrokerUserSeconds+c.BrokerSystemSeconds, (after.User + after.System - metered.User - metered.System).Seconds()
	if !c.BrokerKnown || used <= 0 || used > most || c.BrokerRSSBytes == 0 || c.BrokerDataGrowthBytes != -1 {
		t.Errorf("%.2f s, the broker used %.2f s over the whole run: %+v", used, most, c)
	}
	if c.Shares == nil || c.Shares.Broker <= 0 {
		t.Errorf("shares %+v", c.Shares)
	}
	for _, d := range r.Doubts {
		if d.Code == "attached" && !strings.Contains(d.Text, "its cost is that of the processes that listen here (") {
			t.Error(d.Text)
		}
	}
}

// Behind a proxy of this process' own, as behind Docker's, nobody can tell which process is the broker.
func TestAnAttachedBrokerThatIsNotFoundIsNotMeteredAndTheDoubtSaysWhy(t *testing.T) {
	in, err := newHost(t).Start(t.Context(), provision.Options{Broker: "nats"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Stop(t.Context()) }()
	r := runPoint(t, natsSpec(func(s *study.Spec) { s.Attach = []string{startProxy(t, in.Addresses()[0])} }), lab.Options{})
	if r.Result == nil || r.Result.Cost.BrokerKnown || r.Result.Cost.BrokerUserSeconds != 0 {
		t.Fatalf("%s %s, %+v", r.Status, r.Reason, r.Result)
	}
	for _, d := range r.Doubts {
		if d.Code == "attached" && !strings.Contains(d.Text, "(this process itself listens on it), so the use of other processes may be the broker's") {
			t.Error(d.Text)
		}
	}
}

// startProxy listens and passes everything on to an address.
func startProxy(t *testing.T, to string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			pass := func(a, b net.Conn) { _, _ = io.Copy(a, b); _ = a.Close(); _ = b.Close() }
			go pass(in, out)
			go pass(out, in)
		}
	}()
	return l.Addr().String()
}

const spinVariable = "LAB_TEST_SPIN"

// TestSpin is no test: another test runs it as a process that keeps a core busy.
func TestSpin(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv(spinVariable))
	if err != nil {
		testkit.Without(t, "only for another test")
	}
	for end := time.Now().Add(length); time.Now().Before(end); {
	}
}

func TestABusyProcessBesideTheRunIsAmongTheOthers(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSpin$")
	cmd.Env = append(os.Environ(), spinVariable+"=30s")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	r := runPoint(t, simSpec(func(s *study.Spec) { setRate(s, 100, time.Second) }), lab.Options{})
	s := r.Result.Cost.Shares
	if s == nil || s.Others < 0.3 {
		t.Fatalf("shares %+v", s)
	}
	if cores := float64(runtime.NumCPU()); s.Others > 0.11*cores && !hasDoubt(r, "busy-machine") {
		t.Errorf("others used %.1f of %.0f cores: %+v", s.Others, cores, r.Doubts)
	}
	for _, d := range r.Doubts {
		if d.Code == "busy-machine" && !strings.Contains(d.Text, "cores meanwhile (") {
			t.Errorf("the doubt names nobody: %s", d.Text)
		}
	}
	if p := r.Result.Pauses; p == nil || p.QueuedSeconds < 0 || p.StolenSeconds < 0 {
		t.Errorf("pauses %+v", p)
	}
}

func TestAPauseShowsInTheLatencyOfMessagesThatWaited(t *testing.T) {
	const pause = 300 * time.Millisecond
	r := runPoint(t, simSpec(func(s *study.Spec) {
		s.Broker = "jetstream"
		setRate(s, 1000, 2*time.Second)
		s.Drain = study.Duration(10 * time.Second)
		s.Faults = []study.Fault{{At: study.Duration(800 * time.Millisecond), Do: "pause", Node: "1", For: study.Duration(pause)}}
	}), lab.Options{Host: newHost(t)})
	if r.Status != store.OK {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	f := r.Result.Faults
	if len(f) != 2 || f[0].Do != "pause" || f[1].Do != "resume" || f[0].Node != 1 || f[0].Err+f[1].Err != "" || f[0].OffsetNs < 800e6 || f[1].OffsetNs < f[0].OffsetNs {
		t.Fatalf("%+v", f)
	}
	stood := f[1].OffsetNs - max(f[0].OffsetNs, 800e6) // as it really was: resuming may be late on a busy machine
	e2e := r.Result.Latency.EndToEnd
	if e2e.Max() < stood*9/10 {
		t.Errorf("end to end up to %v, the broker stood still for %v", time.Duration(e2e.Max()), time.Duration(stood))
	}
	if waited := e2e.CountAbove(stood / 2); waited < stood/2/1e6*8/10 {
		t.Errorf("%d messages waited for more than half of the pause, about %d were due in its first half", waited, stood/2/1e6)
	}
	if b := r.Result.Books; b.Sent != 2000 || b.Received != 2000 || b.Lost+b.Duplicated+b.Corrupted != 0 {
		t.Errorf("%+v", b)
	}
}

func TestAOneSecondPauseOfKafkaGivesTheExpectedQuantiles(t *testing.T) {
	testkit.Long(t)
	h := sharedHost(t)
	if _, err := h.Install(t.Context(), "kafka", ""); err != nil {
		t.Fatal(err)
	}
	r := runPoint(t, simSpec(func(s *study.Spec) {
		s.Broker, s.Persistence = "kafka", "log"
		setRate(s, 1000, 10*time.Second)
		s.Warmup.For, s.Drain = study.Duration(3*time.Second), study.Duration(20*time.Second)
		s.Faults = []study.Fault{{At: study.Duration(7 * time.Second), Do: "pause", Node: "1", For: study.Duration(time.Second)}}
	}), lab.Options{Host: h})
	if r.Status != store.OK {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	// Kafka stands still for the pause and a little longer, until it has caught up: for as long as the first message waits. Of the messages
	// of 10 s, those of the last of these seconds wait between 0 and that, evenly: p95 is what the one 500 ms after the first waits.
	e2e := r.Result.Latency.EndToEnd
	stood := float64(e2e.Max())
	if stood < 1e9 || stood > 1.5e9 {
		t.Errorf("the longest latency is %v, the pause 1 s", time.Duration(e2e.Max()))
	}
	checkNear(t, r, "p95", float64(e2e.Quantile(0.95)), stood-0.5e9, 0.07)
	checkNear(t, r, "p99", float64(e2e.Quantile(0.99)), stood-0.1e9, 0.07)
	if b := r.Result.Books; b.Sent != 10_000 || b.Lost != 0 || b.Received != 10_000 {
		t.Errorf("%+v", b)
	}
}

func TestFlushesOfABrokerAreCounted(t *testing.T) {
	testkit.NotShort(t)
	if os.Geteuid() != 0 {
		testkit.Lacks(t, "only root counts the flushes of other processes")
	}
	h := newHost(t)
	for persistence, bounds := range map[string][2]float64{"fsync": {0.5, 5}, "log": {0, 0.1}} {
		r := runPoint(t, simSpec(func(s *study.Spec) {
			s.Broker, s.Persistence = "jetstream", persistence
			setRate(s, 100, 2*time.Second)
		}), lab.Options{Host: h})
		perMessage := results.MustMetric("broker_flushes_per_message").Of(r)
		if r.Status != store.OK || !(perMessage >= bounds[0] && perMessage <= bounds[1]) {
			t.Errorf("%s: %s %s, %.3g flushes per message, %v are expected", persistence, r.Status, r.Reason, perMessage, bounds)
		}
	}
	checkNothingLeft(t, h)
}
