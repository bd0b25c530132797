package study

import (
	"slices"
	"strings"
)

// draft is an incomplete spec: the given settings with the layer of each. Layers are numbered upwards; a later one overrides an
// earlier one, and also discards earlier settings that only served the overridden one. If the base has "count.messages: 100"
// (rankBase) and a flag --set count.bytes=1MB (rankFlags), only the bytes remain.
type draft struct {
	given   map[string]ranked
	file    string
	implied bool // the measure was inferred from other settings
}

type ranked struct {
	setting
	rank int
}

func newDraft(file string) *draft { return &draft{given: map[string]ranked{}, file: file} }

// has reports whether path, or anything in the group of that name, was given.
func (d *draft) has(path string) bool { return len(d.under(path)) > 0 }

// under lists the given paths at or below path, sorted.
func (d *draft) under(path string) []string {
	var out []string
	for p := range d.given {
		if p == path || strings.HasPrefix(p, path+".") {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// exclusive settings replace one another if a later layer gives the other one.
var exclusive = map[string]string{
	"count.messages": "count.bytes", "count.bytes": "count.messages",
	"backlog.messages": "backlog.bytes", "backlog.bytes": "backlog.messages",
	"curve.fractions": "curve.rates", "curve.rates": "curve.fractions",
	"messageSize": "payloadFile", "payloadFile": "messageSize",
	"version": versionByBroker, versionByBroker: "version",
}

// madeUp settings describe generated payloads.
var madeUp = []string{"randomBytesRatio", "randomizedPayloadPoolSize"}

// put overlays l on the settings given so far.
func (d *draft) put(l layer, rank int) {
	for _, s := range l {
		if rival, ok := exclusive[s.path]; ok {
			d.drop(rank, rival)
		}
		switch s.path {
		case "broker":
			d.drop(rank, "version")
			if of, ok := d.given[versionByBroker]; ok && of.value.(map[string]string)[s.value.(string)] == "" {
				d.drop(rank, versionByBroker)
			}
		case "load.shape":
			for _, p := range d.under("load") {
				if p != "load.rate" {
					d.drop(rank, p)
				}
			}
		case "attach":
			d.drop(rank, "nodes", "isolation", "brokerWarmup")
			fixed := min(rank, rankAxes) // an axis can't override the settings of an attached broker: they stay, and refuse points
			d.drop(fixed, d.under("server")...)
			d.drop(fixed, "version", versionByBroker)
		case "consumerPerSubscription":
			if len(s.value.(Consumers)) > 1 {
				d.drop(rank, "subscriptionsPerTopic")
			}
		case "payloadFile":
			d.drop(rank, "useRandomizedPayloads", "payloadColumn")
			d.drop(rank, madeUp...)
		case "messageSize":
			d.drop(rank, "payloadColumn")
		case "useRandomizedPayloads":
			if s.value == false {
				d.drop(rank, madeUp...)
			}
		}
	}
	for _, s := range l {
		d.given[s.path] = ranked{s, rank}
	}
}

// where returns the position at which path, or the first setting below it, was written.
func (d *draft) where(path string) (at place, given bool) {
	if g, ok := d.given[path]; ok {
		return g.at, true
	}
	if under := d.under(path); len(under) > 0 {
		return d.given[under[0]].at, true
	}
	return place{}, false
}

// rankOf is the rank of the layer that gave one of paths; −1 if none did.
func (d *draft) rankOf(paths ...string) int {
	rank := -1
	for _, path := range paths {
		if g, ok := d.given[path]; ok {
			rank = max(rank, g.rank)
		}
	}
	return rank
}

// drop discards the settings at paths from layers before rank.
func (d *draft) drop(rank int, paths ...string) {
	for _, path := range paths {
		if g, ok := d.given[path]; ok && g.rank < rank {
			delete(d.given, path)
		}
	}
}

// decide chooses what is measured and drops settings that only served another measure that a later layer replaced. It returns the
// paths of settings without effect.
func (d *draft) decide() (idle []string, ambiguous bool) {
	measure, rank := "", -1
	if g, ok := d.given["measure"]; ok {
		measure, rank = g.value.(string), g.rank
	} else {
		measure, rank, ambiguous = d.infer()
		d.implied = true
		d.given["measure"] = ranked{setting{path: "measure", value: measure, at: place{file: d.file}}, rank}
	}
	delete(d.given, impliedMeasure)
	for path, g := range d.given {
		overruled := path == "load.shape" && g.rank < rank && varies(g.value, measure)
		if serves(path, measure) && !overruled {
			continue
		}
		noWarmup := groupOf(path) == "warmup" && (g.value == Duration(0) || g.value == false)
		if g.soft || g.rank < rank || noWarmup { // "warmup: 0s" agrees with a measure that has no warm-up
			delete(d.given, path)
		} else {
			idle = append(idle, path)
		}
	}
	slices.Sort(idle)
	return idle, ambiguous
}

// infer infers the measure from the given groups. A later layer decides over an earlier one; within a layer, groups that only one
// measure uses decide over load, which several share.
func (d *draft) infer() (measure string, rank int, ambiguous bool) {
	rank = -1
	special := false
	for _, m := range []string{MeasureCount, MeasureBacklog, MeasureCurve, MeasureRead} {
		for _, p := range d.under(m) {
			g := d.given[p]
			if g.soft {
				continue
			}
			if special && m != measure && g.rank == rank {
				ambiguous = true
			}
			if g.rank > rank {
				measure, rank, special, ambiguous = m, g.rank, true, false
			}
		}
	}
	implied, _ := d.given[impliedMeasure].value.(string)
	for _, c := range []struct{ path, measure string }{{"load", MeasureRate}, {"sustainable", MeasureSustainable}, {impliedMeasure, implied}} {
		if special && serves(c.path, measure) {
			continue
		}
		for _, p := range d.under(c.path) {
			if g := d.given[p]; g.rank > rank {
				measure, rank = c.measure, g.rank
			}
		}
	}
	if measure == "" {
		return MeasureSustainable, -1, false
	}
	return measure, rank, ambiguous
}

// varies reports whether a load shape changes with time, which a search or a curve can't use.
func varies(shape any, measure string) bool {
	return (measure == MeasureSustainable || measure == MeasureCurve) && shape != constant && shape != poisson
}
