package study

import (
	"reflect"
	"slices"
	"strings"
)

// Place says which agents of a run have the producers and the consumers of its topics. With the zero Place, one agent has all
// clients of a topic, so that no latency is measured across two clocks.
type Place struct {
	Deal      string   `json:"deal,omitempty"`      // spread: over all agents; "": topic by topic, or by the lists
	Producers []string `json:"producers,omitempty"` // names of their agents, in turn; an agent named twice gets twice as many
	Consumers []string `json:"consumers,omitempty"`
}

// Spread reports whether producers and consumers of one topic may be on different agents.
func (p Place) Spread() bool { return p.Deal == PlaceSpread || p.Named() }

// Named reports whether agents are given by name.
func (p Place) Named() bool { return len(p.Producers)+len(p.Consumers) > 0 }

// Agents are the names in p, each once, in order.
func (p Place) Agents() []string {
	all := slices.Concat(p.Producers, p.Consumers)
	slices.Sort(all)
	return slices.Compact(all)
}

// String is the form of a spec.
func (p Place) String() string {
	if p.Named() {
		return "{producers: [" + strings.Join(p.Producers, ", ") + "], consumers: [" + strings.Join(p.Consumers, ", ") + "]}"
	}
	if p.Deal == "" {
		return PlaceTopic
	}
	return p.Deal
}

// place decodes topic or spread; the whole group is a mapping.
func (d decoder) place(w written) []setting {
	var deal string
	if !isScalar(w.n) {
		d.add(d.at(w.n), w.full, "%s is not topic, spread, or a mapping with producers and consumers, which name agents", Seen(w.n))
		return nil
	}
	if !d.value(w.n, w.full, reflect.ValueOf(&deal).Elem(), []string{PlaceTopic, PlaceSpread}) {
		return nil
	}
	return []setting{w.says("place.deal", deal), w.says("place.producers", []string(nil)), w.says("place.consumers", []string(nil))}
}

// placing checks the agents of producers and consumers. The number of agents is not known here.
func (v *validator) placing() {
	s := v.spec
	p := s.Place
	if !p.Spread() {
		return
	}
	switch {
	case p.Deal != "" && p.Named():
		v.fail("place.deal", "%s is for all agents, and place.producers and place.consumers name some; allowed: one of the two", p.Deal)
	case p.Named() && len(p.Producers) == 0:
		v.fail("place.producers", "no agent has the producers; allowed: names of agents")
	case p.Named() && len(p.Consumers) == 0 && s.SubscriptionsPerTopic > 0:
		v.fail("place.consumers", "no agent has the consumers; allowed: names of agents")
	case s.SubscriptionsPerTopic == 0 && len(p.Consumers) > 0:
		v.fail("place.consumers", "there are no consumers: subscriptionsPerTopic is 0")
	case s.Measure == MeasureBacklog:
		v.fail("place", "can't be combined with measure: backlog, which is filled and drained by one agent; allowed: topic")
	case s.SubscriptionsPerTopic > 0 && s.PayloadFile == "" && len(s.MessageSize) > 0 && s.MessageSize[0].Size < minTimed:
		v.fail("place", "a message of %s can't carry its times to another agent; allowed: messageSize of %d and more", bytesText(s.MessageSize[0].Size), minTimed)
	}
	for _, list := range []struct {
		path  string
		names []string
	}{{"place.producers", p.Producers}, {"place.consumers", p.Consumers}} {
		if slices.ContainsFunc(list.names, func(name string) bool { return strings.TrimSpace(name) == "" }) {
			v.fail(list.path, "a name is empty; allowed: names of agents, as brokermark agent list shows them")
		}
	}
}
