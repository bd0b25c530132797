package fleet_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/worker"
)

// spread is a plan whose producers and consumers are dealt over all agents.
func spread(t *testing.T, topics int, client map[string]any) agent.Plan {
	t.Helper()
	p := plan(t, topics)
	p.Place.Spread = true
	p.Broker.Client = client
	return p
}

// crewOf are n agents in this process that work as one.
func crewOf(t *testing.T, n int) agent.Agent {
	t.Helper()
	c := control(t)
	for i := range n {
		join(t, c, fmt.Sprint("agent", i), "b1")
	}
	f, err := gather(t, c, n, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return f.Agent()
}

// One topic's messages, sent by one agent and received by another one, are counted as if one process had had them all.
func TestAgentsThatShareStreamsCountWhatOneWouldHave(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	latency := 20 * time.Millisecond
	client := map[string]any{"latency": latency.String()}
	load := worker.Load{
		Schedule: rate(t, 2000), Warmup: worker.Warmup{For: 100 * time.Millisecond}, Duration: 500 * time.Millisecond, Drain: 10 * time.Second, Streams: true,
	}
	var local agent.Local
	if _, err := local.Prepare(t.Context(), spread(t, 2, client)); err != nil {
		t.Fatal(err)
	}
	want, _ := local.Run(t.Context(), load)
	if err := local.Close(); err != nil || want.Err != nil || want.Measured.Due != 1000 || want.Measured.Received != 2000 {
		t.Fatalf("%+v, %v, %v", want.Measured, want.Err, err)
	}
	for _, n := range []int{1, 2, 4, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			a := crewOf(t, n)
			if _, err := a.Prepare(t.Context(), spread(t, 2, client)); err != nil {
				t.Fatal(err)
			}
			for range 2 { // what one trial has sent is nothing to the next one
				var backlog int64
				l := load
				l.Observe = func(s worker.Sample) { backlog = min(backlog, s.Undelivered) }
				got, parts := a.Run(t.Context(), l)
				if errors.Is(got.Err, worker.ErrLate) {
					testkit.Undecided(t, "the machine stood still for a second: %v", got.Err)
				}
				if got.Err != nil || !got.Drained || !reflect.DeepEqual(got.Measured, want.Measured) || !reflect.DeepEqual(got.Warmup, want.Warmup) {
					t.Fatalf("drained %t, %v\n%+v\n%+v; want\n%+v\n%+v", got.Drained, got.Err, got.Warmup, got.Measured, want.Warmup, want.Measured)
				}
				if !reflect.DeepEqual(got.Streams, want.Streams) {
					t.Fatalf("streams:\n%+v\n%+v", got.Streams, want.Streams)
				}
				h, w := got.Histograms, want.Histograms
				if h.EndToEnd.Count() != w.EndToEnd.Count() || h.Publish.Count() != w.Publish.Count() || h.EndToEnd.Quantile(0) < int64(latency)*99/100 {
					t.Errorf("%d and %d latencies, at least %d ns; want %d and %d", h.EndToEnd.Count(), h.Publish.Count(), h.EndToEnd.Quantile(0), w.EndToEnd.Count(), w.Publish.Count())
				}
				if got.ClockBound != 0 || got.Early != (measure.Early{}) || got.Unordered != 0 || backlog < 0 || got.Producers != 6 || len(parts) != n {
					t.Errorf("bound %d, early %+v, %d unordered, backlog %d, %d producers, %d parts", got.ClockBound, got.Early, got.Unordered, backlog, got.Producers, len(parts))
				}
				consumers := 0
				for _, p := range parts {
					consumers += p.Consumers
				}
				if n > 1 && consumers != 4 {
					t.Errorf("%d consumers on all agents", consumers)
				}
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a broker loses, doubles, turns round or damages on the way from one agent to another is counted exactly.
func TestFaultsBetweenAgentsAreCounted(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	const messages = 4000
	for name, c := range map[string]struct {
		client map[string]any
		want   measure.Books
	}{
		"loss":       {map[string]any{"loss.every": 100}, measure.Books{Lost: 40, LostAcked: 40}},
		"duplicates": {map[string]any{"duplicate.every": 100}, measure.Books{Duplicated: 40}},
		"reorders":   {map[string]any{"reorder.every": 100}, measure.Books{Reordered: 40}},
		"corruption": {map[string]any{"corrupt.every": 100}, measure.Books{Lost: 40, LostAcked: 40, Corrupted: 40}},
	} {
		t.Run(name, func(t *testing.T) {
			a := crewOf(t, 2)
			p := spread(t, 1, c.client)
			p.Worker.Topology.Subscriptions = p.Worker.Topology.Subscriptions[:1]
			p.Worker.Producers, p.Worker.Consumers = p.Worker.Producers[:1], p.Worker.Consumers[:1]
			if _, err := a.Prepare(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			out, _ := a.Run(t.Context(), worker.Load{Messages: messages, Drain: 2 * time.Second, Lossy: true})
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			b := out.Measured
			got := measure.Books{Lost: b.Lost, LostAcked: b.LostAcked, Duplicated: b.Duplicated, Reordered: b.Reordered, Corrupted: b.Corrupted}
			// Every hundredth message of the broker counts the probes, too.
			for _, pair := range [][2]int64{{got.Lost, c.want.Lost}, {got.LostAcked, c.want.LostAcked}, {got.Duplicated, c.want.Duplicated}, {got.Reordered, c.want.Reordered}, {got.Corrupted, c.want.Corrupted}} {
				if pair[1] == 0 && pair[0] != 0 || pair[1] != 0 && (pair[0] < pair[1]-1 || pair[0] > pair[1]+1) {
					t.Errorf("%v: %+v, want %+v", out.Err, got, c.want)
				}
			}
			if b.Sent != messages || b.Received != messages-b.Lost || b.Stale+b.Untimed != 0 || !b.Balanced() || out.ClockBound != 0 {
				t.Errorf("%+v", b)
			}
		})
	}
}

func TestRolesAreGivenByName(t *testing.T) {
	t.Parallel()
	c := control(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		join(t, c, name, "b1")
	}
	m, err := fleet.Reach(t.Context(), c, fleet.Address{}, "", t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	f, err := m.Gather(t.Context(), fleet.Gathering{Agents: 3, Names: []string{"b", "c", "d"}, Wait: 10 * time.Second, Build: "b1", Say: t.Logf})
	t.Cleanup(f.Close)
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, 1)
	p.Place = agent.Place{Producers: []string{"d", "b", "d"}, Consumers: []string{"c"}}
	a := f.Agent()
	if _, err := a.Prepare(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	out, parts := a.Run(t.Context(), worker.Load{Messages: 900, Drain: 10 * time.Second})
	if out.Err != nil || out.Measured.Received != 1800 || out.Measured.Lost != 0 {
		t.Errorf("%v, %+v", out.Err, out.Measured)
	}
	have := map[string][2]int{}
	for _, one := range parts {
		name, _, _ := strings.Cut(one.Name, " ")
		have[name] = [2]int{one.Outcome.Producers, one.Consumers}
	}
	if want := map[string][2]int{"b": {1, 0}, "c": {0, 2}, "d": {2, 0}}; !reflect.DeepEqual(have, want) {
		t.Errorf("%v; want %v", have, want)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	p.Place.Consumers = []string{"e"}
	if _, err := a.Prepare(t.Context(), p); err == nil || !strings.Contains(err.Error(), "no agent of this run is called e; there are b, c, d") {
		t.Error(err)
	}
	_, err = m.Gather(t.Context(), fleet.Gathering{Agents: 2, Names: []string{"a", "x"}, Wait: time.Second, Build: "b1", Say: t.Logf})
	if err == nil || !strings.Contains(err.Error(), "place names x, who did not come") {
		t.Error(err)
	}
	if !slices.Contains(fleetNames(t, m), "a") {
		t.Error("an agent that nobody named was taken")
	}
}

// fleetNames returns the names of all agents at the control server.
func fleetNames(t *testing.T, m *fleet.Meeting) (names []string) {
	t.Helper()
	list, err := m.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		names = append(names, s.Info.Name)
	}
	return names
}

// When one of several that share streams can't prepare, the others don't wait for it.
func TestAnAgentThatCannotPrepareEndsTheOthers(t *testing.T) {
	t.Parallel()
	a := crewOf(t, 3)
	p := spread(t, 1, nil)
	p.Worker.Payload.Sizes[0].Bytes = 20
	began := time.Now()
	if _, err := a.Prepare(t.Context(), p); err == nil || !strings.Contains(err.Error(), "payloads of 20 bytes can't carry their times") {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	p = spread(t, 1, nil)
	p.Worker.Consumers = p.Worker.Consumers[:1] // nobody reads the second subscription
	p.Worker.Connect = 5 * time.Second
	if _, err := a.Prepare(t.Context(), p); err == nil || !strings.Contains(err.Error(), "were not seen by every subscription") {
		t.Error(err)
	}
}
