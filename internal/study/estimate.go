package study

import (
	"cmp"
	"strings"

	"github.com/brokermark/brokermark/internal/usual"
)

// Assumptions about a broker that was not measured yet, for estimates of time only.
const (
	guessedRate  = 50_000.0 // messages per second
	guessedBytes = 100e6    // bytes per second
	guessedAlone = 0.001    // seconds for a message when no other is under way
	guessedStart = 5.0      // seconds until a server is ready
	settling     = 1.0      // seconds to drain and clean up after a phase of load
	between      = 0.25     // of these, between two loads of one repetition
	floodedMost  = 10.0     // factor of the time that a broker needs for the messages that many connections deliver without back-pressure
	buffered     = 10e6     // bytes that a connection's buffers take, in client and kernel
	usualTrials  = 5        // number of short trials of a search
	usualLong    = 2        // number of long ones beside the confirmations: at rates that turn out too low, or slightly too high
	probing      = 3.0      // seconds until a search has a rate to begin at
	together     = 0.75     // for each further server, started concurrently: the part of a single server's start
	// guessedRequests is a pipeline's requests per second on a small machine.
	guessedRequests = 4000.0
	guessedServer   = 80e-6 // seconds of a core that a pipeline's server needs for a request
	guessedAnswer   = 0.005 // seconds until a request is answered without network delay
	// A closed loop of a pipeline begins with this many threads, for this share of its requests, up to a number of them (load.TwoPhases).
	firstThreads, firstShare, firstMost = 32, 0.16, 32_000
)

// StartSeconds is an estimate of how long the point's broker takes to start and to stop.
func StartSeconds(s Spec) float64 {
	one := cmp.Or(usual.Of(s.Broker).Speed.Start, guessedStart)
	return one * (1 + together*float64(s.Nodes-1))
}

// Started holds the shared brokers that an estimate already counts as started and warmed up.
type Started map[string]bool

// Seconds is the time that the point's broker adds to the estimate: key names it among those that points share.
func (st Started) Seconds(key string, s Spec) (seconds float64) {
	if !st[key] {
		seconds += StartSeconds(s)
	}
	if warm := key + " warm"; s.BrokerWarmup > 0 && !st[warm] {
		st[warm], seconds = true, seconds+s.BrokerWarmup.Seconds()
	}
	st[key] = true
	return seconds
}

// EstimateSeconds estimates how long one repetition of a point takes, without starting a broker.
func EstimateSeconds(s Spec) float64 {
	warmup := s.Warmup.For.Seconds()
	if s.Warmup.Auto {
		warmup = (warmup + s.Warmup.Max.Seconds()) / 2
	}
	one := warmup + s.Duration.Seconds() + settling
	switch s.Measure {
	case MeasureSustainable:
		return searchSeconds(s.Sustainable)
	case MeasureCurve:
		levels := one + float64(max(len(s.Curve.Rates), len(s.Curve.Fractions))-1)*(one-settling+between)
		if len(s.Curve.Rates) > 0 {
			return levels
		}
		return searchSeconds(s.Sustainable) + levels
	case MeasurePeak:
		if s.floods() {
			connections := float64(s.Topics * s.ProducersPerTopic)
			full := connections * buffered / max(1, s.MessageSize.Mean()) * s.sendSeconds() // all buffers
			return one + min((warmup+s.Duration.Seconds())*(min(floodedMost, connections)-1), full)
		}
	case MeasureCount:
		messages := amount(s, float64(s.Count.Messages), float64(s.Count.Bytes))
		if s.Pipeline != nil {
			return warmup + s.postSeconds(messages) + settling
		}
		return warmup + messages*max(s.sendSeconds(), s.workSeconds()) + settling
	case MeasureBacklog:
		messages := amount(s, float64(s.Backlog.Messages), float64(s.Backlog.Bytes))
		return warmup + messages*(s.sendSeconds()+max(s.receiveSeconds(), s.workSeconds())) + settling
	}
	return one
}

// EstimateIsRough reports whether the point ends when its work is done, so that the estimate depends on the broker's speed.
func EstimateIsRough(s Spec) bool {
	return s.floods() || s.Measure == MeasureBacklog || s.Read.From == ReadStart || s.Measure == MeasureCount && s.Load.Rate == 0
}

// floods reports whether producers send as fast as buffers accept messages, and the point waits for all of them. Each connection
// has its own buffers.
func (s Spec) floods() bool {
	return s.Measure == MeasurePeak && s.Delivery == atMostOnce && s.SubscriptionsPerTopic > 0 && s.ProducerDelay == 0
}

// searchSeconds counts the probe, the usual number of short and long trials, the confirmations, and two long trials that fail but
// end early; of further goals half of that. Four brokers' searches took 54 to 206 s where this says 85 s.
func searchSeconds(s Sustainable) float64 {
	around := s.Warmup.Seconds() + between
	trials := float64(min(usualTrials, max(1, s.MaxTrials-s.Confirms)))
	one := (1+trials)*(around+s.Trial.Seconds()) + float64(s.Confirms+usualLong)*(around+s.Confirm.Seconds()) + 2*(around+s.Confirm.Seconds()/4)
	all := one*(1+float64(len(s.Bounds())-1)/2) + s.Soak.Seconds()
	if s.Budget > 0 {
		all = min(all, float64(len(s.Bounds()))*s.Budget.Seconds())
	}
	return probing + all
}

// amount is a number of messages, given as messages or as bytes.
func amount(s Spec, messages, bytes float64) float64 {
	if bytes > 0 {
		return bytes / max(1, s.MessageSize.Mean())
	}
	return messages
}

// sendSeconds is the time for one message among many: by the broker's order of magnitude, by the bytes of all its copies, by the
// window, by the producers' own work, or by the rate in the spec, whichever is longest.
func (s Spec) sendSeconds() float64 {
	speed := usual.Of(s.Broker).Speed
	rate := cmp.Or(speed.Rate, guessedRate)
	if s.flushes() {
		rate = min(rate, cmp.Or(speed.Flushed, rate))
	}
	if s.Pipeline != nil {
		rate = min(rate, guessedRequests)
		if cores := s.Limits.Server.CPU; cores > 0 {
			rate = min(rate, float64(s.Pipeline.Servers)*cores/guessedServer)
		}
	}
	copies := float64(max(1, s.SubscriptionsPerTopic) * max(1, s.Replicas))
	window := float64(max(1, s.Topics*s.ProducersPerTopic*s.InFlight.Messages))
	work := s.ProducerDelay.Seconds() / float64(max(1, s.Topics*s.ProducersPerTopic))
	one := max(copies/rate, copies*s.MessageSize.Mean()/guessedBytes, cmp.Or(speed.Alone, guessedAlone)/window, work)
	if s.Load.Rate > 0 {
		one = max(one, 1/s.Load.Rate)
	}
	return one
}

// postSeconds is the time for the requests of a pipeline's closed loop, in both of its phases: a thread posts the next request
// after the answer to the one before.
func (s Spec) postSeconds(requests float64) float64 {
	path := s.Network.Client
	answered := 2*path.Delay.Seconds() + path.Jitter.Seconds() + guessedAnswer
	one := func(threads int) float64 { return max(s.sendSeconds(), answered/float64(threads)) }
	first := min(firstShare*requests, firstMost)
	return first*one(firstThreads) + (requests-first)*one(s.Pipeline.Threads)
}

// receiveSeconds is the time for one message of a backlog, without waiting for the disk.
func (s Spec) receiveSeconds() float64 {
	rate := cmp.Or(usual.Of(s.Broker).Speed.Rate, guessedRate)
	return float64(max(1, s.SubscriptionsPerTopic)) * max(1/rate, s.MessageSize.Mean()/guessedBytes)
}

// workSeconds is the time that all consumers of a subscription together work on one message.
func (s Spec) workSeconds() float64 {
	return s.ConsumerDelay.Seconds() / float64(max(1, s.Topics*s.ConsumerPerSubscription.Smallest()))
}

// flushes reports whether a message is on the disk before it is acknowledged.
func (s Spec) flushes() bool {
	f := usual.Of(s.Broker).Speed.Flushes
	logged := f == usual.EveryVersion || f != "" && strings.HasPrefix(s.Version, f)
	return s.Persistence == fsync || s.Persistence == log && s.Acks != acksNone && logged
}
