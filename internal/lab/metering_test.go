package lab

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/sim"
	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/worker"
)

func TestSharesOfTheProcessorNeedAMinimumTime(t *testing.T) {
	from, to := fullReading{reading: reading{at: 1e9}}, fullReading{reading: reading{at: 1e9 + 78_000}}
	to.self.User, to.broker.System = 100*time.Microsecond, 200*time.Microsecond
	if s := (&metering{bench: &bench{}}).intervalBetween(from, to).shares; s != nil {
		t.Errorf("over 78 µs: %+v", s)
	}
	to = fullReading{reading: reading{at: 3e9}}
	to.self.User, to.self.System, to.broker.User = time.Second, 500*time.Millisecond, 3*time.Second
	if s := (&metering{bench: &bench{}}).intervalBetween(from, to).shares; s == nil || s.Generator != 0.75 || s.Broker != 1.5 || s.Seconds != 2 {
		t.Errorf("over 2 s: %+v, want generator 0.75 and broker 1.5", s)
	}
	var none trial
	if g, b, o := none.generatorCores(), (&bench{}).coresInUseHere(none), none.disturbingCores(); g != 0 || b != 0 || o != 0 {
		t.Errorf("of a moment: %v, %v and %v cores", g, b, o)
	}
}

func TestTheBusierPartOfACountIsJudged(t *testing.T) {
	none, idle, busy := interval{}, interval{shares: &store.Shares{Broker: 0.2, Generator: 0.1}}, interval{shares: &store.Shares{Broker: 0.1, Generator: 1.5}}
	for _, c := range []struct{ a, b, want interval }{
		{none, none, none}, {none, idle, idle}, {idle, none, idle}, {idle, busy, busy}, {busy, idle, busy},
	} {
		if got := busier(c.a, c.b); got.shares != c.want.shares {
			t.Errorf("of %+v and %+v: %+v", c.a, c.b, got)
		}
	}
}

func TestUserAndSystemTimeOfTheBrokerAreSeparate(t *testing.T) {
	at := func(at int64, user, system time.Duration) fullReading {
		return fullReading{reading: reading{at: at, broker: brokerUsage{Usage: provision.Usage{User: user, System: system}}}}
	}
	p := (&metering{bench: &bench{}}).intervalBetween(at(0, time.Second, 2*time.Second), at(10e9, 4*time.Second, 3*time.Second))
	if s := p.shares; s == nil || s.Broker != 0.4 || s.BrokerUser != 0.3 || s.BrokerSystem != 0.1 {
		t.Errorf("%+v, want 0.3 of a core for the user and 0.1 for the system", s)
	}
}

func TestDiskTrafficIsUnknownIfTheKernelDoesNotReportIt(t *testing.T) {
	m := &metering{bench: &bench{meters: meters{complete: true}}}
	disk := func(n int64) fullReading {
		used := provision.Usage{Disk: provision.Disk{DiskReadBytes: n, DiskWriteBytes: n}}
		return fullReading{reading: reading{broker: brokerUsage{Usage: used}}}
	}
	if c := m.cost(disk(100), disk(350), worker.Outcome{}); c.BrokerDiskReadBytes == nil || *c.BrokerDiskReadBytes != 250 || c.BrokerDiskWriteBytes != 250 {
		t.Errorf("%+v, want 250 bytes read and written", c)
	}
	for _, c := range [][2]int64{{-1, 350}, {100, -1}, {-1, -1}} {
		cost := m.cost(disk(c[0]), disk(c[1]), worker.Outcome{})
		if cost.BrokerDiskReadBytes != nil {
			t.Errorf("%v: %d bytes read, though it wasn't told throughout", c, *cost.BrokerDiskReadBytes)
		}
		if cost.BrokerDiskWriteBytes != -1 {
			t.Errorf("%v: %d bytes written, though it wasn't told throughout", c, cost.BrokerDiskWriteBytes)
		}
	}
}

// A broker that carries 500/s has a window of 10,000 in flight when a phase of 30 s begins: it works on 25,000 messages, not on 15,000.
func TestACostIsDividedOverTheMessagesItWasSpentOn(t *testing.T) {
	out := worker.Outcome{From: 100, Samples: []worker.Sample{
		{At: 50, Count: measure.Count{Acked: 3000}}, {At: 110, Count: measure.Count{Acked: 5000}}, {At: 200, Count: measure.Count{Acked: 30_000}},
	}}
	out.Measured.Acked = 15_000
	for rate, want := range map[float64]int64{0: 25_000, 500: 15_000} {
		m := &metering{bench: &bench{meters: meters{complete: true}}, rate: rate}
		if c := m.cost(fullReading{}, fullReading{}, out); c.Messages != want {
			t.Errorf("at a rate of %g: over %d messages, want %d", rate, c.Messages, want)
		}
	}
	m := &metering{bench: &bench{meters: meters{complete: true}}}
	out.Samples = nil
	if c := m.cost(fullReading{}, fullReading{}, out); c.Messages != 15_000 {
		t.Errorf("without samples: %d", c.Messages)
	}
}

// simBench returns a bench whose agent is connected to a simulated broker of the test's own.
func simBench(t *testing.T, client map[string]any) *bench {
	t.Helper()
	s := study.Defaults()
	s.Broker, s.Delivery, s.Persistence, s.Acks, s.Client = "sim", "at-least-once", "memory", "leader", client
	b := &bench{
		lab: &lab{options: Options{}.withDefaults(), machine: HostFacts()}, record: &store.Record{PointID: "0123456789ab"}, spec: s,
		clients: clients{agent: &agent.Local{}}, report: func(Event) {},
	}
	to := link.Broker{Broker: "sim", Addresses: []string{t.Name()}, Guarantee: guarantee(s), Client: client}
	if _, err := b.clients.agent.Prepare(t.Context(), agent.Plan{Broker: to, Worker: b.plan()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.clients.agent.Close(); sim.Remove(t.Name()) })
	return b
}

// A broker at its limit gets a load for a second and takes seconds to drain. The generator is busy while messages are sent and idle
// while they drain: its share is that of the sending.
func TestDrainAndSettlingDoNotDiluteShares(t *testing.T) {
	testkit.Long(t)
	constant, err := schedule.Constant(4000)
	if err != nil {
		t.Fatal(err)
	}
	const length = time.Second
	for name, load := range map[string]worker.Load{
		"a drain":  {Schedule: constant, Duration: length, Drain: 20 * time.Second},
		"settling": {Schedule: constant, Duration: length, Drain: 500 * time.Millisecond, Settle: 20 * time.Second},
		"a count":  {Schedule: constant, Messages: 4000, Drain: 20 * time.Second},
		"cut short": {
			Schedule: constant, Duration: 20 * time.Second, Drain: 500 * time.Millisecond, Settle: 20 * time.Second,
			Hooks: worker.Hooks{Hopeless: func(s []worker.Sample) bool { return s[len(s)-1].At-s[0].At >= int64(length) }},
		},
		"a count in a loop": {Messages: 4000, Window: 500, Drain: 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			b := simBench(t, map[string]any{"capacity": 1000})
			stopBurning := burnCore(b)
			out := b.runTrial(t.Context(), name, 4000, load)
			used := stopBurning()
			s := out.Cost.Shares
			if s == nil || out.Err != nil {
				t.Fatalf("shares %+v, %v", s, out.Err)
			}
			if length := float64(out.LastSent-out.From) / 1e9; s.Seconds > length+0.3 || s.Seconds < length-0.3 {
				t.Errorf("shares over %.2f s, messages were sent for %.2f s", s.Seconds, length)
			}
			// The samples that the truth is from miss up to 100 ms at either end; diluted, the share is 0.4 of it.
			if s.Generator < 0.7*used || s.Generator > 1.4*used {
				t.Errorf("the generator's share is %.2f cores, while messages were sent it used %.2f", s.Generator, used)
			}
			if out.generatorCores() != s.Generator || out.Window < 3500*time.Millisecond {
				t.Errorf("judged by %.2f cores, cost over %v", out.generatorCores(), out.Window)
			}
		})
	}
}

// burnCore keeps one core busy while messages are sent. The function that it returns ends that and returns how many cores this
// process used meanwhile.
func burnCore(b *bench) func() float64 {
	var rest, over atomic.Bool
	var used atomic.Int64 // millicores
	var first, since int64
	b.report = func(e Event) {
		if e.Kind != Sampled || rest.Load() {
			return
		}
		now, spent := clock.Now(), processNs()
		if first == 0 {
			first, since = now, spent
		} else if e.Sample.Sending {
			used.Store(1000 * (spent - since) / (now - first))
		}
		if !e.Sample.Sending {
			rest.Store(true)
		}
	}
	go func() {
		for !over.Load() {
			if rest.Load() {
				time.Sleep(time.Millisecond)
			}
		}
	}()
	return func() float64 { over.Store(true); return float64(used.Load()) / 1000 }
}

func processNs() int64 {
	var ru syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &ru)
	return ru.Utime.Nano() + ru.Stime.Nano()
}

func TestEvidenceHasNoLatencyIfNoneWasMeasured(t *testing.T) {
	b := &bench{lab: &lab{machine: store.Host{Cores: 2}}, spec: study.Defaults()}
	if e := b.evidence(trial{}, 1000); e.Latency != nil {
		t.Error("a latency of no messages")
	}
}

// An agent that was silent sends the samples of that time all at once. Cores over the microseconds between them would be noise.
func TestSamplesThatComeTogetherShareAReadingOfTheMeters(t *testing.T) {
	m := newMetering(&bench{report: func(Event) {}}, "rate", 1000)
	m.observe(worker.Sample{})
	first := m.live.latest
	for range 3 * 5 {
		m.observe(worker.Sample{})
	}
	if m.live.latest != first {
		t.Errorf("the meters were read again after %v", time.Duration(m.live.latest.at-first.at))
	}
}

func TestACountOfWhichNothingWasConfirmedTookNoTime(t *testing.T) {
	var r store.Result
	var tr trial
	tr.FirstSent, tr.Measured.Sent = 5e9, 100
	setCount(&r, tr)
	if r.Seconds != 0 || r.Count.PublishSeconds != 0 || r.Count.TotalSeconds != 0 || r.PublishRate != 0 {
		t.Errorf("%+v in %g s", *r.Count, r.Seconds)
	}
}
