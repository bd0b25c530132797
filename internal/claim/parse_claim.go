package claim

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// field reads the value of a key into a statement.
type field func(*Statement, node)

// The keys of claims.yaml. A claim may have the keys of a statement: they hold for all of its statements, each of which
// may override them. A statement stands under the name of its kind, which may override them once more:
//
//	metric: publish_rate
//	all:
//	- {threshold: {expect: {from: 250000}}}
//	- {select: {mode: a}, slope: {along: topics, sign: falling, metric: e2e_p99_ns}}
var (
	claimKeys   = []string{"id", "says", "where", "published", "note", "undecidable", "all"}
	kindKeys    = []string{string(Ratio), string(Rank), string(Slope), string(Threshold), string(Shape)}
	fieldsOfAll = map[string]field{
		"experiment": func(s *Statement, n node) { s.Experiments = n.texts() },
		"metric":     func(s *Statement, n node) { s.Metric = n.metric() },
		"select":     func(s *Statement, n node) { s.Select = n.selector() },
		"at":         func(s *Statement, n node) { s.At = n.text(rateChoices...) },
		"over":       func(s *Statement, n node) { s.Over, s.OverGiven = n.axes(), true },
		"pool":       func(s *Statement, n node) { s.Pool = n.text(poolBest, poolMax, poolMean, poolMedian, poolMin) },
		"take": func(s *Statement, n node) {
			s.Take = n.text(TakeEach, TakeShare, poolMax, poolMean, poolMedian, poolMin)
		},
		"share":  func(s *Statement, n node) { s.Take, s.Share = TakeShare, n.number() },
		"expect": func(s *Statement, n node) { s.Expect = n.bounds() },
		"best":   func(s *Statement, n node) { s.LowestWins = n.text(string(Lowest), string(Highest)) == string(Lowest) },
	}
	fieldsOfKind = map[Kind]map[string]field{
		Ratio: {
			"of": func(s *Statement, n node) { s.Of = n.operand() },
			"to": func(s *Statement, n node) { s.To = n.operand() },
		},
		Rank: {
			"by":     func(s *Statement, n node) { s.By = study.AxisName(n.text()) },
			"order":  func(s *Statement, n node) { s.Order = n.texts() },
			"first":  func(s *Statement, n node) { s.setPlace(n, 1) },
			"second": func(s *Statement, n node) { s.setPlace(n, 2) },
			"last":   func(s *Statement, n node) { s.setPlace(n, LastPlace) },
		},
		Slope: {
			"along":  func(s *Statement, n node) { s.Along = study.AxisName(n.text()) },
			"sign":   func(s *Statement, n node) { s.Sign = n.text(risingForm, fallingForm) },
			"r2":     func(s *Statement, n node) { s.R2 = n.share() },
			"change": func(s *Statement, n node) { s.Change = n.bounds() },
		},
		Shape: {
			"along":  func(s *Statement, n node) { s.Along = study.AxisName(n.text()) },
			"form":   func(s *Statement, n node) { s.Form = n.text(forms...) },
			"within": func(s *Statement, n node) { s.Within = n.number() },
		},
	}
)

// setPlace reads who is said to be at a place.
func (s *Statement) setPlace(n node, place int) {
	if s.Place != 0 {
		n.problem("a second place; allowed: one of first, second and last")
	}
	s.Who, s.Place = n.text(), place
}

// draft is a statement as far as it has been read. Of {metric: m, slope: {along: topics}} it has the metric, the kind
// slope and its body {along: topics}, whose keys are read when all others are known.
type draft struct {
	Statement
	body   node
	bodies int // how many there were: a statement needs one, a claim with a list of statements none

	problemsBefore int // how many problems were found before those of the claim
}

// read reads the value of a key that a claim and a statement may have.
func (d *draft) read(key string, n node) {
	if setField, isField := fieldsOfAll[key]; isField {
		setField(&d.Statement, n)
	} else {
		d.Kind, d.body = Kind(key), n
		d.bodies++
	}
}

// claim reads a claim with its statements.
func (n node) claim() Claim {
	var c Claim
	texts := map[string]*string{
		"id": &c.ID, "says": &c.Says, "where": &c.Where,
		"published": &c.Published, "note": &c.Note, "undecidable": &c.Undecidable,
	}
	shared := draft{problemsBefore: len(n.found.list)}
	shared.Expect, shared.Change, shared.Take = anywhere, anywhere, TakeEach
	var all *node // the list of statements, if there is one
	for key, entry := range n.entries(slices.Concat(claimKeys, kindKeys, keysOf(fieldsOfAll))...) {
		switch text := texts[key]; {
		case text != nil:
			*text = entry.text()
		case key == "all":
			all = &entry
		default:
			shared.read(key, entry)
		}
	}
	if !n.isMapping() {
		return c
	}
	n.checkTake()
	for _, key := range []string{"id", "says", "where"} {
		if *texts[key] == "" {
			n.problemAt(key, "missing: every claim has an id, says something, and stands somewhere")
		}
	}
	hasStatement := all != nil || shared.bodies > 0
	switch {
	case c.Undecidable == "":
		c.Statements = n.statements(shared, all)
	case hasStatement:
		n.problem("undecidable, and yet there is a statement to decide")
	}
	return c
}

// statements reads the statements of a claim: those of the list under "all", or the only one. shared has the keys of
// the claim.
func (n node) statements(shared draft, all *node) []Statement {
	if all == nil {
		return []Statement{n.finish(shared)}
	}
	if shared.bodies > 0 {
		n.problem("all, and a statement beside it; allowed: one of both")
		return nil
	}
	var statements []Statement
	for _, item := range all.items() {
		own := shared
		for key, entry := range item.entries(slices.Concat(kindKeys, keysOf(fieldsOfAll))...) {
			own.read(key, entry)
		}
		item.checkTake()
		statements = append(statements, item.finish(own))
	}
	return statements
}

// finish reads the body of a statement, of which there has to be one, and checks the whole.
func (n node) finish(d draft) Statement {
	if d.bodies != 1 {
		n.problem("%d statements; allowed: one of ratio, rank, shape, slope and threshold, "+
			"a list of several under all, or undecidable with a reason", d.bodies)
		return d.Statement
	}
	fields := maps.Clone(fieldsOfAll)
	maps.Copy(fields, fieldsOfKind[d.Kind])
	for key, entry := range d.body.entries(keysOf(fields)...) {
		fields[key](&d.Statement, entry)
	}
	d.body.checkTake()
	for _, mapping := range []node{n, d.body} {
		mapping.checkUse(d.Statement)
	}
	if len(n.found.list) == d.problemsBefore { // or else problems would follow from problems
		d.completeOperands()
		d.body.check(d.Statement)
	}
	return d.Statement
}

// checkTake refuses take and share in one mapping, whose keys have no order that could say which of them holds.
func (n node) checkTake() {
	take, hasTake := n.child("take")
	share, hasShare := n.child("share")
	if hasTake && hasShare && take.yaml.Value != TakeShare {
		share.problem("given beside take: %s; allowed: one of both", take.yaml.Value)
	}
}

// checkUse refuses keys that a statement of this kind has no use for.
func (n node) checkUse(s Statement) {
	if expect, ok := n.child("expect"); ok && s.Kind != Ratio && s.Kind != Threshold {
		expect.problem("not used by %s, only by %s and %s", s.Kind, Ratio, Threshold)
	}
	if best, ok := n.child("best"); ok && s.Kind != Rank && s.Pool != poolBest {
		best.problem("not used by %s, only by %s and by pool: %s", s.Kind, Rank, poolBest)
	}
}

func keysOf(fields map[string]field) []string { return slices.Collect(maps.Keys(fields)) }

// selector reads what is selected, by axis.
func (n node) selector() Selector {
	s := Selector{}
	for axis, entry := range n.criteria() {
		s[study.AxisName(axis)] = entry.criterion()
	}
	return s
}

// operand reads an operand of a ratio: what it selects, by axis, and what it has of its own.
func (n node) operand() Selection {
	s := Selection{Select: Selector{}}
	for key, entry := range n.criteria() {
		switch key {
		case "experiment":
			s.Experiments = entry.texts()
		case "metric":
			s.Metric = entry.metric()
		case "at":
			s.At = entry.text(rateChoices...)
		default:
			s.Select[study.AxisName(key)] = entry.criterion()
		}
	}
	return s
}

// criteria are the entries of a mapping from any axes to their criteria.
func (n node) criteria() iter.Seq2[string, node] {
	if !n.isMapping() {
		n.problem("%s is not a selection such as {mode: at-least-once}", study.Seen(n.yaml))
		return func(func(string, node) bool) {}
	}
	return n.entries()
}

// criterion reads which values of an axis are meant: one, a list, lowest, highest, or {from, to, not}.
func (n node) criterion() Criterion {
	c := Criterion{From: math.NaN(), To: math.NaN()}
	isEnd := n.yaml.Kind == yaml.ScalarNode && slices.Contains([]End{Lowest, Highest}, End(n.yaml.Value))
	switch {
	case n.isMapping():
		for key, entry := range n.entries("from", "to", "not") {
			switch key {
			case "from":
				c.From = entry.number()
			case "to":
				c.To = entry.number()
			case "not":
				c.Not = entry.texts()
			}
		}
		if c.From > c.To { // false where one is NaN, which is none
			n.problem("from is larger than to")
		}
		if !c.hasBounds() && c.Not == nil {
			n.problem("selects nothing; allowed: from, to and not")
		}
	case isEnd:
		c.End = End(n.yaml.Value)
	default:
		c.Any = n.texts()
	}
	return c
}

// completeOperands gives the operands of a ratio what they don't have of their own. Their selectors are merged by
// Statement.operand.
func (s *Statement) completeOperands() {
	for _, o := range []*Selection{&s.Of, &s.To} {
		if o.Metric.Key == "" {
			o.Metric = s.Metric
		}
		if o.Experiments == nil {
			o.Experiments = s.Experiments
		}
		if o.At == pointItself {
			o.At = s.At
		}
	}
}

// check notes what a complete statement lacks.
func (n node) check(s Statement) {
	need := func(given bool, key, text string) {
		if !given {
			n.problemAt(key, "missing: %s", text)
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
		hasPlace, hasOrder := s.Place != 0, len(s.Order) > 1
		need(s.By != "", "by", "the axis of those that are ranked")
		need(hasPlace != hasOrder, "first", "a rank needs one of first, second, last and order")
	case Slope:
		need(s.Along != "", "along", "the axis it goes along")
		need(s.Sign != "" || s.R2 > 0 || s.Change.Given(), "sign", "a slope needs one of sign, r2 and change")
	case Shape:
		need(s.Along != "", "along", "the axis it goes along")
		need(s.Form != "", "form", "one of "+strings.Join(forms, ", "))
	}
	judgesFigure := s.Kind == Ratio || s.Kind == Threshold
	isShare := 0 < s.Share && s.Share <= 1
	switch {
	case s.poolsCells() && !judgesFigure:
		n.problemAt("take", "%q has no meaning here; allowed: %s, %s", s.Take, TakeEach, TakeShare)
	case s.Take == TakeShare && !isShare:
		n.problemAt("share", "%v is no share of the places; allowed: above 0 and up to 1", s.Share)
	}
}
