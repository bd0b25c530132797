// Package usual holds what a spec asks of a broker when it doesn't say: each driver registers it with its kind, and
// package study reads it. It knows no broker and no setting.
package usual

import (
	"maps"
	"math"
	"slices"
)

// Defaults are those of one broker. The zero value, which is that of a broker nobody registered, keeps a log, and its topics
// have connections of their own.
type Defaults struct {
	First       bool        // the broker of a spec that names none
	NoCopy      bool        // the broker keeps no copy of a message, so that a spec asks for at most once
	Persistence Persistence // of an acknowledged message
	// Sharing is how many partitions one connection serves as well as several do, because the client is made to be
	// shared; 0: every topic has connections of its own.
	Sharing int
	Speed   Speed
}

// Speed is what a broker was seen to do on two cores that it shared with the load's generator, in orders of magnitude: it
// makes estimates of time, and no result. What is 0 isn't known.
type Speed struct {
	Rate    float64 // small messages per second, many under way
	Flushed float64 // the same where each is flushed to the disk before it is acknowledged
	Alone   float64 // seconds that a message takes when no other is under way
	Start   float64 // seconds until a single server serves
	// Flushes is how the versions begin that flush though their log is all that was asked for, such as "3."; "": none does.
	Flushes string
}

// EveryVersion is the Flushes of a broker that always flushes its log.
const EveryVersion = "*"

// Persistence says where a broker keeps messages when nobody asks.
type Persistence int

// The ways. A broker with a choice keeps nothing at most once. One that is registered says which it has.
const (
	Unstated Persistence = iota
	Log
	MemoryAtMostOnce
	Memory
)

// AnyNumber is the Sharing of a client whose one connection serves everything.
const AnyNumber = math.MaxInt

var known = map[string]Defaults{}

// Register adds a broker; package driver calls it.
func Register(broker string, d Defaults) {
	if first := First(); d.First && first != "" {
		panic("usual: both " + first + " and " + broker + " are to be first")
	}
	known[broker] = d
}

// Of are the defaults of a broker: the zero value for one that nobody registered, such as one of imported results.
func Of(broker string) Defaults { return known[broker] }

// Those are the registered brokers whose defaults are so, in the order of their names.
func Those(are func(Defaults) bool) (names []string) {
	for _, broker := range slices.Sorted(maps.Keys(known)) {
		if are(known[broker]) {
			names = append(names, broker)
		}
	}
	return names
}

// First is the broker of a spec that names none.
func First() string {
	for broker, d := range known {
		if d.First {
			return broker
		}
	}
	return ""
}

// Connections is how many connections so many topics share; 0: each has its own.
func (d Defaults) Connections(topics, partitions int) int {
	if d.Sharing == 0 || topics*partitions <= 0 {
		return 0
	}
	return min(topics, (topics*partitions-1)/d.Sharing+1)
}
