package study

import (
	"slices"
	"strings"
)

// draft is a spec in the making: what was given, and by which layer. Layers are numbered upwards; a later one
// overrides an earlier one, and takes with it what the earlier one said only for the sake of what is overridden. Where the
// base says "count.messages: 100" (rankBase) and a flag --set count.bytes=1MB (rankFlags), only the bytes stay.
type draft struct {
	given   map[string]ranked
	file    string
	implied bool // the measure was read off the other settings
}

type ranked struct {
	setting
	rank int
}

func newDraft(file string) *draft { return &draft{given: map[string]ranked{}, file: file} }

// has reports whether path was given; a group's name asks for anything in it.
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

// exclusive settings replace one another when a later layer gives the other one.
var exclusive = map[string]string{
	"count.messages": "count.bytes", "count.bytes": "count.messages",
	"backlog.messages": "backlog.bytes", "backlog.bytes": "backlog.messages",
	"curve.fractions": "curve.rates", "curve.rates": "curve.fractions",
	"messageSize": "payloadFile", "payloadFile": "messageSize",
	"version": versionByBroker, versionByBroker: "version",
}

// madeUp settings say how payloads are made up.
var madeUp = []string{"randomBytesRatio", "randomizedPayloadPoolSize"}

// put lays l over what was given so far.
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
			fixed := min(rank, rankAxes) // what an axis compares is no setting of what is attached: it stays, and refuses points
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

// where returns where path, or the first setting below it, was written.
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

// drop forgets what layers before rank said of paths.
func (d *draft) drop(rank int, paths ...string) {
	for _, path := range paths {
		if g, ok := d.given[path]; ok && g.rank < rank {
			delete(d.given, path)
		}
	}
}

// decide says what is measured and drops what only served another measure that a later layer replaced. It returns
// the paths given without purpose.
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

// infer reads the measure off the groups that were given. What a later layer gives decides; within one, the groups
// that only one measure uses go before load, which several share.
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

// varies tells of a shape that changes with time, which a search or a curve has no use for.
func varies(shape any, measure string) bool {
	return (measure == MeasureSustainable || measure == MeasureCurve) && shape != constant && shape != poisson
}
