package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/sim"
	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/worker"
)

// control starts a control server of the test's own.
func control(t *testing.T) *fleet.Control {
	t.Helper()
	c, err := fleet.Listen("127.0.0.1:0", filepath.Join(t.TempDir(), "fleet"), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// join starts an agent in this process, which ends when the function it returns is called.
func join(t *testing.T, c *fleet.Control, name, build string) (end func() error) {
	t.Helper()
	return joinWith(t, fleet.Options{Join: c.Join, Token: c.Token, Name: name, Build: build, Say: func(format string, args ...any) { t.Logf(name+": "+format, args...) }})
}

func joinWith(t *testing.T, o fleet.Options) (end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- fleet.Join(ctx, o) }()
	var once sync.Once
	var err error
	end = func() error {
		once.Do(func() {
			cancel()
			select {
			case err = <-ended:
			case <-time.After(time.Minute):
				err = errors.New("the agent did not end")
			}
		})
		return err
	}
	t.Cleanup(func() { _ = end() })
	return end
}

// gather claims agents through the control server c.
func gather(t *testing.T, c *fleet.Control, agents int, wait time.Duration) (*fleet.Fleet, error) {
	t.Helper()
	m, err := fleet.Reach(t.Context(), c, fleet.Address{}, "", t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	f, err := m.Gather(t.Context(), fleet.Gathering{Agents: agents, Wait: wait, Build: "b1", Say: t.Logf})
	t.Cleanup(f.Close)
	return f, err
}

// plan is a number of topics on a sim of the test's own, which agents in this process reach.
func plan(t *testing.T, topics int) agent.Plan {
	t.Helper()
	t.Cleanup(func() { sim.Remove(t.Name()) })
	w := worker.Plan{
		Topology: driver.Topology{Subscriptions: []string{"a", "b"}},
		Payload:  worker.Payload{Sizes: []worker.Size{{Bytes: 100, Weight: 1}}, Random: 1, Pool: 1},
		InFlight: 100, Bytes: 1 << 20, Connect: 10 * time.Second,
	}
	for i := range topics {
		w.Topology.Topics = append(w.Topology.Topics, driver.Topic{Name: fmt.Sprint("t", i), Partitions: 1})
		for range 3 {
			w.Producers = append(w.Producers, worker.Producer{ID: len(w.Producers), Topic: i})
		}
		for s := range w.Topology.Subscriptions {
			w.Consumers = append(w.Consumers, driver.ConsumerConfig{Of: 1, Topic: i, Subscription: s})
		}
	}
	return agent.Plan{
		Broker: link.Broker{
			Broker: "sim", Addresses: []string{t.Name()},
			Guarantee: driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered},
		},
		Worker: w,
	}
}

func rate(t *testing.T, perSecond float64) schedule.Schedule {
	t.Helper()
	s, err := schedule.Constant(perSecond)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The same load gives the same books by one agent in this process and by any number of them in others.
func TestAnyNumberOfAgentsSendsTheSame(t *testing.T) {
	t.Parallel()
	load := worker.Load{
		Schedule: rate(t, 2000), Warmup: worker.Warmup{For: 100 * time.Millisecond}, Duration: 500 * time.Millisecond, Drain: 10 * time.Second, Streams: true,
	}
	var local agent.Local
	p := plan(t, 5)
	if _, err := local.Prepare(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	want, _ := local.Run(t.Context(), load)
	if err := local.Close(); err != nil || want.Err != nil || want.Measured.Due != 1000 || want.Warmup.Due != 200 {
		t.Fatalf("%+v, %v, %v", want.Measured, want.Err, err)
	}
	for _, n := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c := control(t)
			for i := range n {
				join(t, c, fmt.Sprint("agent", i), "b1")
			}
			f, err := gather(t, c, n, 10*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			a := f.Agent()
			if _, err := a.Prepare(t.Context(), plan(t, 5)); err != nil {
				t.Fatal(err)
			}
			var measuring []int64
			sent, seen := 0, int64(0)
			l := load
			l.Hooks = worker.Hooks{
				Measuring: func(at int64) { measuring = append(measuring, at) },
				Sent:      func() { sent++ },
				Observe:   func(s worker.Sample) { seen = max(seen, s.Count.Received) },
			}
			got, parts := a.Run(t.Context(), l)
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			if got.Err != nil || !reflect.DeepEqual(got.Measured, want.Measured) || !reflect.DeepEqual(got.Warmup, want.Warmup) {
				t.Fatalf("%v\n%+v\n%+v; want\n%+v\n%+v", got.Err, got.Warmup, got.Measured, want.Warmup, want.Measured)
			}
			for i := range want.Streams {
				if i >= len(got.Streams) || !reflect.DeepEqual(got.Streams[i], want.Streams[i]) {
					t.Fatalf("streams:\n%+v\n%+v", got.Streams, want.Streams)
				}
			}
			if h, w := got.Histograms, want.Histograms; h.EndToEnd.Count() != w.EndToEnd.Count() || h.Publish.Count() != w.Publish.Count() {
				t.Errorf("%d and %d latencies; want %d and %d", h.EndToEnd.Count(), h.Publish.Count(), w.EndToEnd.Count(), w.Publish.Count())
			}
			if len(measuring) != 1 || measuring[0] != got.From || got.Until-got.From != int64(load.Duration) || sent != 1 || seen == 0 {
				t.Errorf("measuring %v, the phase is %d to %d; sent %d times; %d seen", measuring, got.From, got.Until, sent, seen)
			}
			if len(parts) != n || got.Producers != 15 {
				t.Errorf("%d parts, %d producers", len(parts), got.Producers)
			}
			for _, p := range parts {
				begin, until := p.PhaseReadings()
				if p.Offset != 0 || p.Bound != 0 || !p.OnThisMachine || p.PID != os.Getpid() || p.StartedLate < 0 || until.At-begin.At < int64(load.Duration)/2 || p.End.At < until.At || p.Outcome.From != got.From {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

func TestWhichPartAnAgentHasFollowsFromItsNameAndNotFromWhenItJoined(t *testing.T) {
	t.Parallel()
	c := control(t)
	join(t, c, "b", "b1")
	m, err := fleet.Reach(t.Context(), c, fleet.Address{}, "", t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	for joined := []fleet.Status(nil); len(joined) == 0; {
		if joined, err = m.List(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f, err := m.Gather(t.Context(), fleet.Gathering{Agents: 2, Wait: 10 * time.Second, Build: "b1", Say: func(format string, _ ...any) {
		if strings.HasPrefix(format, "waiting for ") {
			join(t, c, "a", "b1")
		}
	}})
	t.Cleanup(f.Close)
	if err != nil {
		t.Fatal(err)
	}
	a := f.Agent()
	if _, err := a.Prepare(t.Context(), plan(t, 3)); err != nil {
		t.Fatal(err)
	}
	_, parts := a.Run(t.Context(), worker.Load{Messages: 10, Drain: 10 * time.Second})
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if len(parts) != 2 || !strings.HasPrefix(parts[0].Name, "a ") || !strings.HasPrefix(parts[1].Name, "b ") {
		t.Errorf("%+v", parts)
	}
}

func TestAFleetRunsPointAfterPointAndNumbersOfMessages(t *testing.T) {
	t.Parallel()
	c := control(t)
	join(t, c, "left", "b1")
	join(t, c, "right", "b1")
	f, err := gather(t, c, 2, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a := f.Agent()
		if _, err := a.Prepare(t.Context(), plan(t, 3)); err != nil {
			t.Fatal(err)
		}
		for _, s := range []schedule.Schedule{nil, rate(t, 3000)} {
			sent := 0
			out, _ := a.Run(t.Context(), worker.Load{Messages: 1001, Schedule: s, Drain: 10 * time.Second, Hooks: worker.Hooks{Sent: func() { sent++ }}})
			if m := out.Measured; out.Err != nil || m.Sent != 1001 || m.Received != 2002 || m.Lost+m.Duplicated+m.Stale != 0 || sent != 1 || !m.Balanced() {
				t.Errorf("%v: %+v, %d times sent", out.Err, m, sent)
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAHopelessLoadEndsOnEveryAgent(t *testing.T) {
	t.Parallel()
	c := control(t)
	join(t, c, "left", "b1")
	join(t, c, "right", "b1")
	f, err := gather(t, c, 2, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	a := f.Agent()
	if _, err := a.Prepare(t.Context(), plan(t, 2)); err != nil {
		t.Fatal(err)
	}
	out, parts := a.Run(t.Context(), worker.Load{
		Schedule: rate(t, 500), Duration: time.Minute, Drain: 10 * time.Second, Hooks: worker.Hooks{Hopeless: func(s []worker.Sample) bool { return len(s) >= 3 }},
	})
	if !out.Hopeless || out.Err != nil || len(parts) != 2 || out.Until-out.From > int64(30*time.Second) {
		t.Errorf("hopeless %t, %v, %d parts, %s", out.Hopeless, out.Err, len(parts), time.Duration(out.Until-out.From))
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func TestErrorsOfAgentsAreWhatTheyAre(t *testing.T) {
	t.Parallel()
	c := control(t)
	join(t, c, "one", "b1")
	f, err := gather(t, c, 1, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, 1)
	p.Broker.Guarantee.Replicas = 3
	if _, err := f.Agent().Prepare(t.Context(), p); !errors.As(err, new(*driver.ErrUnsupported)) {
		t.Errorf("%v; want a refusal", err)
	}
	p = plan(t, 1)
	p.Broker.Addresses = nil
	if _, err := f.Agent().Prepare(t.Context(), p); !errors.As(err, new(*agent.ErrConnect)) {
		t.Errorf("%v; want a broker that isn't reached", err)
	}
	p = plan(t, 1)
	a := f.Agent()
	if _, err := a.Prepare(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	out, _ := a.Run(ctx, worker.Load{Schedule: rate(t, 100), Duration: time.Minute, Drain: time.Second})
	if out.Err == nil || out.Measured.Sent == 0 {
		t.Errorf("interrupted: %v, %+v", out.Err, out.Measured)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func TestWhoIsMissingIsSaid(t *testing.T) {
	t.Parallel()
	c := control(t)
	join(t, c, "here", "b1")
	join(t, c, "old", "b0")
	_, err := gather(t, c, 2, 2*time.Second)
	if !errors.As(err, new(*fleet.ErrIncomplete)) {
		t.Fatal(err)
	}
	builds := fmt.Sprintf("it is brokermark b0 (protocol %d), and this is b1 (protocol %d): both sides have to be the same build", agent.Version, agent.Version)
	for _, want := range []string{"1 of 2 agents came within 2s: here on ", "agent old on ", builds} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q in it", err, want)
		}
	}
	if _, err := gather(t, c, 1, time.Second); err == nil || !strings.Contains(err.Error(), "agent here on ") || !strings.Contains(err.Error(), "refuses: it works for ") {
		t.Errorf("a second run took an agent that works: %v", err)
	}
}

func TestMoreAgentsThanTopicsAreRefused(t *testing.T) {
	t.Parallel()
	c := control(t)
	join(t, c, "left", "b1")
	join(t, c, "right", "b1")
	f, err := gather(t, c, 2, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Agent().Prepare(t.Context(), plan(t, 1)); err == nil || !strings.Contains(err.Error(), "2 agents, but all streams of a topic") {
		t.Error(err)
	}
}

func TestALostAgentEndsATrialWithItsNameAndOthersTakeItsPlace(t *testing.T) {
	t.Parallel()
	c := control(t)
	join(t, c, "left", "b1")
	end := join(t, c, "right", "b1")
	f, err := gather(t, c, 2, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	a := f.Agent()
	if _, err := a.Prepare(t.Context(), plan(t, 2)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	out, _ := a.Run(t.Context(), worker.Load{
		Schedule: rate(t, 500), Duration: time.Minute, Drain: time.Second,
		Hooks: worker.Hooks{Measuring: func(int64) { go func() { _ = end() }() }},
	})
	var lost *agent.ErrLost
	if !errors.As(out.Err, &lost) || !strings.HasPrefix(lost.Agent, "right on ") || time.Since(began) > 40*time.Second {
		t.Fatalf("%v after %s", out.Err, time.Since(began))
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	join(t, c, "third", "b1")
	a = f.Agent()
	if _, err := a.Prepare(t.Context(), plan(t, 2)); err != nil {
		t.Fatal(err)
	}
	if out, _ := a.Run(t.Context(), worker.Load{Messages: 100, Drain: 5 * time.Second}); out.Err != nil || out.Measured.Received != 200 {
		t.Errorf("%v, %+v", out.Err, out.Measured)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func TestWrongTokensCertificatesAndServersAreNamed(t *testing.T) {
	t.Parallel()
	c := control(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	other := c.Join
	other.Pin = strings.Repeat("ab", 32)
	plain := c.Join
	plain.Pin = ""
	for name, o := range map[string]struct {
		at    fleet.Address
		token string
		want  string
	}{
		"token":       {c.Join, "an other token 1234", "does not accept the token"},
		"certificate": {other, c.Token, "its certificate is not the one"},
		"plain":       {plain, c.Token, "encrypts: give its fingerprint"},
	} {
		err := fleet.Join(ctx, fleet.Options{Join: o.at, Token: o.token, Build: "b1", Say: t.Logf})
		if err == nil || !strings.Contains(err.Error(), o.want) || strings.Contains(err.Error(), o.token) {
			t.Errorf("%s: %v; want %q", name, err, o.want)
		}
	}
}

func TestAddressesAndTokens(t *testing.T) {
	pin := "sha256:" + strings.Repeat("0a", 32)
	for text, want := range map[string]string{
		"nats://h:1?pin=" + pin: "", "nats://h:1?ca=/x/ca.pem": "", "nats://127.0.0.1:4222": "", "nats://[::1]:4222": "", "nats://localhost:1": "",
		"nats://h:1": "encrypted only", "h:1": "no address", "nats://h": "no address", "nats://u:p@h:1?pin=" + pin: "holds no password",
		"nats://h:1?pin=sha256:12": "no fingerprint", "nats://h:1?pim=" + pin: "pim is unknown", "http://h:1": "no address",
	} {
		a, err := fleet.ParseAddress(text)
		if want == "" {
			if again, err2 := fleet.ParseAddress(a.String()); err != nil || err2 != nil || again != a {
				t.Errorf("%s: %+v, %v; again %+v, %v", text, a, err, again, err2)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
	file := filepath.Join(t.TempDir(), "token")
	for _, c := range []struct {
		text string
		mode os.FileMode
		want string
	}{{"0123456789abcdef\nmore\n", 0o600, ""}, {"0123456789abcdef\n", 0o644, "may be read by others"}, {"short\n", 0o600, "at least 16"}} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, c.mode); err != nil {
			t.Fatal(err)
		}
		token, err := fleet.ReadToken(file)
		if c.want == "" && (err != nil || token != "0123456789abcdef") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %q, %v; want %q", c.text, token, err, c.want)
		}
	}
}

// together prepares a plan on a fleet of two.
func together(t *testing.T, p agent.Plan) agent.Agent {
	t.Helper()
	c := control(t)
	join(t, c, "left", "b1")
	join(t, c, "right", "b1")
	f, err := gather(t, c, 2, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	a := f.Agent()
	if _, err := a.Prepare(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestAnAutomaticWarmUpEndsOnAllAgentsAtOnce(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	a := together(t, plan(t, 2))
	var measuring []int64
	out, parts := a.Run(t.Context(), worker.Load{
		Schedule: rate(t, 500), Warmup: worker.Warmup{Auto: true, For: time.Second, Max: 20 * time.Second}, Duration: time.Second, Drain: 10 * time.Second,
		Hooks: worker.Hooks{Measuring: func(at int64) { measuring = append(measuring, at) }},
	})
	if out.Err != nil || out.Measured.Due != 500 || out.Measured.Received != 1000 || out.Warmup.Due == 0 || out.Measured.Lost+out.Warmup.Lost != 0 {
		t.Errorf("%v, %+v, %+v", out.Err, out.Warmup, out.Measured)
	}
	if warm := time.Duration(out.From - out.Start); warm < time.Second || warm > 20*time.Second || len(measuring) != 1 || measuring[0] != out.From {
		t.Errorf("%s of warm-up; measuring %v, from %d", warm, measuring, out.From)
	}
	for _, p := range parts {
		if p.Outcome.From != out.From || p.Outcome.Warmup.Due == 0 {
			t.Errorf("agent %s: from %d, %+v", p.Name, p.Outcome.From, p.Outcome.Warmup)
		}
	}
	quantiles := 0
	for _, s := range out.Samples {
		if s.EndToEnd.Count > 0 {
			quantiles++
		}
	}
	if quantiles < len(out.Samples)/2 {
		t.Errorf("%d of %d samples have latencies", quantiles, len(out.Samples))
	}
}

func TestABacklogIsDrainedOnceAllAgentsHaveFilledTheirs(t *testing.T) {
	t.Parallel()
	p := plan(t, 2)
	p.Worker.Lagging = worker.Lagging{Topics: len(p.Worker.Topology.Topics), Subscriptions: len(p.Worker.Topology.Subscriptions)}
	a := together(t, p)
	out, parts := a.Run(t.Context(), worker.Load{
		Schedule: rate(t, 10), Messages: 6, Drain: 10 * time.Second, Backlog: &worker.Backlog{Ratio: 1}, // the first three are the left one's
	})
	if b := out.Backlog; out.Err != nil || b.Filled != 6 || b.To < b.From || out.Measured.Received != 12 {
		t.Errorf("%v, %+v, %+v", out.Err, b, out.Measured)
	}
	for _, p := range parts {
		if b := p.Outcome.Backlog; b.From < out.Backlog.FilledAt {
			t.Errorf("agent %s began to drain %s before the last message was confirmed", p.Name, time.Duration(out.Backlog.FilledAt-b.From))
		}
	}
}
