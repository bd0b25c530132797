package study

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of sensible values; a number beyond them is a mistake.
const (
	minMessage  = 8 // bytes: a message's identity
	maxMessage  = 256 << 20
	minRate     = 1e-6 // messages per second: one in twelve days
	maxRate     = 100e6
	maxDuration = Duration(7 * 24 * time.Hour)
	maxClients  = 1 << 22 // as many as an identity can hold, see docs/method.md
	maxNodes    = 99
	maxMessages = 1e12

	maxObjectives = 200 // more than there are metrics
)

// mostOfSetting is the largest value of a setting, by its path.
var mostOfSetting = map[string]float64{
	"nodes": maxNodes, "replicas": maxNodes, "relays": mostRelays,
	"topics": maxClients, "partitionsPerTopic": maxClients, "producersPerTopic": maxClients, "subscriptionsPerTopic": maxClients,
	"consumerPerSubscription": maxClients, "connections": maxClients, "backlog.topics": maxClients, "backlog.subscriptions": maxClients,
	"pipeline.servers": mostServers, "pipeline.pool": mostConnections, "pipeline.threads": mostConnections,
	"limits.broker.cpu": mostCores, "limits.server.cpu": mostCores, "limits.balancer.cpu": mostCores, "limits.consumer.cpu": mostCores,
	"messageSize.size": maxMessage, "messageSize.weight": math.MaxFloat64, "randomBytesRatio": 1, "randomizedPayloadPoolSize": 1_000_000,
	"keys": 100_000_000, "zipfExponent": 10, "inFlight.messages": 10_000_000, "count.messages": maxMessages, "backlog.messages": maxMessages,
	"backlog.drainRatio": 1, "sustainable.width": 0.5, "sustainable.exceed": 0.5, "sustainable.confirms": 100, "sustainable.maxTrials": 10_000,
	"sustainable.quantile": 1, "sustainable.goals.quantile": 1, "curve.fractions": 10,
}

// mostOfKind is the largest value of the setting at path, from mostOfSetting or from its type.
func mostOfKind(path string, kind reflect.Type) float64 {
	if most, ok := mostOfSetting[path]; ok {
		return most
	}
	switch {
	case kind == reflect.TypeFor[Duration]():
		return float64(maxDuration)
	case kind == reflect.TypeFor[Size]():
		return maxBytes
	case path == "seed":
		return math.Inf(1)
	case isRate(path):
		return maxRate
	}
	return 0
}

// numbers are the settings of a spec that are or contain numbers, in the order of their paths.
var numbers = sync.OnceValue(func() (all []leaf) {
	for _, path := range slices.Sorted(maps.Keys(layout().leaves)) {
		l := layout().leaves[path]
		switch l.typ.Kind() {
		case reflect.Int, reflect.Int64, reflect.Float64, reflect.Slice, reflect.Pointer:
			all = append(all, l)
		}
	}
	return all
})

// Beyond names a number of a spec from elsewhere that no study can have; it is empty if there is none.
func (s Spec) Beyond() string {
	if c := s.ConsumerPerSubscription; len(c) > 1 && len(c) != s.SubscriptionsPerTopic {
		return fmt.Sprintf("consumerPerSubscription is of %d subscriptions; subscriptionsPerTopic is %d", len(c), s.SubscriptionsPerTopic)
	}
	if n := len(s.Objectives); n > maxObjectives {
		return fmt.Sprintf("objectives are %d; allowed: %d", n, maxObjectives)
	}
	spec := reflect.ValueOf(s)
	for _, l := range numbers() {
		if v := l.in(spec); v.IsValid() {
			if what := beyond(v, l.path); what != "" {
				return what
			}
		}
	}
	return ""
}

func beyond(v reflect.Value, path string) (what string) {
	var number float64
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return beyond(v.Elem(), path)
	case v.Kind() == reflect.Slice:
		for i := 0; i < v.Len() && what == ""; i++ {
			what = beyond(v.Index(i), path)
		}
		return what
	case v.Kind() == reflect.Struct:
		for i := 0; i < v.NumField() && what == ""; i++ {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			what = beyond(v.Field(i), path+"."+name)
		}
		return what
	case v.CanInt():
		number = float64(v.Int())
	case v.CanFloat():
		number = v.Float()
	default:
		return ""
	}
	most := mostOfKind(path, v.Type())
	if math.Abs(number) <= most && (number >= 0 || path == "seed") {
		return ""
	}
	return fmt.Sprintf("%s is %v; allowed: 0 to %v", path, v, reflect.ValueOf(most).Convert(v.Type()))
}

// Budget is what the studies of one command have taken so far of what they may take together: each of them is bounded, and so is their
// sum. The zero Budget is that of no study. It is not safe for concurrent use.
type Budget struct {
	points, settings, repetitions int
	shelf                         shelf
}

const (
	maxPoints      = 100_000
	maxSettings    = 5_000_000 // that are given, of all points: each takes some 150 bytes
	maxRepetitions = 1_000_000 // of all points: each takes some 100 bytes
)

// beforeIt is said of what several studies take.
const beforeIt = ", together with the studies before it"

// spend counts values that a document stands for beside those that are written in it: those of ranges, and of sweeps at a scale. It
// reports whether there may be so many.
func (d decoder) spend(n int, at place, path string) bool {
	if d.made += n; d.made > maxValues {
		d.add(at, path, "with this the document's ranges, and its sweeps at its scales, stand for more than %d values; allowed: %[1]d", maxValues)
	}
	return d.made <= maxValues
}

// take counts the points of a study and the settings that they are given, before they are made. It adds to e what is too much.
func (b *Budget) take(e *expansion) {
	s := e.study
	together := either(b.points > 0, beforeIt, "")
	for _, w := range s.sweeps {
		n, given := 1, s.base.weight()+w.set.weight()
		for _, a := range w.axes {
			if n *= len(a.values); n > maxPoints {
				break
			}
			most := 0
			for _, c := range a.values {
				most = max(most, c.set.weight())
			}
			given += most
		}
		if b.points += n; b.points > maxPoints {
			e.add(place{file: s.File}, "axes", "more than %d points%s", maxPoints, together)
			return
		}
		if b.settings += n * given; b.settings > maxSettings {
			e.add(place{file: s.File}, "axes", "%d points of %d settings each; allowed: %d settings in all%s", n, given, maxSettings, together)
			return
		}
	}
}

// repeat counts the repetitions of the points that were made. It adds to e what is too much.
func (b *Budget) repeat(e *expansion) {
	s, together := e.study, either(b.repetitions > 0, beforeIt, "")
	if b.repetitions += len(e.points) * max(0, s.Repeats); b.repetitions > maxRepetitions {
		e.add(place{file: cmp.Or(s.flags["repeats"], s.File)}, "repeats", "%d points, each %d times; allowed: %d repetitions in all%s",
			len(e.points), s.Repeats, maxRepetitions, together)
	}
}
