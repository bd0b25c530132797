package claim

import (
	"iter"
	"slices"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/study"
)

// The keys of claims.yaml. A claim has one statement, which stands under the name of its kind, or a list of them under
// all. What a statement says may also stand around it: beside its kind, or in the claim, for all of its statements. The
// innermost place counts. Here the first statement is about the publish rate, the second about a latency:
//
//	metric: publish_rate
//	all:
//	- {threshold: {expect: {from: 250000}}}
//	- {select: {mode: a}, slope: {along: topics, sign: falling, metric: e2e_p99_ns}}
var (
	claimKeys  = []string{"id", "says", "where", "published", "note", "undecidable", "absolute", "all"}
	commonKeys = []string{"experiment", "metric", "select", "at", "over", "pool", "take", "share", "places", "expect", "best"}
	kinds      = []string{string(Ratio), string(Rank), string(Slope), string(Threshold), string(Shape)}
	keysOfKind = map[Kind][]string{
		Ratio:     {"of", "to"},
		Rank:      {"of", "to", "by", "order", "first", "second", "last"},
		Slope:     {"of", "to", "along", "sign", "r2", "change"},
		Threshold: {},
		Shape:     {"of", "to", "along", "form", "within"},
	}
)

// readClaim reads a claim with its statements.
func readClaim(n node) Claim {
	var c Claim
	var shared Statement // what the claim says of all its statements
	shared.Take, shared.Expect, shared.Change = TakeEach, anywhere, anywhere
	texts := map[string]*string{
		"id": &c.ID, "says": &c.Says, "where": &c.Where, "published": &c.Published, "note": &c.Note, "undecidable": &c.Undecidable,
	}
	for key, value := range n.entries(slices.Concat(claimKeys, commonKeys, kinds)...) {
		switch text := texts[key]; {
		case text != nil:
			*text = value.text()
		case key == "absolute":
			c.Absolute = value.flag()
		default:
			shared.read(n, key, value)
		}
	}
	if !n.isMapping() {
		return c
	}
	const why = "every claim has an id, says something, and stands somewhere"
	n.require(c.ID != "", "id", why)
	n.require(c.Says != "", "says", why)
	n.require(c.Where != "", "where", why)
	list, hasList := n.child("all")
	hasOwn := len(kindsIn(n)) > 0
	switch {
	case c.Undecidable != "":
		if hasList || hasOwn {
			n.problem("undecidable, and yet there is a statement to decide")
		}
	case hasList && hasOwn:
		n.problem("all, and a statement beside it; allowed: one of both")
	case hasList:
		c.Statements = lists.Map(list.items(), func(item node) Statement { return readListed(item, shared) })
		if len(c.Statements) == 0 && len(n.found.list) == 0 {
			list.problem("0 statements; allowed: one or more")
		}
	default:
		c.Statements = []Statement{readStatement(n, shared)}
	}
	c.checkAbsolute(n)
	return c
}

// readListed reads an element of a claim's list of statements. s has what the claim says of all of them.
func readListed(n node, s Statement) Statement {
	for key, value := range n.entries(slices.Concat(commonKeys, kinds)...) {
		s.read(n, key, value)
	}
	return readStatement(n, s)
}

// readStatement reads the only statement of n, below the name of its kind. s has the values given around it.
func readStatement(n node, s Statement) Statement {
	given := kindsIn(n)
	if len(given) != 1 {
		n.problem("%d statements; allowed: one of ratio, rank, shape, slope and threshold, "+
			"a list of several under all, or undecidable with a reason", len(given))
		return s
	}
	s.Kind = Kind(given[0])
	body, _ := n.child(given[0])
	for key, value := range body.entries(slices.Concat(commonKeys, keysOfKind[s.Kind])...) {
		s.read(body, key, value)
	}
	s.refuseUnused(n)
	s.refuseUnused(body)
	s.completeOperands()
	if len(n.found.list) == 0 { // or else problems would follow from problems
		s.check(body)
	}
	return s
}

// kindsIn lists the keys of n that are kinds of statements.
func kindsIn(n node) []string {
	return lists.Filter(kinds, func(kind string) bool { _, ok := n.child(kind); return ok })
}

// read reads the value of one of a mapping's keys, which replaces a value from further out. It passes over keys that are
// not part of a statement: all, and the names of kinds.
func (s *Statement) read(mapping node, key string, value node) {
	if s.Selection.read(key, value) {
		return
	}
	switch key {
	case "select":
		s.Select = readSelector(value)
	case "over":
		s.Over, s.OverGiven = value.axes(), true
	case "pool":
		s.Pool = value.text(poolBest, poolMax, poolMean, poolMedian, poolMin)
	case "take":
		s.Take = value.text(TakeEach, TakeShare, poolMax, poolMean, poolMedian, poolMin)
	case "share":
		s.Take, s.Share = TakeShare, value.number()
		if take, ok := mapping.child("take"); ok && take.yaml.Value != TakeShare {
			value.problem("given beside take: %s; allowed: one of both", take.yaml.Value)
		}
	case "places":
		s.Places = value.positive()
	case "expect":
		s.Expect = value.bounds()
	case "best":
		s.LowestWins = value.text(string(Lowest), string(Highest)) == string(Lowest)

	case "of":
		s.Of = readOperand(value)
	case "to":
		s.To = readOperand(value)

	case "by":
		s.By = value.axis()
	case "order":
		s.Order = value.texts()
	case "first":
		s.setPlace(value, 1)
	case "second":
		s.setPlace(value, 2)
	case "last":
		s.setPlace(value, LastPlace)

	case "along":
		s.Along = value.axis()
	case "sign":
		s.Sign = value.text(risingForm, fallingForm)
	case "r2":
		s.R2 = value.share()
	case "change":
		s.Change = value.bounds()
	case "form":
		s.Form = value.text(forms...)
	case "within":
		s.Within = value.number()
	}
}

// setPlace reads the name of the contender that is said to be at a place.
func (s *Statement) setPlace(n node, place int) {
	if s.Place != 0 {
		n.problem("a second place; allowed: one of first, second and last")
	}
	s.Who, s.Place = n.text(), place
}

// completeOperands gives the operands what they don't say themselves. Their selectors are merged with that
// of the statement when it is judged.
func (s *Statement) completeOperands() {
	for _, o := range []*Selection{&s.Of, &s.To} {
		if o.Select == nil && s.Kind != Ratio {
			continue
		}
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

// readSelector reads which measurements are meant, by axis: {mode: a, topics: [1, 50]}.
func readSelector(n node) Selector {
	s := Selector{}
	for axis, value := range axisEntries(n) {
		s[study.AxisName(axis)] = readCriterion(value)
	}
	return s
}

// read reads the value of a key that statements and their operands have, and reports whether it is one.
func (s *Selection) read(key string, value node) bool {
	switch key {
	case "experiment":
		s.Experiments = value.texts()
	case "metric":
		s.Metric = value.metric()
	case "at":
		s.At = value.text(rateChoices...)
	default:
		return false
	}
	return true
}

// readOperand reads an operand of a ratio: a selector that may also have an experiment, a metric and rates of its own.
func readOperand(n node) Selection {
	s := Selection{Select: Selector{}}
	for key, value := range axisEntries(n) {
		if !s.read(key, value) {
			s.Select[study.AxisName(key)] = readCriterion(value)
		}
	}
	return s
}

// axisEntries returns the entries of a mapping that may have any axis as a key.
func axisEntries(n node) iter.Seq2[string, node] {
	if !n.isMapping() {
		n.problem("%s is not a selection such as {mode: at-least-once}", study.Seen(n.yaml))
		return func(func(string, node) bool) {}
	}
	return n.entries()
}

// readCriterion reads which values of an axis are meant: one, a list, lowest, highest, or {from, to, not}.
func readCriterion(n node) Criterion {
	if n.isMapping() {
		return readBounds(n)
	}
	isText := n.yaml.Kind == yaml.ScalarNode
	if end := End(n.yaml.Value); isText && (end == Lowest || end == Highest) {
		return Criterion{End: end}
	}
	return Criterion{Any: n.texts()}
}

// readBounds reads {from, to, not}, of which some may be missing.
func readBounds(n node) Criterion {
	c := Criterion{Bounds: anywhere}
	for key, value := range n.entries("from", "to", "not") {
		switch key {
		case "from":
			c.Bounds.From = value.number()
		case "to":
			c.Bounds.To = value.number()
		case "not":
			c.Not = value.texts()
		}
	}
	if c.Bounds.From > c.Bounds.To {
		n.problem("from is larger than to")
	}
	if !c.Bounds.Given() && c.Not == nil {
		n.problem("selects nothing; allowed: from, to and not")
	}
	return c
}
