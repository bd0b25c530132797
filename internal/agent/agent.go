// Package agent runs the producers and consumers of a point (one broker with one complete set of settings) behind three calls:
// prepare, run a trial (one timed stretch of load), close. An Agent works in this process (Local), or stands for agents in other
// processes, here and on other machines (package fleet). What these calls exchange is plain data (Plan, Load, Outcome), so that it
// can be sent to another process as JSON.
//
//	var a agent.Local
//	_, err := a.Prepare(ctx, plan)      // connects to the broker and probes every route
//	outcome, _ := a.Run(ctx, load)      // one trial; may be repeated
//	err = a.Close()
package agent

import (
	"context"
	"crypto/tls"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// Agent runs the trials of a point, or its share of them. Its methods must not be called at the same time.
type Agent interface {
	// Prepare connects to the broker and, unless the consumers come later, probes every route. It blocks. After an error there is
	// nothing to close.
	Prepare(ctx context.Context, p Plan) (Prepared, error)
	// Run runs one trial and blocks until it has ended; see worker.Worker.Run. The hooks of the load are called in this process. There
	// is a Part for each agent in another process; none if the trial ran in this one.
	Run(ctx context.Context, l worker.Load) (worker.Outcome, []Part)
	// Used returns the resource use of the agents' processes so far, as they last reported it.
	Used() provision.Usage
	// Close ends everything that Prepare made, in bounded time.
	Close() error
}

// Crew is implemented by an Agent that stands for several agents in other processes.
type Crew interface {
	// Each returns what each agent's process has used so far, as it last reported it.
	Each() []UsedBy
}

// UsedBy is the resource use of one agent's process.
type UsedBy struct {
	Name string
	Used provision.Usage
}

// Grower is implemented by an Agent that stands for several agents and can take on more of them.
type Grower interface {
	// Grow adds agents, up to most altogether, for whatever is prepared from now on. why is reported to the user. It returns the number
	// of agents, and whether there are more of them than before.
	Grow(ctx context.Context, most int, why string) (agents int, grown bool)
}

// Plan is the plan that an agent prepares.
type Plan struct {
	Broker link.Broker // its topology is not used: Worker has one
	// Outlives says that the broker goes on running after Close: this run did not start it, or
	// other points share it. Topics that can't be removed from it are then an error.
	Outlives  bool
	Worker    worker.Plan   // the producers and consumers, and the topics that they use
	Place     Place         // divides Worker among several agents
	Consumers *ConsumerHost // where the consumers of Worker run; nil: in the agent's own process
}

// Place says which agents have the producers and the consumers of a topic. By default one agent has both. With Producers "left"
// and Consumers "right", every message goes from one host to the other.
type Place struct {
	Spread               bool     // over all agents, in turn
	Producers, Consumers []string // names of the agents that have them, in turn
}

// SplitsTopics reports whether the producers and consumers of a topic may be on different agents.
func (p Place) SplitsTopics() bool { return p.Spread || len(p.Producers)+len(p.Consumers) > 0 }

// Prepared is what an agent reports once it has connected.
type Prepared struct {
	TLS string // version and cipher suite, as negotiated with the broker; "" without TLS
}

// Part is what one agent in another process did in a trial.
type Part struct {
	Name, Host    string
	Cores         int    // of its machine
	Machine       string // the same for all agents on one machine
	OnThisMachine bool   // that machine is this one
	PID           int    // of its process; 0 if that is on another machine
	Consumers     int    // that it ran
	// Outcome is on the clock of this process. It is empty if the agent was lost.
	Outcome worker.Outcome
	// Begin and Until were read when the measured phase began and ended, End after the drain. A Reading is zero if the trial ended
	// before.
	Begin, Until, End Reading
	// Offset is by how much the agent's clock is ahead of this process's, give or take Bound, ns. Both are 0 if the two read the same
	// clock.
	Offset, Bound int64
	// StartedLate is how long after the common start the agent woke, ns on its own clock.
	StartedLate int64
}

// PhaseReadings returns the readings when the measured phase began and ended. If the trial ended before, End takes their place.
func (p Part) PhaseReadings() (begin, until Reading) {
	begin, until = p.Begin, p.Until
	if begin.At == 0 {
		begin = p.End
	}
	if until.At <= begin.At {
		until = p.End
	}
	return begin, until
}

// Reading is the resource use of an agent's process at a time.
type Reading struct {
	At     int64 // ns on the agent's clock
	Used   provision.Usage
	GC     time.Duration // the garbage collector's pauses, summed
	Queued time.Duration // how long threads waited for a core, summed
}

// ErrLost means that an agent in another process has ended or can't be reached any more.
type ErrLost struct{ Agent, Why string }

func (e *ErrLost) Error() string { return "agent " + e.Agent + " was lost: " + e.Why }

// ErrClock means that an agent's clock could not be related to the others', so latencies between them are unknown.
type ErrClock struct{ Agent, Why string }

func (e *ErrClock) Error() string { return "the clock of agent " + e.Agent + ": " + e.Why }

// ErrConnect means that the broker could not be reached at all. Why is not nil.
type ErrConnect struct{ Why error }

func (e *ErrConnect) Error() string { return e.Why.Error() }
func (e *ErrConnect) Unwrap() error { return e.Why }

// TLS keeps the result of the latest TLS handshake with the broker. It may be used by several goroutines.
type TLS struct{ negotiated atomic.Pointer[string] }

// Watch notes the result of every handshake under c from now on; c may be nil.
func (t *TLS) Watch(c *tls.Config) {
	if c == nil {
		return
	}
	c.VerifyConnection = func(s tls.ConnectionState) error {
		t.Note(tls.VersionName(s.Version) + ", " + tls.CipherSuiteName(s.CipherSuite))
		return nil
	}
}

// Note sets what another process negotiated; "" changes nothing.
func (t *TLS) Note(negotiated string) {
	if negotiated != "" {
		t.negotiated.Store(&negotiated)
	}
}

// String returns version and cipher suite, such as "TLS 1.3, TLS_AES_128_GCM_SHA256"; "" if there was no handshake.
func (t *TLS) String() string {
	if text := t.negotiated.Load(); text != nil {
		return *text
	}
	return ""
}

// Meter is an agent on a broker's host that meters the broker's processes there: it reads again and again what they have used in
// total. What they used in a trial is the difference of two readings: 3 s of CPU time at its end less 2 s at its beginning is 1 s.
type Meter interface {
	Facts() MeterFacts
	// Begin relates the agent's clock to this process's. It must be called before each load: At depends on it.
	Begin(ctx context.Context) error
	// Latest returns the usage of a moment ago; how long that moment is, the agent's reports decide.
	Latest() Metered
	// At returns the usage at rising times on this process's clock. It waits until the agent has reported that much. It fails if the
	// agent is lost or if one of the processes has ended.
	At(ctx context.Context, times ...int64) ([]Metered, error)
}

// MeterFacts describes a Meter.
type MeterFacts struct {
	Name, Host string
	Processes  string   // as the agent names them
	Serves     []string // those of the broker's addresses on which these processes listen
	Here       bool     // the agent's machine is this one
	// Offset is by how much the agent's clock was ahead of this process's before the load, ns; exact to ±Bound.
	Offset, Bound int64
}

// Metered is what processes have used from their start to a time.
type Metered struct {
	At      int64 // ns on the clock of the process that read it
	Used    provision.Usage
	Flushes int64 // calls that flush files to disk (fsync and the like), or NotCounted
	Gaps    int64 // how often the kernel lost some of these calls
	PIDs    []int `json:",omitempty"`
	Gone    bool  `json:",omitempty"` // a process has ended, and none has taken its place
}

// NotCounted stands in Metered.Flushes, and in counts of provision.Disk, where the system doesn't count.
const NotCounted = -1

// Between estimates the usage at a time between two readings, as if CPU time, disk traffic and flushes had grown evenly. Everything else
// is that of the later reading. For example, 100 ms of CPU time at second 1 and 200 ms at second 2 make 125 ms at second 1.25. At a
// time before or after both readings, they are those of the nearer one. Flushes are not counted if the kernel lost some in between:
// they may have been before or after that time.
func Between(earlier, later Metered, at int64) Metered {
	m := later
	m.At = at
	if later.At <= earlier.At || at >= later.At {
		return m
	}
	share := max(0, float64(at-earlier.At)/float64(later.At-earlier.At))
	m.Used.User = interpolate(earlier.Used.User, later.Used.User, share)
	m.Used.System = interpolate(earlier.Used.System, later.Used.System, share)
	m.Used.DiskReadBytes = interpolateCounts(earlier.Used.DiskReadBytes, later.Used.DiskReadBytes, share)
	m.Used.DiskWriteBytes = interpolateCounts(earlier.Used.DiskWriteBytes, later.Used.DiskWriteBytes, share)
	m.Flushes = interpolateCounts(earlier.Flushes, later.Flushes, share)
	if earlier.Gaps != later.Gaps {
		m.Flushes = NotCounted
	}
	return m
}

// interpolate returns the value at a share, from 0 to 1, of the way from a to b.
func interpolate[T ~int64](a, b T, share float64) T { return a + T(float64(b-a)*share) }

// interpolateCounts is like interpolate, for two counts of which either may be NotCounted.
func interpolateCounts(a, b int64, share float64) int64 {
	if a < 0 || b < 0 {
		return NotCounted
	}
	return interpolate(a, b, share)
}
