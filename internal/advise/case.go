package advise

import (
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// Case is the question of a study of this package, as read from its points.
type Case struct {
	Study  string
	Spec   study.Spec        // of a point of Load: its rates are Curve.Rates
	Bound  float64           // of the end-to-end latency's 99th percentile, nanoseconds
	Names  []string          // of the contenders, in the order in which they were given
	Absent map[string]string // why contenders can't be started here, by name
	places map[string]place  // of the points, by ID
}

// place is the purpose of a point.
type place struct{ contender, part string }

// CaseOf returns the case of a study's points.
func CaseOf(points []study.Point) *Case {
	c := &Case{}
	for _, p := range points {
		c.add(p.Study, p.ID, p.Axes, p.Spec)
	}
	return c
}

// Cases returns the cases of which there are records. What no wish asks for, of more rates or contenders, is none.
func Cases(records []results.Record) []*Case {
	var cases []*Case
	for _, g := range results.GroupBy(records, func(r results.Record) string { return r.Study }) {
		if !strings.HasPrefix(g.Name, studyPrefix) {
			continue
		}
		c := &Case{}
		for _, r := range g.Members {
			c.add(r.Study, r.PointID, r.Axes, r.Spec)
		}
		if c.Bound > 0 && len(c.Names) <= MostContenders {
			cases = append(cases, c)
		}
	}
	return cases
}

func (c *Case) add(studyName, pointID string, axes map[string]string, spec study.Spec) {
	p := place{contender: axes[ContenderAxis], part: axes["sweep"]}
	if c.places == nil {
		c.places = map[string]place{}
	}
	c.Study, c.places[pointID] = studyName, p
	if len(c.Names) <= MostContenders {
		c.Names = lists.AddNew(c.Names, p.contender)
	}
	if n := len(spec.Curve.Rates); p.part != Load || n == 0 || n > mostRates {
		return
	}
	objectives, _ := gate.Objectives(spec)
	for _, o := range objectives {
		if m, limit, ok := o.Bound(); ok && m.Key == results.KeyEndToEndP99 {
			c.Spec, c.Bound = spec, limit
		}
	}
}

// Kills reports whether the case's study kills a contender under load.
func (c *Case) Kills(contender string) bool {
	for _, at := range c.places {
		if at.contender == contender && at.part == Kill {
			return true
		}
	}
	return false
}

// Decided is a case with its answer.
type Decided struct {
	Case      *Case
	Advice    Advice
	Here      []results.Record // of the origin of the case's latest record, by which it is answered
	Elsewhere []results.Record // the others of the case
}

// DecideAll answers the cases of which there are records.
func DecideAll(records []results.Record) []Decided {
	cases, byPoint := Cases(records), map[string][]int{}
	if len(cases) == 0 {
		return nil
	}
	for i := range records {
		byPoint[records[i].PointID] = append(byPoint[records[i].PointID], i)
	}
	return lists.Map(cases, func(c *Case) Decided {
		of := slices.Sorted(maps.Keys(c.places))
		indexes := lists.Flat(of, func(id string) []int { return byPoint[id] })
		slices.Sort(indexes)
		own := lists.Map(indexes, func(i int) results.Record { return records[i] })
		here, elsewhere := OriginOf(own[len(own)-1]).Split(own)
		return Decided{Case: c, Advice: c.Decide(here), Here: here, Elsewhere: elsewhere}
	})
}

// Lost returns the points of contenders that were not chosen, by ID, of all cases that have an answer: what is asked of a broker was not
// missed where they missed it. An answer that is undecided has chosen none.
func Lost(records []results.Record) map[string]bool {
	lost := map[string]bool{}
	for _, d := range DecideAll(records) {
		a := d.Advice
		for id, at := range d.Case.places {
			if a.Answer == Undecided || len(a.Chosen) > 0 && !slices.Contains(a.Chosen, a.contender(at.contender)) {
				lost[id] = true
			}
		}
	}
	return lost
}

// Contains reports whether a point is one of the case.
func (c *Case) Contains(pointID string) bool { _, ok := c.places[pointID]; return ok }

// Looks are after how many repetitions of Load the answer is looked for. More looks would find differences by chance more often.
var Looks = []int{3, 6, 12}

// mostFinalists is how many contenders a search is worth its time for.
const mostFinalists = 3

// Wants reports whether a repetition of a point would change the answer, given the records of the case from this machine.
//
//	load      up to the first look: unless the contender is out already, or misses the bound
//	          later: while the answer doesn't stand, if it hangs on the contender
//	others    for the contenders that may be taken, and for the next best one; of one alone once, since there is nothing to compare it with
func (c *Case) Wants(records []results.Record, pointID string, repetition int) bool {
	p := c.places[pointID]
	if p.part == Load && repetition <= Looks[0] {
		of := c.Decide(records).contender(p.contender)
		return of.Standing == Fits || of.Standing == Open
	}
	if p.part == Load {
		last := Looks[0]
		for _, look := range Looks {
			if look < repetition {
				last = look
			}
		}
		seen := map[string][]int{} // repetitions by point
		records = slices.DeleteFunc(slices.Clone(records), func(r results.Record) bool {
			if !slices.Contains(seen[r.PointID], r.Repetition) {
				seen[r.PointID] = append(seen[r.PointID], r.Repetition)
			}
			return c.places[r.PointID].part == Load && slices.Index(seen[r.PointID], r.Repetition) >= last
		})
		a := c.Decide(records)
		of := a.contender(p.contender)
		return !a.Stands() && (of.Standing == Open || slices.Contains(a.Chosen, of))
	}
	a := c.Decide(records)
	last := a.finalists()
	return slices.Contains(last, a.contender(p.contender)) && (repetition == 1 || len(last) > 1)
}

// Order lists the repetitions in the order in which they are worth their time: the load until the answer stands, a kill, and searches.
// broker is that of study.Order.
func Order(points []study.Point, seed int64, broker func(study.Spec) string) []study.Run {
	last := Looks[len(Looks)-1]
	all := study.Order(points, last, seed, broker)
	of := func(part string, from, to int) []study.Run {
		return lists.Filter(all, func(r study.Run) bool {
			return r.Point.Axes["sweep"] == part && r.Repetition >= from && r.Repetition <= to
		})
	}
	return slices.Concat(of(Load, 1, last), of(Kill, 1, 1), of(Headroom, 1, Looks[0]))
}

// Origin is the machine and the version of this program that records are of.
type Origin struct {
	Host results.Host
	Tool string
}

// OriginOf is the origin of a record.
func OriginOf(r results.Record) Origin { return Origin{Host: r.Host, Tool: r.Versions.Tool} }

// Made reports whether a record is of the origin.
func (o Origin) Made(r results.Record) bool { return OriginOf(r) == o }

// Split divides records into those of the origin and others. Those of another version of the broker than the latest one of their point are
// among the others.
func (o Origin) Split(records []results.Record) (own, others []results.Record) {
	latest := map[string]string{} // versions of brokers, by point
	for _, r := range records {
		if o.Made(r) && r.Versions.Broker != "" {
			latest[r.PointID] = r.Versions.Broker
		}
	}
	for _, r := range records {
		if version := r.Versions.Broker; o.Made(r) && (version == "" || version == latest[r.PointID]) {
			own = append(own, r)
		} else {
			others = append(others, r)
		}
	}
	return own, others
}
