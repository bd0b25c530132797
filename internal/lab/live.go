package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/worker"
)

// liveMeters is what a metering shows while a trial runs: the cores in use, for the live view and for the series of the record.
type liveMeters struct {
	latest     *reading              // nil before the first
	cores      Cores                 // in use between the last two readings
	perSample  worker.Thinned[Cores] // cores at each sample
	agents     []AgentCores          // in use by each agent between the last two readings
	agentUsage agentUsage            // at the last reading
}

// maxCores bounds the values of Cores that a metering keeps, one for each observed sample: all of 17 minutes, every second one
// of 33 minutes, and so on.
const maxCores = 10_000

func newLiveMeters() liveMeters {
	return liveMeters{perSample: worker.NewThinned[Cores](maxCores)}
}

// meterEvery is the least time between two readings of the meters for observe. A worker has a sample observed every 100 ms, so
// about five share a reading: in less time, the kernel's ticks of up to 10 ms would show. The samples of an agent that was silent
// come all at once and share one, too.
const meterEvery = 450 * time.Millisecond

// observe reports a sample, with the cores in use.
func (m *metering) observe(s worker.Sample) {
	if m.live.latest == nil || clock.Now()-m.live.latest.at >= int64(meterEvery) {
		r := m.bench.read()
		m.peak.add(r)
		if m.live.latest != nil {
			m.live.cores = m.coresBetween(*m.live.latest, r)
		}
		m.live.agents = m.coresOfAgents()
		m.live.latest = &r
	}
	m.live.perSample.Add(m.live.cores)
	m.bench.report(Event{Kind: Sampled, Stage: m.stage, Target: m.rate, Sample: &s, CPU: m.live.cores, Agents: m.live.agents})
}

// agentUsage is the processor time that each agent had used at a time.
type agentUsage struct {
	at      int64              // ns on the clock's axis
	seconds map[string]float64 // by the agent's name
}

// coresOfAgents returns the cores in use by each agent since the last call; none if the generator is this process.
func (m *metering) coresOfAgents() []AgentCores {
	several, ok := m.bench.clients.agent.(agent.Crew)
	if !ok {
		return nil
	}
	before, now := m.live.agentUsage, agentUsage{at: clock.Now(), seconds: map[string]float64{}}
	var list []AgentCores
	for _, a := range several.Each() {
		now.seconds[a.Name] = processor(a.Used)
		c := AgentCores{Name: a.Name}
		if used, known := before.seconds[a.Name]; known {
			c.Cores = (now.seconds[a.Name] - used) / seconds(before.at, now.at)
		}
		list = append(list, c)
	}
	m.live.agentUsage = now
	return list
}
