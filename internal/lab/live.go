package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// liveMeters is what a metering, the meters of one trial, shows while the trial runs, for the live view and for the series of the record.
// All cores are those in use between the last two readings, about half a second apart; 0 before the second.
type liveMeters struct {
	latest       *reading // nil before the first
	cores        Cores
	perSample    worker.Thinned[Cores] // cores at each sample, at most maxCores of them
	agents       []AgentCores          // none if the generator is this process
	agentSeconds map[string]float64    // processor time that each agent had used at the latest reading, by its name
}

// meterEvery is the least time between two readings of the meters for observe. A worker has a sample observed every 100 ms, so
// about five share a reading: in less time, the kernel's ticks of up to 10 ms would show. The samples of an agent that was silent
// come all at once and share one, too.
const meterEvery = 450 * time.Millisecond

// maxCores bounds the values of Cores that a metering keeps, one for each sample: with a sample every 100 ms, all of 17 minutes, every
// second one of 33 minutes, and so on.
const maxCores = 10_000

// observe reports a sample, with the cores in use.
func (m *metering) observe(s worker.Sample) {
	if m.live.latest == nil || clock.Now()-m.live.latest.at >= int64(meterEvery) {
		m.readLive()
	}
	m.live.perSample.Add(m.live.cores)
	m.bench.report(Event{Kind: Sampled, Stage: m.stage, Target: m.rate, Sample: &s, CPU: m.live.cores, Agents: m.live.agents})
}

// readLive reads the meters, sets the cores in use since the reading before, and notes the largest memory and what the hypervisor took.
func (m *metering) readLive() {
	r, before := m.bench.read(), m.live.latest
	r.stolen = provision.StolenFromCores()
	m.peak.add(r)
	elapsed := 0.0
	if before != nil {
		elapsed = seconds(before.at, r.at)
		m.live.cores = m.coresBetween(*before, r)
		m.addBurst(*before, r)
	}
	m.live.latest = &r
	if crew, ok := m.bench.clients.agent.(agent.Crew); ok {
		m.live.readAgents(crew, elapsed)
	}
}

// readAgents sets the cores in use by each agent in the elapsed seconds since the last call. They are 0 for an agent that was not
// there before.
func (l *liveMeters) readAgents(crew agent.Crew, elapsed float64) {
	used := map[string]float64{}
	l.agents = nil // events that were reported hold the list before
	for _, a := range crew.Each() {
		used[a.Name] = processor(a.Used)
		c := AgentCores{Name: a.Name}
		if before, known := l.agentSeconds[a.Name]; known && elapsed > 0 {
			c.Cores = max(0, used[a.Name]-before) / elapsed // an agent that was started anew counts from 0
		}
		l.agents = append(l.agents, c)
	}
	l.agentSeconds = used
}
