// Package watch shows a run in progress: as a View for the terminal, as a live web page, and as Prometheus metrics. It learns of the
// run from the lab's events only, ten samples a second, and never asks the lab for anything, so watching does not disturb the
// measurement.
//
//	var f watch.Follower
//	server, err := watch.Serve("127.0.0.1:8080", "", &f, nil) // a browser shows the run at server.URL
//	lab.Watch = f.Event                                      // the lab reports its progress
//	view := f.View(time.Now())                               // what a terminal draws now
package watch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/lab"
)

// View is the state of a run at one moment. A run is a list of repetitions; a repetition goes through stages, such as starting the
// broker, and load runs in some of them. Durations are nanoseconds.
type View struct {
	Done     int    `json:"done"` // repetitions finished
	Total    int    `json:"total"`
	Title    string `json:"title"` // of the repetition under way; empty between two of them
	Stage    string `json:"stage"` // "starting kafka", "short trial"; empty between two repetitions
	StageNs  int64  `json:"stage_ns"`
	Phase    string `json:"phase"`    // warm-up, measuring or draining; empty while no load runs
	LeftNs   int64  `json:"left_ns"`  // estimate for all that is still to do; 0 between two repetitions, when there is none
	Now      *Tick  `json:"now"`      // nil while no load runs
	QuietNs  int64  `json:"quiet_ns"` // since the last sample of the load that runs
	Finished bool   `json:"finished"`

	event lab.Event // the last one, which names the repetition under way
}

// Tick is the load over the last second. Rates are messages per second, latencies are end to end.
type Tick struct {
	AtNs         int64   `json:"at_ns"`  // since the stage began
	Target       float64 `json:"target"` // 0 in a closed loop, which sends as fast as it can
	Sent         float64 `json:"sent"`
	Received     float64 `json:"received"`
	Backlog      int64   `json:"backlog"` // messages
	P50          int64   `json:"p50_ns"`  // 0 if nothing arrived, and in a closed loop, where latency only says how full the window is
	P99          int64   `json:"p99_ns"`
	Closed       bool    `json:"closed_loop"`
	BrokerCPU    float64 `json:"broker_cpu"` // cores; 0 if the broker is not ours to meter
	GeneratorCPU float64 `json:"generator_cpu"`
	Agents       []Agent `json:"agents,omitempty"` // empty if the load runs in the process that was started
}

// Agent is a process, here or on another machine, on which load runs.
type Agent struct {
	Name  string  `json:"name"`
	Cores float64 `json:"cores"` // in use
}

// Ending is a repetition that has ended.
type Ending struct {
	Number int    `json:"number"` // in the run, from 1
	Point  string `json:"point"`
	Title  string `json:"title"` // names the point and the repetition
	Status string `json:"status"`
	Stored bool   `json:"stored"` // by an earlier run
	TookNs int64  `json:"took_ns"`
	Outcome
}

// Outcome is the result of a repetition in short.
type Outcome struct {
	Text   string `json:"text"`   // the figure that was asked for, or the reason why there is none
	P99    int64  `json:"p99_ns"` // end to end; 0 if there is none to show
	Doubts int    `json:"doubts"` // kinds of doubts
}

// pointName names the point of an event. It contains the broker.
func pointName(e lab.Event) string {
	label, broker := e.Run.Point.Label, e.Run.Point.Spec.Broker
	namesBroker := func(word string) bool { return word == broker || strings.HasPrefix(word, broker+"@") }
	if slices.ContainsFunc(strings.Fields(label), namesBroker) {
		return label
	}
	return strings.TrimSpace(broker + " " + label)
}

// Title names the repetition of an event: "kafka messageSize=100 #2".
func Title(e lab.Event) string {
	if e.Run.Repetition > 1 {
		return pointName(e) + " #" + strconv.Itoa(e.Run.Repetition)
	}
	return pointName(e)
}
