package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
)

// work is what the kernel counts of the broker's threads, and of what all threads of the machine wait for. All of it only grows.
type work struct {
	at      int64             // ns on the clock's axis
	threads provision.Threads // of the broker; none if it isn't metered here
	allowed int               // cores on which they may run; 0: not known
	waits   provision.Waits
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
	waitedIO     float64 // threads waited for disks, likewise for memory and for a core
	waitedMemory float64
	waitedCPU    float64
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
	thread, used := after.threads.Hottest(before.threads)
	s.thread, s.threadRan, s.threadWaited = thread, share(used.Ran), share(used.Waited)
	written, knownWritten := grown(from.broker.DiskWriteBytes, to.broker.DiskWriteBytes)
	read, knownRead := grown(from.broker.DiskReadBytes, to.broker.DiskReadBytes)
	if !knownWritten || !knownRead || written+read > 0 {
		disk, worked := after.waits.Busiest(before.waits)
		s.disk, s.diskWorked, s.waitedIO = disk, share(worked), share(after.waits.IO-before.waits.IO)
	}
	return s
}
