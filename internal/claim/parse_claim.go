package claim

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// The keys of claims.yaml. A claim may have the keys of a statement: they hold for all of its statements, each of which may
// override them. A statement stands under the name of its kind, which may override them once more:
//
//	metric: publish_rate
//	all:
//	- {threshold: {expect: {from: 250000}}}
//	- {select: {mode: a}, slope: {along: topics, sign: falling, metric: e2e_p99_ns}}
var (
	kindKeys      = []string{string(Ratio), string(Rank), string(Slope), string(Threshold), string(Shape)}
	statementKeys = []string{"experiment", "metric", "select", "at", "over", "pool", "take", "share", "expect", "best"}
	claimKeys     = []string{"id", "says", "where", "published", "note", "undecidable", "all"}
	ownKeys       = map[Kind][]string{
		Ratio: {"of", "to"}, Rank: {"by", "order", "first", "second", "last"}, Slope: {"along", "sign", "r2", "change"}, Shape: {"along", "form", "within"},
	}
)

// body is the value under the name of a kind: {along: topics, sign: falling} of a slope.
type body struct {
	kind  Kind
	value value
}

// claim reads a claim with its statements.
func (v value) claim() Claim {
	var c Claim
	shared := Statement{Expect: anywhere, Grouping: Grouping{Take: TakeEach}, Trend: Trend{Change: anywhere}}
	var bodies []body
	var list value // of statements, under "all"
	texts := map[string]*string{
		"id": &c.ID, "says": &c.Says, "where": &c.Where, "published": &c.Published, "note": &c.Note, "undecidable": &c.Undecidable,
	}
	for key, entry := range v.entries(slices.Concat(claimKeys, statementKeys, kindKeys)...) {
		switch text := texts[key]; {
		case text != nil:
			*text = entry.text()
		case key == "all":
			list = entry
		default:
			bodies = entry.statementKey(key, &shared, bodies)
		}
	}
	if !v.isMapping() {
		return c
	}
	for _, key := range []string{"id", "says", "where"} {
		if *texts[key] == "" {
			v.missing(key, "every claim has an id, says something, and stands somewhere")
		}
	}
	isList, isSingle := list.node != nil, len(bodies) > 0
	switch {
	case c.Undecidable != "":
		if isList || isSingle {
			v.problem("undecidable, and yet there is a statement to decide")
		}
	case isList && isSingle:
		v.problem("all, and a statement beside it; allowed: one of both")
	case isList:
		for _, item := range list.items() {
			c.Statements = append(c.Statements, item.listed(shared))
		}
	default:
		c.Statements = []Statement{v.statement(shared, bodies)}
	}
	return c
}

// listed reads a statement of a list.
func (v value) listed(s Statement) Statement {
	var bodies []body
	for key, entry := range v.entries(slices.Concat(statementKeys, kindKeys)...) {
		bodies = entry.statementKey(key, &s, bodies)
	}
	return v.statement(s, bodies)
}

// statementKey reads a key that any statement may have, or notes the body of its kind.
func (v value) statementKey(key string, s *Statement, bodies []body) []body {
	if slices.Contains(kindKeys, key) {
		return append(bodies, body{kind: Kind(key), value: v})
	}
	v.setField(key, s)
	return bodies
}

// statement reads the body of a statement, of which there has to be one.
func (v value) statement(s Statement, bodies []body) Statement {
	if len(bodies) != 1 {
		v.problem("%d statements; allowed: one of ratio, rank, shape, slope and threshold, a list of several under all, or undecidable with a reason", len(bodies))
		return s
	}
	s.Kind = bodies[0].kind
	content := bodies[0].value
	before := len(v.found.list)
	for key, entry := range content.entries(slices.Concat(statementKeys, ownKeys[s.Kind])...) {
		entry.setField(key, &s)
	}
	if len(v.found.list) == before {
		s.complete()
		content.check(s)
	}
	return s
}

// setField reads the value of a key into a statement.
func (v value) setField(key string, s *Statement) {
	switch key {
	// Keys of every kind:
	case "experiment":
		s.Experiments = v.texts()
	case "metric":
		s.Metric = v.metric()
	case "select":
		s.Select = v.selector()
	case "at":
		s.At = v.text(rateChoices...)
	case "over":
		s.Over, s.OverGiven = v.texts(), true
	case "pool":
		s.Pool = v.text(poolBest, poolMax, poolMean, poolMedian, poolMin)
	case "take":
		s.Take = v.text(TakeEach, TakeShare, poolMax, poolMean, poolMedian, poolMin)
	case "share":
		s.Take = TakeShare
		v.number(&s.Share)
	case "expect":
		s.Expect = v.bounds()
	case "best":
		s.LowestWins = v.text(string(Lowest), string(Highest)) == string(Lowest)

	// Keys of one kind:
	case "of":
		s.Of = v.side()
	case "to":
		s.To = v.side()
	case "by":
		s.By = v.text()
	case "order":
		s.Order = v.texts()
	case "first":
		s.Who, s.Place = v.text(), 1
	case "second":
		s.Who, s.Place = v.text(), 2
	case "last":
		s.Who, s.Place = v.text(), LastPlace
	case "along":
		s.Along = v.text()
	case "sign":
		s.Sign = v.text(risingForm, fallingForm)
	case "r2":
		v.number(&s.R2)
	case "change":
		s.Change = v.bounds()
	case "form":
		s.Form = v.text(forms...)
	case "within":
		v.number(&s.Within)
	default:
		panic(fmt.Sprintf("claim: the key %q is allowed and sets nothing", key))
	}
}

// selector reads what is selected, by axis.
func (v value) selector() Selector {
	s := Selector{}
	for axis, entry := range v.axes() {
		s[study.AxisName(axis)] = entry.axisValues()
	}
	return s
}

// side reads one side of a ratio: what it selects, by axis, and what it has of its own.
func (v value) side() Selection {
	s := Selection{Select: Selector{}}
	for key, entry := range v.axes() {
		switch key {
		case "experiment":
			s.Experiments = entry.texts()
		case "metric":
			s.Metric = entry.metric()
		case "at":
			s.At = entry.text(rateChoices...)
		default:
			s.Select[study.AxisName(key)] = entry.axisValues()
		}
	}
	return s
}

// axes are the entries of a mapping from any axes to their values.
func (v value) axes() iter.Seq2[string, value] {
	if !v.isMapping() {
		v.problem("%s is not a selection such as {mode: at-least-once}", study.Seen(v.node))
		return func(func(string, value) bool) {}
	}
	return v.entries()
}

// axisValues reads the values of an axis: one, a list, lowest, highest, or {from, to, not}.
func (v value) axisValues() AxisValues {
	values := AxisValues{From: math.NaN(), To: math.NaN()}
	switch {
	case v.isMapping():
		for key, entry := range v.entries("from", "to", "not") {
			switch key {
			case "from":
				entry.number(&values.From)
			case "to":
				entry.number(&values.To)
			case "not":
				values.Not = entry.texts()
			}
		}
		if math.IsNaN(values.From) && math.IsNaN(values.To) && values.Not == nil {
			v.problem("selects nothing; allowed: from, to and not")
		}
	case v.node.Kind == yaml.ScalarNode && slices.Contains([]End{Lowest, Highest}, End(v.node.Value)):
		values.End = End(v.node.Value)
	default:
		values.Any = v.texts()
	}
	return values
}

// complete writes axes by their full names, and gives the sides of a ratio what they don't have of their own.
func (s *Statement) complete() {
	s.By, s.Along = study.AxisName(s.By), study.AxisName(s.Along)
	s.Over = slices.Clone(s.Over)
	for i, axis := range s.Over {
		s.Over[i] = study.AxisName(axis)
	}
	for _, side := range []*Selection{&s.Of, &s.To} {
		if side.Metric.Key == "" {
			side.Metric = s.Metric
		}
		if side.Experiments == nil {
			side.Experiments = s.Experiments
		}
		if side.At == pointItself {
			side.At = s.At
		}
	}
}

// check notes what a complete statement lacks.
func (v value) check(s Statement) {
	need := func(given bool, key, text string) {
		if !given {
			v.missing(key, "%s", text)
		}
	}
	if s.Kind != Ratio {
		need(s.Metric.Key != "", "metric", "what it is about; known: "+strings.Join(results.MetricKeys(), ", "))
	}
	switch s.Kind {
	case Ratio:
		need(s.Of.Select != nil && s.To.Select != nil, "of", "a ratio needs of and to")
		need(s.Of.Metric.Key != "" && s.To.Metric.Key != "", "metric", "what the ratio is of")
		need(s.Expect.Given(), "expect", "a ratio needs bounds, such as {from: 0.3, to: 0.45}")
	case Threshold:
		need(s.Expect.Given(), "expect", "a threshold needs bounds, such as {from: 250000}")
	case Rank:
		need(s.By != "", "by", "the axis of those that are ranked")
		need((s.Place != 0) != (len(s.Order) > 1), "first", "a rank needs one of first, second, last and order")
	case Slope:
		need(s.Along != "", "along", "the axis it goes along")
		need(s.Sign != "" || s.R2 > 0 || s.Change.Given(), "sign", "a slope needs one of sign, r2 and change")
	case Shape:
		need(s.Along != "", "along", "the axis it goes along")
		need(s.Form != "", "form", "one of "+strings.Join(forms, ", "))
	}
	if s.poolsCells() && s.Kind != Ratio && s.Kind != Threshold {
		v.path += ".take"
		v.problem("%q has no meaning here; allowed: %s, %s", s.Take, TakeEach, TakeShare)
	} else if s.Take == TakeShare && !(s.Share > 0 && s.Share <= 1) {
		v.path += ".share"
		v.problem("%v is no share of the places; allowed: above 0 and up to 1", s.Share)
	}
}
