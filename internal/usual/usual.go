// Package usual holds the defaults of a spec that depend on the broker: package catalog registers them for each broker, and package
// study fills them in where a spec says nothing. For example, a spec for NATS asks for at most once, since NATS keeps no copy of a
// message; one for Kafka asks for at least once, persisted in a log. The package knows no broker and no setting by name.
package usual

import (
	"maps"
	"math"
	"slices"
)

// Defaults are the defaults of one broker. The zero value stands for a broker that is not registered: its messages are kept in a log,
// and each of its topics has connections of its own.
type Defaults struct {
	First       bool        // this is the broker of a spec that names none
	NoCopy      bool        // the broker keeps no copy of a message, so a spec asks for at most once
	Persistence Persistence // of a confirmed message
	// Sharing is how many partitions one connection serves without being slower than several, because the client library is made
	// to be shared; 0: every topic has connections of its own.
	Sharing int
	Speed   Speed
	// Tuning are the server settings, by the broker's own names, that a document which isn't trusted may give: they choose numbers,
	// sizes, times and modes, and have the broker listen, run or load nothing, and use no file but its own.
	Tuning []string
	// Settings are what holds of client and topic settings of which a spec says nothing, by path: "client.linger.ms". Package catalog
	// takes them from the driver.
	Settings map[string]string
	// Means names the native settings by which the broker keeps a guarantee that it can keep, a line for each side: "server:
	// appendonly=yes". Package catalog takes it from the driver; nil if the driver names none.
	Means func(Guarantee) string
}

// Guarantee is what a spec asks for, in its own words.
type Guarantee struct {
	Delivery, Persistence, Acks, Ordering string
	Replicas                              int
}

// AnyNumber is the Sharing of a client library whose one connection serves any number of partitions.
const AnyNumber = math.MaxInt

// Persistence says where a broker keeps messages if a spec doesn't say.
type Persistence int

// The kinds of persistence.
const (
	Unstated         Persistence = iota // only in the zero value: every registered broker states one of the others
	Log                                 // on disk
	MemoryAtMostOnce                    // in memory if the spec asks for at most once, else on disk
	Memory                              // in memory
)

// Speed says in orders of magnitude how fast a broker was on two cores that it shared with the generator. It is for estimates of how
// long a study takes; no result depends on it. Fields that are 0 are not known.
type Speed struct {
	Rate    float64 // small messages per second, with many in flight
	Flushed float64 // the same if each message is flushed to the disk before it is confirmed
	Alone   float64 // seconds that a message takes when no other is in flight
	Start   float64 // seconds until a single server is ready
	// Flushes is the prefix of the versions that flush each message although a spec asks only for a log: "3." or EveryVersion; empty
	// if none does.
	Flushes string
}

// EveryVersion is the Speed.Flushes of a broker that always flushes.
const EveryVersion = "*"

var known = map[string]Defaults{}

// Register adds a broker. It panics if there would be two that are first.
func Register(broker string, d Defaults) {
	if first := First(); d.First && first != "" {
		panic("usual: both " + first + " and " + broker + " are to be first")
	}
	known[broker] = d
}

// Of returns the defaults of a broker; the zero value for one that is not registered, such as one of imported results.
func Of(broker string) Defaults { return known[broker] }

// BrokersWith returns the names of the registered brokers whose defaults match, sorted.
func BrokersWith(match func(Defaults) bool) (names []string) {
	for _, broker := range slices.Sorted(maps.Keys(known)) {
		if match(known[broker]) {
			names = append(names, broker)
		}
	}
	return names
}

// SettingsOfAll returns the paths of the client and topic settings that any registered broker has, sorted.
func SettingsOfAll() []string {
	paths := map[string]bool{}
	for _, d := range known {
		for path := range d.Settings {
			paths[path] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// First returns the broker of a spec that names none; empty if no broker is registered as the first.
func First() string {
	for broker, d := range known {
		if d.First {
			return broker
		}
	}
	return ""
}

// Connections returns how many connections a number of topics share, each with so many partitions; 0: each topic has its own. At a
// Sharing of 64, 65 topics of one partition share 2 connections.
func (d Defaults) Connections(topics, partitions int) int {
	if d.Sharing == 0 || topics*partitions <= 0 {
		return 0
	}
	needed := (topics*partitions-1)/d.Sharing + 1 // rounded up, without the overflow of adding AnyNumber
	return min(topics, needed)
}
