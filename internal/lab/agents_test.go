package lab

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// agentPart returns what an agent did that used so many cores for a second and sent as late as lag.
func agentPart(name, machine string, cores, threads int, used float64, lag time.Duration) agent.Part {
	late := hist.New()
	late.RecordN(int64(lag), 1000)
	p := agent.Part{Name: name, Machine: machine, Cores: cores, Begin: agent.Reading{At: 1}, Until: agent.Reading{At: 1 + 1e9, Used: provision.Usage{User: time.Duration(used * 1e9)}}}
	p.Outcome = worker.Outcome{Procs: threads}
	p.Outcome.Histograms.GeneratorLag = late.Snapshot()
	return p
}

func TestASaturatedAgentIsNamedAndAgentsOfAMachineAreJudgedTogether(t *testing.T) {
	idle := func(name, machine string) agent.Part { return agentPart(name, machine, 4, 4, 0.1, time.Microsecond) }
	for want, parts := range map[string][]agent.Part{
		"": {idle("a", "1"), idle("b", "2"), idle("c", "2")},
		"agent b was 50ms late at p99 (allowed 10ms)": {idle("a", "1"), agentPart("b", "2", 4, 4, 0.1, 50*time.Millisecond), agentPart("c", "3", 4, 4, 0.1, 20*time.Millisecond)},
		"agent b used 3.9 of 4 cores":                 {idle("a", "1"), agentPart("b", "2", 4, 4, 3.9, 0), agentPart("c", "3", 64, 64, 20, 0)},
		"agent b used 1.0 of 1 cores":                 {idle("a", "1"), agentPart("b", "2", 64, 1, 0.99, 0)},
		"agents b and c together used 3.8 of 4 cores": {idle("a", "1"), agentPart("b", "2", 4, 4, 1.9, 0), agentPart("c", "2", 4, 4, 1.9, 0)},
	} {
		e := search.Evidence{Generator: trial{Parts: parts}.generatorUse(2)}
		if why := search.DefaultRule(ledger.Guarantee{}).Saturated(e); why.Text != want {
			t.Errorf("%q, want %q", why.Text, want)
		}
	}
}

func TestCoresOfAgentsElsewhereAreNotThoseOfThisMachine(t *testing.T) {
	b := &bench{lab: &lab{machine: store.Host{Cores: 2}}}
	tr := trial{trialCost: trialCost{Cost: store.Cost{BrokerKnown: true, Shares: &store.Shares{Generator: 5, Broker: 1}}}}
	here := agentPart("a", "1", 2, 2, 1, 0)
	here.OnThisMachine = true
	tr.Parts = []agent.Part{here}
	if words := b.coresUsed(tr).Text; !strings.Contains(words, "and the generator 5.0 of 2 cores") {
		t.Error(words)
	}
	tr.Parts = append(tr.Parts, agentPart("b", "2", 16, 16, 2, 0), agentPart("c", "2", 16, 16, 2, 0))
	if words := b.coresUsed(tr).Text; words != "the agents used 5.0 of the 18 cores of their machines; the broker used 1.0 cores (0.0 of it in the kernel)" {
		t.Error(words)
	}
}
