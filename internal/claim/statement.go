package claim

import "github.com/brokermark/brokermark/internal/results"

// Kind is the kind of a statement.
type Kind string

// Kinds of statements.
const (
	Ratio     Kind = "ratio"     // one selection divided by another
	Rank      Kind = "rank"      // the order of contenders, or the place of one
	Slope     Kind = "slope"     // a metric changes from one end of an axis to the other, on a straight line
	Threshold Kind = "threshold" // a metric lies within bounds
	Shape     Kind = "shape"     // a metric along an axis is constant, rises, falls, or has an interior maximum
)

// Statement is one condition of a claim: which measurements it is about, how they are grouped, and what has to be true
// of them. Example: "in at least half of all sizes, at-least-once delivery has at most 0.45 times the rate of
// at-most-once" is
//
//	metric: publish_rate, over: size, share: 50%
//	ratio: {of: {mode: at-least-once}, to: {mode: at-most-once}, expect: {to: 0.45}}
type Statement struct {
	Kind Kind
	Selection
	Grouping
	LowestWins bool // the lowest figure is the best, in a rank and for poolBest, even if that of the metric isn't

	// What only some kinds have; the other kinds leave it zero.
	Expect  Range     // of a ratio or a threshold: where the figure has to lie
	Of, To  Selection // what is divided by what, of a ratio, and of a rank, slope or shape of ratios; Select is nil if there is no such
	Ranking           // of a rank
	Trend             // of a slope or a shape
}

// Selection says which measurements a statement, or one operand of a ratio, is about.
type Selection struct {
	Experiments []string // the names of sweeps; all if empty
	Metric      results.Metric
	Select      Selector
	At          string // which rates of curves: one of rateChoices, or pointItself if it isn't about single rates
}

// Grouping says how measurements are grouped into cells, and how the cells make one verdict. Example: broker, size and
// topics vary, and a slope goes along topics. Then each broker with each size is a cell. With Over = [broker] each
// broker is a cell, which has one measurement for each size at the same number of topics: Pool makes one figure of them.
type Grouping struct {
	Over      []string // the axes whose values make the cells; without any there is one cell
	OverGiven bool     // false: instead of Over, every axis that varies and that the statement doesn't compare
	Pool      string   // makes one figure of those in a cell: poolBest or a key of poolings; empty: there is only one
	Take      string   // makes one verdict of the cells: TakeEach, TakeShare, or a key of poolings for their figures
	Places    int      // how many places of the publication the statement speaks of; 0 if it doesn't say
	Share     float64  // with TakeShare: the share of the cells that have to hold, above 0 and up to 1
}

// poolsCells reports whether the figures of all cells are pooled into one, which is judged: Take is "mean", for example.
// Otherwise the cells are judged one by one.
func (g Grouping) poolsCells() bool {
	_, isPooling := poolings[g.Take]
	return isPooling
}

// Ways to take cells together.
const (
	TakeEach  = "each"  // every cell has to hold
	TakeShare = "share" // a share of the cells has to hold
)

// Ways to make one figure of several.
const (
	poolBest   = "best" // the lowest or the highest, whichever is better
	poolMax    = "max"
	poolMean   = "mean"
	poolMedian = "median"
	poolMin    = "min"
)

// LastPlace is the Place of a Ranking behind all others, however many they are.
const LastPlace = -1

// Ranking is what a rank says: the order of some contenders, or the place of one. "Kafka is ahead of NATS, and NATS of
// RabbitMQ" has the Order kafka, nats, rabbitmq. "NATS is second" has Who = nats and Place = 2.
type Ranking struct {
	By    string   // the axis of the contenders, such as broker
	Order []string // contenders, each better than the next; empty if Who is given
	Who   string   // the contender at Place; empty if Order is given
	Place int      // of Who: 1 is first, 2 second, or LastPlace; 0 if Order is given
}

// Trend is a statement of a slope or a shape of the metric along an axis.
type Trend struct {
	Along  string  // the axis
	Sign   string  // slope: of the change, risingForm or fallingForm; empty if either will do
	R2     float64 // slope: the least coefficient of determination; 0 if any will do
	Change Range   // slope: of the last value against the first, as a share of the first
	Form   string  // shape: one of forms, such as "constant"
	Within float64 // shape: the tolerance, as a share
}

// lowestIsBest reports whether a lower figure of m is better, in a ranking or in poolBest.
func (s Statement) lowestIsBest(m results.Metric) bool {
	return s.LowestWins || m.Better == results.Lower
}

// pooling returns the key of poolings that s.Pool stands for with the metric m.
func (s Statement) pooling(m results.Metric) string {
	switch {
	case s.Pool != poolBest:
		return s.Pool
	case s.lowestIsBest(m):
		return poolMin
	}
	return poolMax
}
