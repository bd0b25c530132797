package worker

import (
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
)

// What crosses between a worker and consumers in another process, as lines of JSON: orders one way, each of which is
// answered before the next one comes, and reports the other way. Both processes read the same clock.

// order is one of these verbs with what belongs to it.
type order struct {
	Do      string
	Prepare *away         `json:",omitempty"`
	Within  time.Duration `json:",omitempty"` // to start
	Trial   *trialAway    `json:",omitempty"` // to listen to
	Phase   *phaseAway    `json:",omitempty"` // to measure
}

const (
	doPrepare = "prepare"
	doStart   = "start"   // connect the consumers
	doListen  = "listen"  // to a trial
	doMeasure = "measure" // its measured phase is decided
	doCollect = "collect" // report all ledgers
	doEnd     = "end"     // the trial has ended
	doClose   = "close"   // end the consumers
)

// away is what stays the same over the trials of a point.
type away struct {
	Audience                 audience
	Producers, Subscriptions int
	Keys                     Keys
	KeyOrdered               bool
}

// trialAway is what consumers have to know of a trial.
type trialAway struct {
	Bases []uint64 // of every producer: the number of its first message
	Procs int
	Phase phaseAway
}

// phaseAway is the measured phase, ns on the clock's axis.
type phaseAway struct{ From, Until int64 }

// report tells what is new, and where To says so answers an order.
type report struct {
	To         string                 `json:",omitempty"`
	Err        string                 `json:",omitempty"` // why the order could not be carried out
	Refused    *driver.ErrUnsupported `json:",omitempty"` // or the driver's refusal
	Broken     string                 `json:",omitempty"` // why a consumer ended by itself
	Probed     []int                  `json:",omitempty"` // newly seen
	Receipts   *measure.Receipts      `json:",omitempty"` // of the trial so far
	Span       *span                  `json:",omitempty"` // when they came
	Accounts   []measure.Account      `json:",omitempty"`
	Registered *registered            `json:",omitempty"`
	Heard      *heard                 `json:",omitempty"`
}

// How often consumers elsewhere report what they have counted, and one of how many times with all latencies.
const (
	reportEvery    = 10 * time.Millisecond
	latenciesEvery = 25
)
