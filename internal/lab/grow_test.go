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
	"github.com/brokermark/brokermark/internal/worker"
)

// fleetOf gathers a growing fleet from so many agents in this process.
func fleetOf(t *testing.T, agents int) *fleet.Fleet {
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
	f, err := m.Gather(t.Context(), fleet.Gathering{Agents: 1, Auto: true, Wait: 10 * time.Second, Build: "b1", Say: t.Logf})
	t.Cleanup(f.Close)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// tired are agents of which the first sends late by its own fault while there are fewer than enough; then none does, whatever else this
// machine is busy with.
type tired struct {
	agent.Agent
	enough int
}

func (a tired) Grow(ctx context.Context, most int, why string) (int, bool) {
	return a.Agent.(agent.Growing).Grow(ctx, most, why)
}

func (a tired) Run(ctx context.Context, l worker.Load) (worker.Outcome, []agent.Part) {
	out, parts := a.Agent.Run(ctx, l)
	for i := range parts {
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

func TestAgentsBecomeMoreUntilTheyAreNotTheLimit(t *testing.T) {
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
			r := once(t, onSim(func(s *study.Spec) {
				fixed(s, 400, 300*time.Millisecond)
				s.Topics = c.topics
			}), lab.Options{NewAgent: func() agent.Agent { return tired{f.Agent(), c.enough} }})
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
