package lab

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/docker/go-units"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
)

// What set the pace of a load is named by one rule: of everything that can, in a fixed order, the first that was at its limit, and the next
// one. The order is that of what can be said for certain: what the broker says itself and what the spec sets, then what can't do more
// however much there is of everything else (one goroutine, one thread), then what all share. What a full window waits for comes before
// the window. docs/explain.md is the same for users.

// The causes, in the order of the rule.
const (
	limitGenerator     = "generator"      // of a search: the generator was late, or used up its cores
	limitLatency       = "latency"        // of a search: the goal's latency bound
	limitBroker        = "broker"         // its own quota or alarm, as it says itself
	limitProducerDelay = "producer-delay" // the producers' own work on each message
	limitConsumerDelay = "consumer-delay" // the consumers' own work on each message
	limitCPULimit      = "cpu-limit"      // the cores that the spec's limits leave the broker
	limitIOLimit       = "io-limit"       // the bytes per second that they leave it on its disk
	limitNetwork       = "network"        // the bandwidth that the spec leaves a connection
	limitClient        = "client"         // one goroutine of the client, or in a closed loop all of it
	limitBrokerThread  = "broker-thread"  // one thread of the broker
	limitAffinity      = "affinity"       // the cores that the broker may run on
	limitCPU           = "cpu"            // the cores of the machine
	limitDisk          = "disk"
	limitMemory        = "memory"
	limitClientWindow  = "client-window" // places for unconfirmed messages
	limitClientSend    = "client-send"   // the client's Send
)

// The shares of the time from which something counts as the limit, beside those that doubts share with the rule.
const (
	threadMost  = 0.9 // on a core. The kernel counts that exactly, but a thread of a broker at its limit waits now and then for a client
	queuedLeast = 0.1 // without a core: less of it delays no thread for long
	diskMost    = 0.9
	ioMost      = 0.75 // Kafka, held back by the limit, wrote 0.90 of it, RabbitMQ 0.81: the file system's own blocks are not the broker's
	ioExceeded  = 1.2  // of its limit, on average
	linkMost    = 0.9
	memoryMost  = 0.2 // waiting for it is time that is lost
	blockedMost = 0.5 // of the time of the producers: without waits for a free place they would have sent up to twice as much
	sendingMost = 0.8 // of the time of the producers: hardly any is left to wait for the next message to be due
)

// bottleneck is what was seen, during a load, of all that can set its pace. Shares are of the time, 0 to 1; 0 is also what isn't known.
type bottleneck struct {
	generator, latency string // how it was reached, as a clause; empty: it was not
	held               float64
	heldSeen           string
	preparing, working float64 // share that the busiest producer, and consumer, spent with its own work

	cores    float64 // of the machine
	inUse    float64 // of these, by all that takes part in the measurement
	users    remark.Remark
	broker   float64 // cores that it used
	cpuLimit float64 // cores that the spec leaves it; 0: no limit
	ioLimit  float64 // bytes per second that the spec leaves it for reading, and as many for writing; 0: no limit
	strain

	client         string // how the client set the pace of a closed loop; empty: it did not
	goroutine      string // of the generator, the busiest; empty if no core was left to use
	goroutineShare float64
	goroutineMost  float64
	blocked        float64 // share that producers waited for a free place
	sending        float64 // share that they spent in the client's Send; 0 in a closed loop
}

// candidate is something that may have set the pace.
type candidate struct {
	cause string
	used  float64 // in the unit of most
	most  float64 // above this it was at its limit; > 0
	seen  string
}

// near is how near the candidate was to its limit: above 1 it was at it.
func (c candidate) near() float64 { return c.used / c.most }

// nearest is the least nearness at which something that was not at its limit is worth naming as the next that would be.
const nearest = 0.5

// limits names the limit and the next one. That is the second that was at its limit or, if only one was, the one nearest to it.
func (p bottleneck) limits() store.Limits {
	var found store.Limits
	next := candidate{most: 1}
	for _, c := range p.candidates() {
		known := slices.ContainsFunc(found, func(l store.Limit) bool { return l.Cause == c.cause })
		// Messages fill the window, and Send, because of what was at its limit before.
		follows := len(found) > 0 && (c.cause == limitClientWindow || c.cause == limitClientSend)
		switch {
		case known || follows || len(found) == 2:
		case c.near() > 1:
			found = append(found, store.Limit{Cause: c.cause, Seen: c.seen, Reached: true})
		case c.near() > next.near():
			next = c
		}
	}
	if len(found) < 2 && next.near() >= nearest && found.Cause() != next.cause {
		found = append(found, store.Limit{Cause: next.cause, Seen: next.seen})
	}
	return found
}

// candidates lists all that can set the pace, in the order of the rule.
func (p bottleneck) candidates() []candidate {
	thread := "one thread of the broker"
	if p.thread != "" {
		thread += ", " + p.thread + ","
	}
	stated := func(cause, seen string) candidate {
		if seen == "" {
			return candidate{cause: cause, most: 1}
		}
		return candidate{cause, 2, 1, seen}
	}
	ofCores := func(cause string, available float64, seen string) candidate {
		if available == 0 || p.broker == 0 {
			return candidate{cause: cause, most: 1}
		}
		return candidate{cause, p.broker / available, usedUpShare, seen}
	}
	fewer := float64(p.allowed)
	if fewer >= p.cores {
		fewer = 0
	}
	list := []candidate{
		stated(limitGenerator, p.generator),
		stated(limitLatency, p.latency),
		{limitBroker, p.held, heldShown, p.heldSeen},
		{limitProducerDelay, p.preparing, busyApplication, fmt.Sprintf("the busiest producer worked on its messages for %s of the time", percent(p.preparing))},
		{limitConsumerDelay, p.working, busyApplication, fmt.Sprintf("the busiest consumer worked on its messages for %s of the time", percent(p.working))},
		ofCores(limitCPULimit, p.cpuLimit, fmt.Sprintf("the broker used %.2f of the %.2f cores that limits.broker.cpu leaves it", p.broker, p.cpuLimit)),
		{limitIOLimit, p.ofIOLimit(), ioMost, fmt.Sprintf("the broker wrote or read %s/s of the %s/s that limits.broker.io leaves it", units.BytesSize(p.diskBytes), units.BytesSize(p.ioLimit))},
		{limitNetwork, p.linkPassed, linkMost, fmt.Sprintf("a connection passed bytes at the bandwidth of the network that the spec asks for, for %s of the time", percent(p.linkPassed))},
		stated(limitClient, p.client),
		{limitClient, p.goroutineShare, p.goroutineMost, fmt.Sprintf("%s of the generator used %.2f of a core, all that one goroutine can", p.goroutine, p.goroutineShare)},
		{limitBrokerThread, p.threadRan, threadMost, fmt.Sprintf("%s at %s of a core", thread, percent(p.threadRan))},
		ofCores(limitAffinity, fewer, fmt.Sprintf("the broker used %.2f cores, and may run on %.0f", p.broker, fewer)),
	}
	if p.cores > 0 {
		seen := fmt.Sprintf("the machine's %.0f cores, of which %s used %.1f", p.cores, p.users, p.inUse)
		if p.waitedCPU > 0 {
			seen += fmt.Sprintf(", and threads waited for one for %s of the time", percent(p.waitedCPU))
		}
		list = append(list, candidate{limitCPU, p.inUse / p.cores, usedUpShare, seen})
	}
	if p.threadWaited > queuedLeast { // others had the cores when it needed one
		list = append(list, candidate{
			limitCPU, p.threadRan + p.threadWaited, threadMost,
			fmt.Sprintf("%s ran for %s of the time and waited for a core for %s", thread, percent(p.threadRan), percent(p.threadWaited)),
		})
	}
	disk := fmt.Sprintf("the disk, %s, was busy for %s of the time", p.disk, percent(p.diskWorked))
	if p.waitedIO > p.diskWorked {
		disk = fmt.Sprintf("threads waited for a disk for %s of the time", percent(p.waitedIO))
	}
	return append(list,
		candidate{limitDisk, max(p.diskWorked, p.waitedIO), diskMost, disk},
		candidate{limitMemory, p.waitedMemory, memoryMost, fmt.Sprintf("threads waited for memory for %s of the time", percent(p.waitedMemory))},
		candidate{limitClientWindow, p.blocked, blockedMost, fmt.Sprintf("producers waited for a free place in the window for %s of their time", percent(p.blocked))},
		candidate{limitClientSend, p.sending, sendingMost, fmt.Sprintf("producers were in the client's Send for %s of their time", percent(p.sending))},
	)
}

// ofIOLimit is the share of its limit that the broker wrote, or read. The kernel writes some of it back later, and not on its account, so that more
// than the limit shows that the limit didn't hold it back: that is 0.
func (p bottleneck) ofIOLimit() float64 {
	if p.ioLimit == 0 || p.diskBytes > ioExceeded*p.ioLimit {
		return 0
	}
	return p.diskBytes / p.ioLimit
}

// percent is a share as text: "98 %".
func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*min(1, share)) }

// bottleneckOf gathers what was seen in a trial, whatever the latency that is asked for.
func (b *bench) bottleneckOf(t trial) bottleneck {
	client, _ := b.clientLimit(t)
	generator := b.evidence(t, t.Rate).Generator
	p := bottleneck{
		preparing: t.Preparing, working: t.Working, cores: float64(b.lab.machine.Cores), strain: t.strain,
		goroutine: generator.Busiest, goroutineMost: rule(b.spec).MaxBusyShare,
		blocked: t.Blocked.Seconds() / t.sendingTime(),
	}
	if client.Text != "" {
		p.client = "the client itself: " + client.Text
	}
	if generator.Busiest != "" {
		p.goroutineShare = generator.BusiestShare
	}
	if t.Scheduled {
		p.sending = t.Sending.Seconds() / t.sendingTime()
	}
	if t.Held > 0 {
		p.held, p.heldSeen = t.Held.Seconds()/cmp.Or(t.phaseSeconds(), t.Held.Seconds()), t.heldText().Text
	}
	if s := t.Cost.Shares; s != nil {
		p.inUse, p.users = b.coresInUseHere(t), b.usersHere(t)
		if t.Cost.BrokerKnown {
			p.broker, p.cpuLimit, p.ioLimit = s.Broker, b.cpuLimit(), float64(b.spec.Limits.Broker.IO)*float64(b.spec.Nodes)
		}
	}
	return p
}

// work is what the kernel counts of the broker's threads, and of what all threads of the machine wait for. All of it only grows.
type work struct {
	at      int64             // ns on the clock's axis
	threads provision.Threads // of the broker; none if it isn't metered here
	allowed int               // cores on which they may run; 0: not known
	waits   provision.Waits
	links   [][]time.Duration // of each proxy, as network.Proxy.Busy has it
}

// readPhase reads what readAll does, and the work. It takes up to some milliseconds more, so it is called only when the measured phase
// begins and when it ends.
func (m *metering) readPhase() fullReading {
	r := m.bench.readAll()
	w := work{at: clock.Now(), waits: provision.ReadWaits()}
	if !m.bench.meters.brokerIsHere() { // it uses none of the disks here
		w.waits.IO, w.waits.Disks = 0, nil
	}
	if local := m.bench.meters.local; local != nil {
		pids := local.PIDs()
		w.threads, w.allowed = provision.ThreadsOf(pids), provision.AllowedCores(pids)
	}
	for _, p := range m.bench.broker.proxies {
		w.links = append(w.links, p.Busy())
	}
	r.work = &w
	return r
}

// readDrained reads what is needed after the drain. Of a number of messages the drain may be part of what is measured (busiest).
func (m *metering) readDrained() fullReading {
	if m.counted {
		return m.readPhase()
	}
	return m.bench.readAll()
}

// strain is how hard the broker's threads and the machine were at work for a while. Shares are of the time, 0 to 1; 0 also where nothing is
// known. For example, a thread that ran for 1.8 s of 2 s and then waited 0.1 s for a core has 0.9 and 0.05.
type strain struct {
	thread                  string  // of the broker, the one that ran longest; empty: not known
	threadRan, threadWaited float64 // on a core, and without one
	allowed                 int     // cores that the broker may run on; 0: not known

	disk         string  // the busiest one
	diskWorked   float64 // it had something to do
	diskBytes    float64 // bytes per second that the broker wrote or read, the higher of both
	waitedIO     float64 // threads waited for disks, likewise for memory and for a core
	waitedMemory float64
	waitedCPU    float64

	linkPassed float64 // the busiest connection through a proxy passed bytes at its bandwidth
}

// strainBetween returns the strain between two readings; the zero strain if the work was not read. Disks count only if the broker used one.
func strainBetween(from, to fullReading) strain {
	if from.work == nil || to.work == nil || to.work.at <= from.work.at {
		return strain{}
	}
	before, after := from.work, to.work
	share := func(d time.Duration) float64 { return min(1, d.Seconds()/seconds(before.at, after.at)) }
	s := strain{
		allowed: after.allowed, waitedMemory: share(after.waits.Memory - before.waits.Memory), waitedCPU: share(after.waits.CPU - before.waits.CPU),
	}
	for i, proxy := range after.links {
		for k, busy := range proxy {
			if i < len(before.links) && k < len(before.links[i]) {
				busy -= before.links[i][k]
			}
			s.linkPassed = max(s.linkPassed, share(busy))
		}
	}
	thread, used := after.threads.Hottest(before.threads)
	s.thread, s.threadRan, s.threadWaited = thread, share(used.Ran), share(used.Waited)
	written, knownWritten := grown(from.broker.DiskWriteBytes, to.broker.DiskWriteBytes)
	read, knownRead := grown(from.broker.DiskReadBytes, to.broker.DiskReadBytes)
	if !knownWritten || !knownRead || written+read > 0 {
		disk, worked := after.waits.Busiest(before.waits)
		s.diskBytes = float64(max(written, read)) / seconds(before.at, after.at)
		s.disk, s.diskWorked, s.waitedIO = disk, share(worked), share(after.waits.IO-before.waits.IO)
	}
	return s
}
