package worker

import (
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
)

// This file defines the messages between a worker and consumers in another process of the same host: lines of JSON over one
// connection. The worker sends orders, each after the answer to the one before. The consumers send reports: the answers, and
// every reportEvery what is new. Both processes read the same clock.
//
//	worker                 consumers
//	prepare, start    →
//	                  ←    To: start, Registered
//	listen            →
//	                  ←    Receipts, Receipts, …    (every 10 ms while the trial runs)
//	end               →
//	                  ←    To: end, Stats, Accounts

// order tells the consumers to do one thing. For example,
//
//	{"Do":"measure","Phase":{"From":5000000000,"Until":15000000000}}
//
// says that the measured phase begins at 5 s and ends at 15 s.
type order struct {
	Do      string
	Prepare *preparation  `json:",omitempty"` // of doPrepare
	Lagging bool          `json:",omitempty"` // of doStart: which consumers
	Within  time.Duration `json:",omitempty"` // of doStart: how long connecting may take
	Trial   *trialStart   `json:",omitempty"` // of doListen
	Phase   *phaseTimes   `json:",omitempty"` // of doMeasure
}

// The verbs, in the order in which they come. doListen to doEnd are repeated for each trial.
const (
	doPrepare = "prepare" // make the consumers
	doStart   = "start"   // connect those that lag, or those that don't, to the broker
	doListen  = "listen"  // book deliveries in a new trial
	doMeasure = "measure" // the measured phase has been decided, if doListen left it open
	doCollect = "collect" // report the ledgers of the trial
	doEnd     = "end"     // end the trial and report all of it
	doClose   = "close"   // end the consumers
)

// preparation is what stays the same over all trials.
type preparation struct {
	Consumers                consumerSetup
	Producers, Subscriptions int
	Keys                     Keys
	KeyOrdered               bool
}

// trialStart is what consumers need to know about a new trial.
type trialStart struct {
	Bases []uint64 // by ID of a producer: the sequence number of its first message in the trial
	Procs int      // how many threads may run Go code at once; 0: no limit
	Heap  int      // as Plan has it
	Phase phaseTimes
}

// report tells the worker what is new. If To is set, it is the answer to the order with that verb.
type report struct {
	To         string                 `json:",omitempty"`
	Err        string                 `json:",omitempty"` // why the order could not be carried out
	Refused    *driver.ErrUnsupported `json:",omitempty"` // the driver's refusal, in place of Err
	Broken     string                 `json:",omitempty"` // why a consumer has ended by itself
	Probed     []int                  `json:",omitempty"` // indices in Probes.seen of probes that came since the last report
	Receipts   *measure.Receipts      `json:",omitempty"` // the trial's receipts so far
	Span       *span                  `json:",omitempty"` // when the first and the last of them came
	Accounts   []measure.Account      `json:",omitempty"` // the trial's ledgers; answers doCollect and doEnd
	Registered *registration          `json:",omitempty"` // answers doStart
	Stats      *consumerStats         `json:",omitempty"` // answers doEnd
}

const (
	reportEvery    = 10 * time.Millisecond // half the time between two samples of the worker
	latenciesEvery = 25                    // reports; histograms are large, so they come only four times a second
)
