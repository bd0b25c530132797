// Package watch shows a run in progress: as a View for the terminal, as a live web page, and as Prometheus metrics. It
// learns of the run from the lab's events only, ten samples a second, and never asks the lab for anything, so watching
// does not disturb the measurement.
//
//	var follower watch.Follower
//	lab.Watch = follower.Event // the lab reports its progress
//	server, err := watch.Serve("127.0.0.1:8080", "", watch.Page(&follower))
//	if err != nil {
//		return err
//	}
//	defer server.Close()
//	fmt.Println("the run can be watched at", server.URL)
//	fmt.Println(follower.View(time.Now()).Stage) // such as "starting kafka"
package watch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
)

// View is the state of a run at one moment. A run is a list of repetitions; a repetition goes through stages, such as
// starting the broker, and load runs in some of them.
type View struct {
	Done  int `json:"done"` // repetitions finished
	Total int `json:"total"`

	Title  string `json:"title"`   // of the repetition under way; empty between two of them
	LeftNs int64  `json:"left_ns"` // estimate for all repetitions still to do; always 0 without a Title

	Stage   string `json:"stage"`    // "starting kafka", "short trial"; empty between two repetitions
	StageNs int64  `json:"stage_ns"` // since the stage began

	Now     *Tick  `json:"now"`      // nil while no load runs
	Phase   string `json:"phase"`    // of the load: warm-up, measuring or draining; empty without Now
	QuietNs int64  `json:"quiet_ns"` // since the last sample of the load; 0 without Now
}

// Tick is the load over the last second. Rates are messages per second, latencies are end to end.
type Tick struct {
	AtNs         int64   `json:"at_ns"`  // since the stage began
	Target       float64 `json:"target"` // the rate that the schedule asks for; 0 without a schedule
	Sent         float64 `json:"sent"`
	Received     float64 `json:"received"`
	Backlog      int64   `json:"backlog"`          // messages
	P50Ns        int64   `json:"p50_ns"`           // 0 if nothing arrived, and always with ClosedLoop
	P99Ns        int64   `json:"p99_ns"`           // as P50Ns
	ClosedLoop   bool    `json:"closed_loop"`      // sends as fast as it can, so its latency only says how full the window is
	BrokerCPU    float64 `json:"broker_cpu"`       // cores; 0 if the broker is not ours to meter
	GeneratorCPU float64 `json:"generator_cpu"`    // cores
	Agents       []Agent `json:"agents,omitempty"` // empty if the load runs in the process that was started
}

// Agent is a process, here or on another machine, on which load runs.
type Agent struct {
	Name  string  `json:"name"`
	Cores float64 `json:"cores"` // in use
}

// Ending is a repetition that has ended.
type Ending struct {
	Number int          `json:"number"` // in the run, from 1
	Point  string       `json:"point"`
	Title  string       `json:"title"` // see the function Title
	Status store.Status `json:"status"`
	Stored bool         `json:"stored"` // the repetition was not run: the store had it already
	TookNs int64        `json:"took_ns"`
	Outcome
}

// Outcome is the result of a repetition in short.
type Outcome struct {
	Text  string `json:"text"`   // the figure that was asked for, or the reason why there is none
	P99Ns int64  `json:"p99_ns"` // end to end; 0 if there is none to show
	// P99AtLeast says that the p99 is a lower bound, because messages never came.
	P99AtLeast bool     `json:"p99_at_least"`
	Doubts     []string `json:"doubts,omitempty"` // classes of doubts that may touch its figures
}

// pointName returns the label of an event's point, after the broker unless a word of the label names it: "kafka
// messageSize=100", but "kafka@4.1 tuned" and not "kafka kafka@4.1 tuned".
func pointName(e lab.Event) string {
	label, broker := e.Run.Point.Label, e.Run.Point.Spec.Broker
	namesBroker := func(word string) bool { return word == broker || strings.HasPrefix(word, broker+"@") }
	if slices.ContainsFunc(strings.Fields(label), namesBroker) {
		return label
	}
	return strings.TrimSpace(broker + " " + label)
}

// Title names the repetition of an event: "kafka messageSize=100 #2", and the first one "kafka messageSize=100".
func Title(e lab.Event) string {
	if e.Run.Repetition > 1 {
		return pointName(e) + " #" + strconv.Itoa(e.Run.Repetition)
	}
	return pointName(e)
}
