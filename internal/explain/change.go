// Package explain proves what the limit of a point was, by changing it: which changes are worth a try, and what the records of the point with
// and without them show. It starts nothing, and knows no broker by name.
package explain

import (
	"slices"

	"github.com/brokermark/brokermark/internal/study"
)

// Unchanged is the change of the repetitions that the others are compared with.
const Unchanged = "unchanged"

// Change gives a point more, or less, of what may be its limit.
type Change struct {
	Name   string // "twice the window"
	Path   string // of the setting that is changed, or of the first
	Moved  string // what it shows if the rate moves: a clause
	Stayed string // and if it doesn't
	takes  bool   // it gives less, so that the rate is to fall if it moves
	apply  func(*study.Spec, Machine)
}

// Machine is what a broker that is started has at most, for all its nodes.
type Machine struct {
	Cores  int
	Memory int64 // bytes
}

// Apply returns the spec with the change. It isn't checked.
func (c Change) Apply(s study.Spec, on Machine) study.Spec {
	s.ConsumerPerSubscription = slices.Clone(s.ConsumerPerSubscription)
	c.apply(&s, on)
	return s
}

var (
	twiceTheWindow = Change{
		Name: "twice the window", Path: "inFlight.messages", Moved: "unconfirmed messages had no place in the window", Stayed: "the window is full because of something else",
		apply: func(s *study.Spec, _ Machine) {
			s.InFlight.Messages, s.InFlight.Bytes = 2*s.InFlight.Messages, 2*s.InFlight.Bytes
		},
	}
	dataInMemory = Change{
		Name: "data in memory", Path: "dataInMemory", Moved: "the broker waits for its disk", Stayed: "the broker doesn't wait for its disk",
		apply: func(s *study.Spec, on Machine) { s.DataInMemory = study.Size(on.Memory / 4 / int64(s.Nodes)) },
	}
	coreMore = Change{
		Name: "one core more for the broker", Path: "limits.broker.cpu", Moved: "the broker needs the processor time", Stayed: "the broker can't use more processor time",
		apply: func(s *study.Spec, _ Machine) { s.Limits.Broker.CPU += 1 / float64(s.Nodes) },
	}
	coreLess = Change{
		Name: "one core less for the broker", Path: "limits.broker.cpu", Moved: "the broker needs the processor time", Stayed: "the broker has processor time to spare", takes: true,
		apply: func(s *study.Spec, on Machine) {
			has := s.Limits.Broker.CPU * float64(s.Nodes)
			if has == 0 {
				has = float64(on.Cores)
			}
			s.Limits.Broker.CPU = max(has-1, has/2) / float64(s.Nodes) // half of what is no more than two
		},
	}
	twiceTheBandwidth = Change{
		Name: "twice the bandwidth", Path: "network.broker.bandwidth", Moved: "messages waited for the network", Stayed: "messages wait for something else",
		apply: func(s *study.Spec, _ Machine) { s.Network.Broker.Bandwidth *= 2 },
	}
	twiceTheDisk = Change{
		Name: "twice the bytes per second of its disk", Path: "limits.broker.io", Moved: "the broker waits for its disk", Stayed: "the broker doesn't wait for its disk",
		apply: func(s *study.Spec, _ Machine) { s.Limits.Broker.IO *= 2 },
	}
	producerMore = Change{
		Name: "one more producer, the same window for all", Path: "producersPerTopic", Moved: "producers can't do more", Stayed: "the producers aren't what can't do more",
		apply: func(s *study.Spec, _ Machine) {
			before, after := s.ProducersPerTopic, s.ProducersPerTopic+1
			s.ProducersPerTopic = after
			s.InFlight.Messages = max(1, s.InFlight.Messages*before/after)
			s.InFlight.Bytes = max(s.MessageSize.Largest(), s.InFlight.Bytes*study.Size(before)/study.Size(after))
		},
	}
	consumerMore = Change{
		Name: "one more consumer", Path: "consumerPerSubscription", Moved: "consumers can't do more", Stayed: "the consumers aren't what can't do more",
		apply: func(s *study.Spec, _ Machine) {
			for i := range s.ConsumerPerSubscription {
				s.ConsumerPerSubscription[i] += min(1, s.SubscriptionsPerTopic)
			}
		},
	}
)

var changes = []Change{twiceTheWindow, dataInMemory, coreMore, coreLess, twiceTheDisk, twiceTheBandwidth, producerMore, consumerMore}

// changeNamed returns the change of that name; ok is false if there is none.
func changeNamed(name string) (_ Change, ok bool) {
	i := slices.IndexFunc(changes, func(c Change) bool { return c.Name == name })
	if i < 0 {
		return Change{}, false
	}
	return changes[i], true
}

// ChangesFor returns what is tried if a point had that limit, as records name it; "": none was shown. Without any change, why is a clause.
func ChangesFor(cause string) (all []Change, why string) {
	switch cause {
	case "generator":
		return nil, "the generator has all that this machine leaves it; --agents gives it more"
	case "producer-delay", "consumer-delay":
		return nil, "the spec asks for that work of the application"
	case "disk":
		return []Change{dataInMemory}, ""
	case "cpu-limit":
		return []Change{coreMore}, ""
	case "io-limit":
		return []Change{twiceTheDisk}, ""
	case "network":
		return []Change{twiceTheBandwidth}, ""
	case "cpu", "broker-thread", "affinity":
		return []Change{coreLess}, ""
	case "client":
		return []Change{producerMore, consumerMore}, ""
	case "":
		return []Change{twiceTheWindow, coreLess}, ""
	}
	return []Change{twiceTheWindow}, ""
}
