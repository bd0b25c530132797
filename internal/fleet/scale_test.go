package fleet_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/worker"
)

// asAgents makes this binary a process with so many agents, whose workers are simulated: the variable holds their number.
const asAgents = "BROKERMARK_FLEET_TEST_AS_AGENTS"

func TestMain(m *testing.M) {
	var err error
	switch agents, bookkeeper := os.Getenv(asAgents), os.Getenv(asBookkeeper); {
	case agents != "":
		err = simulate(agents)
	case bookkeeper != "":
		err = keepBooks(bookkeeper)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// simulate is the process that asAgents makes.
func simulate(number string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	var all []fleet.Options
	for i := range n {
		all = append(all, fleet.Options{Name: fmt.Sprintf("agent%04d", i), Worker: &simulated{}})
	}
	return beAgents(all)
}

// beAgents is the work of a process of agents. Address and token are the lines of its standard input, and it ends with that.
func beAgents(all []fleet.Options) error {
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	at, err := fleet.ParseAddress(in.Text())
	if err != nil {
		return err
	}
	in.Scan()
	token := in.Text()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, o := range all {
		o.Join, o.Token, o.Build, o.Say = at, token, "b1", func(string, ...any) {}
		time.Sleep(5 * time.Millisecond) // on as many machines they would not come at once either
		running.Go(func() {
			if err := fleet.Join(ctx, o); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, err)
			}
		})
	}
	for in.Scan() {
	}
	stop()
	running.Wait()
	return nil
}

// startAgents starts this binary as a process of agents at a control server, which ends with the test. env makes it one.
func startAgents(t *testing.T, c *fleet.Control, env string) {
	t.Helper()
	host := exec.Command(os.Args[0])
	host.Env = append(os.Environ(), env)
	host.Stderr = os.Stderr
	in, err := host.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = host.Wait() })
	if _, err := io.WriteString(in, c.Join.String()+"\n"+c.Token+"\n"); err != nil {
		t.Fatal(err)
	}
}

// simulated is a worker that reports a load as a real one does, and sends nothing.
type simulated struct{ agent.Agent }

func (s *simulated) Prepare(context.Context, agent.Plan) (agent.Prepared, error) {
	return agent.Prepared{}, nil
}

func (s *simulated) Close() error { return nil }

func (s *simulated) Run(ctx context.Context, l worker.Load) (worker.Outcome, []agent.Part) {
	l.Measuring(l.Start)
	end := l.Start + int64(l.Duration)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var out worker.Outcome
	out.From, out.Until = l.Start, end
	for now := clock.Now(); now < end && ctx.Err() == nil; now = clock.Now() {
		<-tick.C
		var sample worker.Sample
		sample.At, sample.Sending, sample.Phase = now, true, 1
		sample.Count.Sent += 100_000
		sample.Count.Received = sample.Count.Sent
		l.Observe(sample)
	}
	l.Sent()
	out.Measured.Sent, out.Measured.Received = 1_000_000, 1_000_000
	return out, nil
}

// One process coordinates this many agents. What that costs it, control server included, is what docs/fleet.md says. BROKERMARK_AGENTS
// asks for another number: a thousand take about 20 s on two cores, the agents' own cost included.
func TestWhatCoordinatingCosts(t *testing.T) {
	testkit.Long(t)
	sizes := []int{1, 100}
	if n, err := strconv.Atoi(os.Getenv("BROKERMARK_AGENTS")); err == nil {
		sizes = []int{n}
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c := control(t)
			startAgents(t, c, fmt.Sprintf("%s=%d", asAgents, n))
			began := time.Now()
			f, err := gather(t, c, n, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			gathered := time.Since(began)
			a := f.Agent()
			if _, err := a.Prepare(t.Context(), plan(t, n)); err != nil {
				t.Fatal(err)
			}
			prepared := time.Since(began) - gathered
			const length = 10 * time.Second
			var before, after provision.Usage
			var crossedBefore, crossed fleet.Traffic
			sent := make(chan struct{})
			out, parts := a.Run(t.Context(), worker.Load{
				Schedule: rate(t, 1000), Duration: length, Drain: time.Second,
				Hooks: worker.Hooks{
					Measuring: func(int64) {
						before, crossedBefore = provision.SelfUsage(), c.Traffic()
						go func() {
							time.Sleep(length - time.Second)
							after, crossed = provision.SelfUsage(), c.Traffic()
							close(sent)
						}()
					},
					Observe: func(worker.Sample) {},
				},
			})
			<-sent
			if out.Err != nil || out.Measured.Sent != int64(n)*1_000_000 || len(parts) != n {
				t.Fatalf("%v, %d sent, %d parts", out.Err, out.Measured.Sent, len(parts))
			}
			over := (length - time.Second).Seconds()
			used := (after.User + after.System - before.User - before.System).Seconds()
			t.Logf("%d agents: gathered in %s, prepared in %s; while measuring %.1f%% of a core, %.0f messages/s, %.1f kB/s, %d MB resident",
				n, gathered.Round(time.Millisecond), prepared.Round(time.Millisecond), 100*used/over,
				float64(crossed.Messages-crossedBefore.Messages)/over, float64(crossed.Bytes-crossedBefore.Bytes)/over/1e3, after.RSSBytes>>20)
			if crossed.Messages-crossedBefore.Messages < int64(n)*int64(over) {
				t.Errorf("%d messages crossed while %d agents worked for %gs", crossed.Messages-crossedBefore.Messages, n, over)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
