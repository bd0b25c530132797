// Package doubt is the register of doubts. A doubt is a stated reason why a figure deserves less trust. This package knows how each kind is
// called, what it is about and what it means; it doesn't know how doubts are found, stored or shown.
package doubt

import (
	"fmt"
	"slices"
)

// Class is what people see of a doubt: one of six words.
type Class string

// The classes, in the order in which they are shown.
const (
	Generator  Class = "generator"           // part of the figure may be the load generator's
	Machine    Class = "machine"             // something else on the machine took part
	TooShort   Class = "too short"           // more time or more messages would tell
	NotAllCame Class = "not everything came" // messages are missing from the figure
	Clocks     Class = "clocks"              // two hosts' clocks: latencies show it as ±
	Provenance Class = "provenance"          // where and how it was measured
)

// Classes lists the classes in their order.
func Classes() []Class {
	return []Class{Generator, Machine, TooShort, NotAllCame, Clocks, Provenance}
}

// Place is the figure that a doubt affects, and so the place where it is shown.
type Place int

// The places.
const (
	Row      Place = iota // every figure of a row: the row's status has the mark
	Rate                  // rates have the mark
	Latency               // latencies have it
	Delay                 // latencies have it, and the rate of a closed loop: messages took longer, and that rate is the window over the latency
	Quantile              // quantiles of latencies have it; means don't
	Cost                  // processor times have it
	Counts                // counts of messages have it
	Table                 // said once below the tables, without a mark: it is true of all figures, and changes no conclusion between them
	List                  // in the report doubts only: the tables show it in another way, or not the figure that it touches
)

// Marks reports whether a doubt of this place has a mark beside a figure.
func (p Place) Marks() bool { return p < Table }

// String is the column that has the mark.
func (p Place) String() string {
	return [...]string{"status", "rate", "latency", "latency", "quantile", "CPU", "lost", "once, below", "–"}[p]
}

// Kind is a kind of doubt. Only this package makes kinds, so that a doubt can't be stored without an entry here.
type Kind struct {
	code     string
	class    Class
	place    Place
	sentence string
	more     string
}

// Code is the kind's name in records: "late".
func (k *Kind) Code() string { return k.code }

// Class is the kind's class.
func (k *Kind) Class() Class { return k.class }

// Place is where doubts of the kind are shown.
func (k *Kind) Place() Place { return k.place }

// OfSteadyState reports whether a doubt of the kind says that the broker may not have been in a steady state. It then touches what is measured
// per time or per message, but no count of messages: a lost message is lost in any state.
func (k *Kind) OfSteadyState() bool { return k == NotSettled || k == WarmingUp || k == WarmupUnknown }

// Sentence is the meaning of a doubt of the kind, without a period.
func (k *Kind) Sentence() string { return k.sentence }

// More explains when there is such a doubt and what helps, in Markdown as docs/method.md has it; empty if the sentence says all.
func (k *Kind) More() string { return k.more }

var kinds []*Kind

func add(class Class, place Place, code, sentence, more string) *Kind {
	if slices.ContainsFunc(kinds, func(k *Kind) bool { return k.code == code }) {
		panic(fmt.Sprintf("doubt: registered twice: %s", code))
	}
	k := &Kind{code: code, class: class, place: place, sentence: sentence, more: more}
	kinds = append(kinds, k)
	return k
}

// All lists the kinds by class, within a class as they are registered.
func All() []*Kind {
	all := slices.Clone(kinds)
	slices.SortStableFunc(all, func(a, b *Kind) int { return order(a) - order(b) })
	return all
}

func order(k *Kind) int { return slices.Index(Classes(), k.class) }

// Lookup finds a kind by its code. A code that isn't registered, as another version's, is of no known kind: ok is false, and the kind says
// so once below a table.
func Lookup(code string) (kind *Kind, ok bool) {
	i := slices.IndexFunc(kinds, func(k *Kind) bool { return k.code == code })
	if i < 0 {
		return &Kind{code: code, class: Provenance, place: Table, sentence: "this version does not know the doubt " + code}, false
	}
	return kinds[i], true
}
