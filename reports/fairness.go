// What a ranking doesn't show: the compared brokers may have been asked for different guarantees, may
// treat the disk differently, may have been used through different clients, and may have run on other
// machines. Each kind of difference becomes a sentence beside the ranking.

package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// unequalGuarantees says why nothing is ranked if brokers were given the same messages and load, and no two
// of them the same guarantee: kafka at-least-once and nats at-most-once, both 100 B at 1k/s. It is empty if
// two brokers share a message size and guarantee, or if one such setting has no counterpart.
func unequalGuarantees(points []results.Point) string {
	brokers, guarantees := map[string]bool{}, map[string]bool{}
	for _, g := range results.BySetting(points) { // a group has one message size and guarantee
		first := g.Members[0].Spec
		severalBrokers := slices.ContainsFunc(g.Members, func(p results.Point) bool { return p.Spec.Broker != first.Broker })
		anyCounterpart := slices.ContainsFunc(g.Members, func(p results.Point) bool { return hasCounterpart(p, points) })
		if severalBrokers || !anyCounterpart { // ranked, or not ranked for another reason
			return ""
		}
		brokers[first.Broker], guarantees[first.Delivery] = true, true
	}
	if len(brokers) == 0 {
		return ""
	}
	return fmt.Sprintf("%s are not compared: they were asked for different guarantees (%s). With the same --delivery they are.",
		strings.Join(slices.Sorted(maps.Keys(brokers)), " and "), strings.Join(slices.Sorted(maps.Keys(guarantees)), ", "))
}

// hasCounterpart reports whether another broker was given the same messages and load as p, under another
// guarantee.
func hasCounterpart(p results.Point, points []results.Point) bool {
	return slices.ContainsFunc(points, func(o results.Point) bool {
		sameWork := o.Spec.MessageSize.String() == p.Spec.MessageSize.String() && o.Load() == p.Load()
		return sameWork && o.Spec.Broker != p.Spec.Broker && o.Spec.Delivery != p.Spec.Delivery
	})
}

// clientModes says how the client libraries of the compared brokers were used. It is empty if there is
// only one, if no record has the mode, and if the mode is an axis and so part of the names.
func clientModes(points []results.Point) string {
	modeIsAxis := slices.ContainsFunc(points, func(p results.Point) bool { return p.Records[0].Axes["client.mode"] != "" })
	if len(results.Names(points)) < 2 || modeIsAxis {
		return ""
	}
	names := namesByClientMode(points)
	modes := slices.Sorted(maps.Keys(names))
	if len(modes) == 1 {
		return sharedModeTexts[modes[0]]
	}
	each := lists.Map(modes, func(mode string) string { return mode + " " + strings.Join(names[mode], ", ") })
	differ := "Clients not alike"
	if len(modes) == 2 && names[unknownMode] != nil {
		differ = "Clients may not be alike"
	}
	return differ + " (client.mode): " + strings.Join(each, "; ") + ". A tuned client may do more than the library as applications use it."
}

// sharedModeTexts say how all libraries were used, by their mode.
var sharedModeTexts = map[string]string{
	unknownMode: "",
	"stock":     "Clients: every library is used as its documentation shows (client.mode: stock).",
	"tuned":     "Clients: every library is driven as fast as its driver can (client.mode: tuned), not as its documentation shows.",
}

// unknownMode is the mode of a point whose repetitions don't say it, or differ in it.
const unknownMode = "unknown"

// namesByClientMode lists the brokers by the mode of their client library: {"stock": [kafka], "tuned": [nats]}. A broker whose
// points differ in the mode is listed by the names of its points.
func namesByClientMode(points []results.Point) map[string][]string {
	names := map[string][]string{}
	for _, ofBroker := range results.GroupBy(points, func(p results.Point) string { return p.Spec.Broker }) {
		sameMode := clientMode(ofBroker.Members...) != ""
		for _, p := range ofBroker.Members {
			mode, name := cmp.Or(clientMode(p), unknownMode), p.Name
			if sameMode {
				name = p.Spec.Broker
			}
			if !slices.Contains(names[mode], name) {
				names[mode] = append(names[mode], name)
			}
		}
	}
	return names
}

// clientMode is the mode in which all repetitions of points used the client library. It is empty if
// they differ in it, or if none has it. There must be a point.
func clientMode(points ...results.Point) string {
	return common(lists.Map(recordsOf(points), results.ClientMode))
}

// unequalFlushes names the brokers that flushed messages to the disk before they acknowledged them, and
// those that did not. It is empty if they are alike, or if flushes were counted for fewer than two. The
// first of the points with one name whose flushes were counted decides for all of them.
func unequalFlushes(points []results.Point) string {
	var flushing, others []string
	decided := map[string]bool{} // by the point's name
	for _, p := range points {
		records := usedRecords(p)
		median := func(key string) float64 { return results.MustMetric(key).Over(records).Median }
		flushesPerMessage := median(results.KeyBrokerFlushes)
		if decided[p.Name] || math.IsNaN(flushesPerMessage) {
			continue
		}
		decided[p.Name] = true
		ackSeconds := median(results.KeyPublishMean) / 1e9
		if flushesFirst(flushesPerMessage, median(results.KeyPublishRate), ackSeconds) {
			flushing = append(flushing, p.Name+" ("+unit.None.Format(flushesPerMessage)+" flushes per message)")
		} else {
			others = append(others, p.Name)
		}
	}
	if len(flushing) == 0 || len(others) == 0 {
		return ""
	}
	return "Not alike: " + strings.Join(flushing, ", ") + " flushed to the disk what they acknowledged, " + strings.Join(others, ", ") +
		" left that to the operating system. A power failure takes more from the latter."
}

// usedRecords are the repetitions of a point that ended ok: of a curve of given rates, cut down to its highest rate that did.
func usedRecords(p results.Point) []results.Record {
	if p.Spec.Measure != study.MeasureCurve {
		return p.Ok()
	}
	for _, l := range slices.Backward(p.MeasuredLoads()) { // the highest rate first
		if l.Used() {
			return l.Records
		}
	}
	return nil
}

// slowFlushSeconds is the time that a flush of many messages takes on a slow disk.
const slowFlushSeconds = 0.02

// flushesFirst reports whether a broker can have flushed messages before it acknowledged them. One flush
// serves all messages that wait for it, by Little's law
//
//	waiting = rate × ackSeconds
//
// where ackSeconds is the time from send to acknowledgement. At most slowFlushSeconds of it count: the rest of
// a longer wait is queueing. A broker that flushes first makes about 1/waiting flushes for
// each message; fewer than a quarter of that are its housekeeping. At 2,000 messages/s and 5 ms ten wait, so
// 0.1 flushes per message are expected and 0.025 are enough. rate and ackSeconds are NaN if no message was
// acknowledged; then each message needs a flush of its own.
func flushesFirst(flushesPerMessage, rate, ackSeconds float64) bool {
	waiting := max(1, rate*min(ackSeconds, slowFlushSeconds))
	if math.IsNaN(waiting) {
		waiting = 1
	}
	expected := 1 / waiting
	return flushesPerMessage >= expected/4
}

// unnamedDifferences lists the facts in which the compared repetitions differ: "host.cores: 2, 8". It
// leaves out what is meant to differ: the broker, what is measured, and the axes of studies.
func unnamedDifferences(points []results.Point) []string {
	var records []results.Record
	named := []string{"broker", "measure", "nodes"}
	for _, p := range points {
		for _, r := range p.Ok() {
			records = append(records, r)
			for axis := range r.Axes {
				named = append(named, axis)
			}
		}
	}
	return results.Residue(records, named...)
}
