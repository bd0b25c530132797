package lab_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/worker"
)

// fleetOf returns a growing fleet of so many agents in this process.
func fleetOf(t *testing.T, agents int) *fleet.Fleet {
	t.Helper()
	return gatherAgents(t, agents, fleet.Gathering{Agents: 1, Auto: true})
}

func gatherAgents(t *testing.T, agents int, g fleet.Gathering) *fleet.Fleet {
	t.Helper()
	c, err := fleet.Listen("127.0.0.1:0", filepath.Join(t.TempDir(), "fleet"), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	quiet := func(string, ...any) {}
	for i := range agents {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			ended <- fleet.Join(ctx, fleet.Options{Join: c.Join, Token: c.Token, Name: string('a' + rune(i)), Build: "b1", Say: quiet})
		}()
		t.Cleanup(func() { cancel(); <-ended })
	}
	m, err := fleet.Reach(t.Context(), c, fleet.Address{}, "", quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	for {
		there, err := m.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(there) == agents {
			break
		}
	}
	g.Wait, g.Build, g.Say = 10*time.Second, "b1", t.Logf
	f, err := m.Gather(t.Context(), g)
	t.Cleanup(f.Close)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// lateAgents pretends that the first of several agents sends late while there are fewer than enough, and that none does then, however
// busy this machine is.
type lateAgents struct {
	agent.Agent
	enough int
}

func (a lateAgents) Grow(ctx context.Context, most int, why string) (int, bool) {
	return a.Agent.(agent.Grower).Grow(ctx, most, why)
}

func (a lateAgents) Run(ctx context.Context, l worker.Load) (worker.Outcome, []agent.Part) {
	out, parts := a.Agent.Run(ctx, l)
	for i := range parts {
		parts[i].Begin, parts[i].Until = agent.Reading{}, agent.Reading{} // each has the use of the one process in which all are
		late, own := time.Duration(0), hist.New()
		if i == 0 && len(parts) < a.enough {
			late = 10 * time.Second
		}
		lag := &parts[i].Outcome.Histograms.GeneratorLag
		own.RecordN(int64(late), lag.Count())
		*lag = own.Snapshot()
	}
	return out, parts
}

func TestAgentsAreAddedUntilTheyAreNotTheLimit(t *testing.T) {
	testkit.NotShort(t)
	for name, c := range map[string]struct {
		there, topics, enough int
		grew                  []int
		status                store.Status
		want                  string // in the reason
	}{
		"enough of them":       {5, 8, 3, []int{2, 4}, store.OK, ""},
		"all of them are late": {3, 8, 9, []int{2, 3}, store.Void, "all agents that are there are in use (3)"},
		"too few topics":       {5, 2, 9, []int{2}, store.Void, "there are as many agents as topics"},
		"one will do":          {2, 2, 1, nil, store.OK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fleetOf(t, c.there)
			r := runOnce(t, simSpec(func(s *study.Spec) {
				setRate(s, 400, 300*time.Millisecond)
				s.Topics = c.topics
			}), lab.Options{NewAgent: func() agent.Agent { return lateAgents{f.Agent(), c.enough} }})
			var grew []int
			for _, g := range r.Growth {
				grew = append(grew, g.Agents)
				if !strings.HasPrefix(g.Reason, "agent a on ") || !strings.Contains(g.Reason, " late at p99 ") {
					t.Errorf("%d agents because %q", g.Agents, g.Reason)
				}
			}
			last := 1
			if len(c.grew) > 0 {
				last = c.grew[len(c.grew)-1]
			}
			if len(grew) != len(c.grew) || len(r.Agents) != last {
				t.Errorf("grew to %v, and ended with %d agents; want %v", grew, len(r.Agents), c.grew)
			}
			if r.Status != c.status || !strings.Contains(r.Reason, c.want) {
				t.Errorf("%s: %s", r.Status, r.Reason)
			}
			if b := r.Result.Books; b.Due != 120 || b.Received != 120*int64(r.Spec.SubscriptionsPerTopic) || b.Lost != 0 {
				t.Errorf("%+v", b)
			}
		})
	}
}

func TestAgentsRunEveryKindOfMeasurement(t *testing.T) {
	for name, edit := range map[string]func(*study.Spec){
		"rate with an automatic warm-up": func(s *study.Spec) {
			s.Warmup = study.Warmup{Auto: true, For: study.Duration(time.Second), Max: study.Duration(3 * time.Second)}
		},
		"peak":    func(s *study.Spec) { s.Measure, s.Load = "peak", study.Load{Shape: "constant"} },
		"count":   func(s *study.Spec) { s.Measure, s.Count = "count", study.Count{Messages: 400} },
		"backlog": func(s *study.Spec) { s.Measure, s.Backlog = "backlog", study.Backlog{Messages: 400, DrainRatio: 1} },
		"curve":   func(s *study.Spec) { s.Measure, s.Curve = "curve", study.Curve{Rates: []float64{200, 400}} },
		"sustainable": func(s *study.Spec) {
			s.Measure = "sustainable"
			s.Sustainable.Trial, s.Sustainable.Confirm, s.Sustainable.Confirms = study.Duration(500*time.Millisecond), study.Duration(1500*time.Millisecond), 1
			s.Sustainable.Warmup = study.Duration(200 * time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "sustainable" {
				testkit.Long(t) // two dozen trials
			}
			t.Parallel()
			f := gatherAgents(t, 2, fleet.Gathering{Agents: 2})
			r := runOnce(t, simSpec(func(s *study.Spec) {
				setRate(s, 400, 500*time.Millisecond)
				s.Topics, s.Client, s.InFlight.Messages = 2, map[string]any{"capacity": 2000}, 50
				edit(s)
			}), lab.Options{NewAgent: func() agent.Agent { return lateAgents{f.Agent(), 0} }})
			if r.Status == store.Void && r.Spec.Measure == "sustainable" {
				testkit.Undecided(t, "%s", r.Reason) // it says that others used the machine
			}
			if r.Status != store.OK || len(r.Agents) != 2 || r.Agents[0].Producers != 1 || r.Agents[1].Producers != 1 {
				t.Fatalf("%s: %s; %+v", r.Status, r.Reason, r.Agents)
			}
			if b := r.Result.Books; b.Sent == 0 || b.Received != b.Expected || b.Lost+b.Duplicated+b.Corrupted != 0 || !b.Balanced() {
				t.Errorf("%+v", b)
			}
			switch r.Spec.Measure {
			case "backlog":
				if b := r.Result.Backlog; b.Messages != 400 || b.DrainRate <= 0 {
					t.Errorf("%+v", b)
				}
			case "curve":
				if len(r.Result.Curve) != 2 {
					t.Errorf("%d rates", len(r.Result.Curve))
				}
			case "sustainable":
				if s := r.Result.Sustainable; s.Low > 2000*1.02 || s.Low < 1000 {
					t.Errorf("%.0f to %.0f/s; the broker carries 2,000/s", s.Low, s.High)
				}
			}
		})
	}
}
