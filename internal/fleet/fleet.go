// Package fleet runs the worker of a point in agents: processes on this or other machines that connect to a control server and get
// plans and loads through it. It knows nothing of specs and records, and no measured message passes through it.
package fleet

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// Agents are a service of nats.go/micro with these endpoints.
const (
	service        = "brokermark-agent"
	serviceVersion = "1.0.0" // of the protocol
	claimEnd       = "claim" // takes the agent for a run
	clockEnd       = "clock" // compares its clock with the coordinator's
	meterEnd       = "meter" // says which addresses its metered processes serve
)

const (
	// beatEvery is the interval of the messages that coordinator and agent send each other. While a load is measured they send
	// nothing else.
	beatEvery = 500 * time.Millisecond
	// lostAfter is the silence after which either side gives the other one up. TCP takes up to 3 s to repeat what was lost in a network
	// outage of 2 s, and agents have to be clean 5 s after their coordinator died.
	lostAfter = 4 * time.Second
	// sendAgain is how long an order or an answer may be under way before it is sent once more.
	sendAgain = time.Second
	// cleanWithin bounds how long an agent takes to end its clients.
	cleanWithin = 30 * time.Second
)

// Info identifies an agent. It doesn't change while the agent runs.
type Info struct {
	ID      string // of the process
	Name    string // --name, or the host's name
	Host    string
	OS      string
	Cores   int
	Version int    // of the messages, agent.Version
	Build   string // of the program
	Machine string // the same for all processes of a machine, until it is booted again
	Clock   string // the same for all processes that read the same clock
	PIDs    string // the same for all processes that know each other by their numbers
	PID     int
	Meters  string `json:",omitempty"` // the broker's processes that it meters; "": it runs loads
}

// Self describes this process. If name is empty, it is the host's.
func Self(name, build string) Info {
	host, _ := os.Hostname()
	i := Info{
		Name: cmp.Or(name, host), Host: host, OS: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(), PID: os.Getpid(),
		Version: agent.Version, Build: build,
	}
	i.Machine, i.Clock, i.PIDs = machine(host)
	return i
}

// String returns the agent's name as people read it.
func (i Info) String() string {
	if i.Name == i.Host {
		return fmt.Sprintf("%s (pid %d)", i.Host, i.PID)
	}
	return fmt.Sprintf("%s on %s (pid %d)", i.Name, i.Host, i.PID)
}

// fits returns a clause that says why agent i can't work for the program me, or "" if it can.
func (i Info) fits(me Info) string {
	if i.Build == me.Build && i.Version == me.Version {
		return ""
	}
	return fmt.Sprintf("it is brokermark %s (protocol %d), and this is %s (protocol %d): both sides have to be the same build", i.Build, i.Version, me.Build, me.Version)
}

// Status is an agent's answer to List.
type Status struct {
	Info Info
	Busy string  // the coordinator that it works for, or ""
	Load float64 // load average of its machine over the last minute, or -1 if it is unknown
}

// claim asks an agent to work for a run.
type claim struct {
	Session string
	By      Info
}

// claimed is the answer. Refused is the reason why the agent can't, or "".
type claimed struct{ Refused string }

// clockQuestion asks an agent to compare its clock with the coordinator's: with the clock server at Host and Port, or, if Port is 0, only for
// the time on its clock.
type clockQuestion struct {
	Host  string // "": the control server's, as the agent reaches it
	Port  int
	Token string
}

// clockReply is the answer: the offset of the coordinator's clock on the agent's, or why it is unknown.
type clockReply struct {
	Offset clock.Offset
	Why    string `json:",omitempty"`
	Now    int64
}

// down is a message to an agent. A beat is one without fields.
type down struct {
	Order  *order  `json:",omitempty"`
	Again  int     `json:",omitempty"` // number of the order whose answer is to be sent once more
	Cancel int     `json:",omitempty"` // number of the order that is to end early
	Halt   int     `json:",omitempty"` // number of the order whose load is hopeless: its measured phase ends
	Leave  bool    `json:",omitempty"` // the agent is free
	Others *shared `json:",omitempty"` // state of the other agents that share streams with it
	Cue    *cue    `json:",omitempty"` // repeated until the end of the load
}

// cue tells the agents of a load that all of them may go on. Only the coordinator can know it.
type cue struct {
	N       int   // number of the order
	Measure int64 `json:",omitempty"` // when the measured phase begins, on the agent's clock; 0: not decided yet
	Drain   bool  `json:",omitempty"` // every agent has filled its backlog
}

// order is one step of a point. Orders are numbered from 1, and each is answered before the next one is sent.
type order struct {
	N        int
	Do       string      // doPrepare, doRun or doClose
	Plan     *agent.Plan `json:",omitempty"`
	Load     *agent.Load `json:",omitempty"`
	Haltable bool        `json:",omitempty"` // the load may be halted
	Others   bool        `json:",omitempty"` // other agents run parts of the load: the agent waits for their cue before it drains a backlog
}

const (
	doPrepare = "prepare"
	doRun     = "run"
	doClose   = "close"
)

// up is a message from an agent: a beat, with an answer if an order has just been carried out.
type up struct {
	Got, Done int             // numbers of the last order received and of the last one carried out
	Bare      bool            `json:",omitempty"` // the clients that were prepared are gone: the agent was restarted, or the coordinator was silent
	Used      provision.Usage // by the agent's process so far
	Samples   []worker.Sample `json:",omitempty"` // of the trial under way, since the last beat
	Measuring int64           `json:",omitempty"` // when the measured phase begins, on the agent's clock
	Sent      bool            `json:",omitempty"` // all messages of the trial have been sent
	Filled    bool            `json:",omitempty"` // its backlog is filled
	Own       *shared         `json:",omitempty"` // its own state of shared streams
	Answer    *answer         `json:",omitempty"`
	Metered   []agent.Metered `json:",omitempty"` // of the broker's processes, since the last beat
}

// answer is the result of an order.
type answer struct {
	N        int
	Fault    *agent.Fault    `json:",omitempty"`
	Prepared *agent.Prepared `json:",omitempty"`
	Outcome  *agent.Outcome  `json:",omitempty"`
	Meters   *meters         `json:",omitempty"`
	Woke     int64           `json:",omitempty"` // when the agent woke for the start of the load, on its clock
	Bend     int64           `json:",omitempty"` // by how many ns its clock's rate changes moved it during the load
}

// meters are the readings of an agent's own process at the bounds of the measured phase and after the drain. A reading is zero if the
// trial ended before.
type meters struct{ Begin, Until, End agent.Reading }

// LoadAverage returns how many threads of this machine wanted to run, over the last minute, or -1 if the system doesn't say.
func LoadAverage() float64 {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return -1
	}
	load, err := fs.LoadAvg()
	if err != nil {
		return -1
	}
	return load.Load1
}

// machine identifies this machine since its last boot, and on it the clock that this process reads and the processes that it
// knows by their numbers: namespaces of Linux may have others. Other systems are identified by the host's name.
func machine(host string) (boot, clock, pids string) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return host, host, host
	}
	boot = strings.TrimSpace(string(id))
	of := func(namespace string) string {
		link, _ := os.Readlink("/proc/self/ns/" + namespace)
		return boot + " " + link
	}
	return boot, of("time"), of("pid")
}
