// Package fleet runs the worker of a point in agents: processes on this or other machines that dial out to a control server and
// are told plans and loads through it. It knows nothing of specs and records; what a message touches never passes through it.
package fleet

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// service is the agents' name at the control server, and claimEnd the endpoint by which one is taken for a run. Its version is
// that of the protocol.
const (
	service        = "brokermark-agent"
	serviceVersion = "1.0.0"
	claimEnd       = "claim"
	clockEnd       = "clock"
	meterEnd       = "meter"
)

// Beats go both ways twice a second, and nothing else does while a load is measured. Who isn't heard for lostAfter is given up:
// longer than a network that is away for two seconds takes to send again what it lost, and short enough for agents to have
// cleaned up five seconds after their coordinator died.
const (
	beatEvery = 500 * time.Millisecond
	lostAfter = 4 * time.Second
	// sendAgain is how long an order or an answer may be under way before it is sent once more.
	sendAgain = time.Second
	// cleanWithin bounds what an agent that was given up, or told to leave, takes to end its clients.
	cleanWithin = 30 * time.Second
)

// Info says who an agent is. It doesn't change while the agent runs.
type Info struct {
	ID      string // of the process
	Name    string // as it was told, or its host's
	Host    string
	OS      string
	Cores   int
	Version int    // of what crosses
	Build   string // of the program
	Machine string // the same for all processes of a machine, until it is booted again
	Clock   string // the same for all processes that read the same clock
	PIDs    string // the same for all processes that know each other by their numbers
	PID     int
	Meters  string `json:",omitempty"` // the broker's processes that it meters; "": it runs loads
}

// Self is this process as an agent.
func Self(name, build string) Info {
	i := Info{
		Name: name, OS: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(), Version: agent.Version, Build: build, PID: os.Getpid(),
	}
	i.Host, _ = os.Hostname()
	if i.Name == "" {
		i.Name = i.Host
	}
	i.Machine, i.Clock, i.PIDs = machine(i.Host)
	return i
}

// String names the agent for people.
func (i Info) String() string {
	if i.Name == i.Host {
		return fmt.Sprintf("%s (pid %d)", i.Host, i.PID)
	}
	return fmt.Sprintf("%s on %s (pid %d)", i.Name, i.Host, i.PID)
}

// fits says, as a clause, why agent i can't work for the program me; "" where it can.
func (i Info) fits(me Info) string {
	if i.Build == me.Build && i.Version == me.Version {
		return ""
	}
	return fmt.Sprintf("it is brokermark %s (protocol %d), and this is %s (protocol %d): both sides have to be the same build", i.Build, i.Version, me.Build, me.Version)
}

// Status is how an agent is doing.
type Status struct {
	Info Info
	Busy string  // for whom it works; "": nobody
	Load float64 // of its machine over the last minute; below 0: not known
}

// claim asks an agent to work for a run.
type claim struct {
	Session string
	By      Info
}

// claimed is its answer.
type claimed struct{ Refused string }

// look asks an agent where its clock is: by exchanges with the coordinator's Answerer at Host and Port, or where Port is 0 just for the time.
type look struct {
	Host  string // "": that of the control server, as the agent reaches it
	Port  int
	Token string
}

// looked is its answer: where the coordinator's clock is on the agent's, or why that isn't known.
type looked struct {
	Offset clock.Offset
	Why    string `json:",omitempty"`
	Now    int64
}

// down is what goes to an agent. All of it but an Order is small.
type down struct {
	Order  *order  `json:",omitempty"`
	Again  int     `json:",omitempty"` // send the answer to this order once more
	Cancel int     `json:",omitempty"` // end this order early
	Halt   int     `json:",omitempty"` // the load of this order is hopeless: end its measured phase
	Leave  bool    `json:",omitempty"` // the run is over
	Others *shared `json:",omitempty"` // what the other agents know of streams that it shares with them
	Cue    *cue    `json:",omitempty"` // what all agents do at once in the load under way; said again until its end
}

// cue tells an agent what all of them wait for, each of which only the coordinator knows.
type cue struct {
	N       int   // the order
	Measure int64 `json:",omitempty"` // when the measured phase begins, on the agent's clock; 0: that is not decided yet
	Drain   bool  `json:",omitempty"` // the backlog is filled everywhere
}

// order is one of these verbs with what belongs to it. Orders are numbered from 1; each is answered before the next one is sent.
type order struct {
	N    int
	Do   string
	Plan *agent.Plan `json:",omitempty"`
	Load *agent.Load `json:",omitempty"`
	// May the load be halted?
	Haltable bool `json:",omitempty"`
	// Do others run parts of the load, so that a backlog is drained on cue?
	Others bool `json:",omitempty"`
}

const (
	doPrepare = "prepare"
	doRun     = "run"
	doClose   = "close"
)

// up is what comes from an agent: a beat, with an answer where there is one.
type up struct {
	Got, Done int             // the last orders that it was given, and that it has carried out
	Bare      bool            `json:",omitempty"` // the clients of the point have ended, with the process or since nobody was heard
	Used      provision.Usage // by its process so far
	Samples   []worker.Sample `json:",omitempty"` // of the trial under way, since the beat before
	Measuring int64           `json:",omitempty"` // when the measured phase begins, on its clock
	Sent      bool            `json:",omitempty"` // all messages of the trial have been sent
	Filled    bool            `json:",omitempty"` // its backlog is filled
	Own       *shared         `json:",omitempty"` // what it knows of streams that it shares
	Answer    *answer         `json:",omitempty"`
	Metered   []agent.Metered `json:",omitempty"` // of the broker's processes, since the beat before
}

// answer is what became of an order.
type answer struct {
	N        int
	Fault    *agent.Fault      `json:",omitempty"`
	Prepared *agent.Prepared   `json:",omitempty"`
	Outcome  *agent.Outcome    `json:",omitempty"`
	Meters   *meters           `json:",omitempty"`
	Woke     int64             `json:",omitempty"` // when it passed the start of the load, on its clock
	Bend     int64             `json:",omitempty"` // by how much its clock strayed from a straight line meanwhile, ns
	Clock    *clock.Discipline `json:",omitempty"` // what keeps its host's time of day
}

// meters are the readings of an agent's own process around the measured phase and after the drain; the zero reading: it never came
// that far.
type meters struct{ Begin, Until, End agent.Reading }

// now is the time on the clock of this process's host.
func now() int64 { return clock.Now() }
