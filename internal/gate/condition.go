// Package gate judges stored results by thresholds, so that a command can fail a build. It reads records and
// metrics. It does not know how they came about, or what a verdict leads to.
//
//	slow, err := gate.Parse("e2e_p99 > 50ms") // a load whose median is above fails
//	if err != nil {
//		return err
//	}
//	for _, v := range gate.Judge(results.Of(records), []gate.Condition{slow}) {
//		fmt.Println(v.Outcome, v.Point) // failed kafka, 100 B, at-least-once, rate 1k/s
//	}
package gate

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// Condition is a threshold: a metric, an operator and a limit. A result that the condition is true of fails the gate. Of
// "lost > 1%", the limit is 0.01 and the total the messages that were expected.
type Condition struct {
	Text     string // as it was written
	metric   results.Metric
	operator operator
	limit    float64 // in the metric's unit; of a share or a change, a fraction
	limitOn  limitOn
	total    total // of a share
}

// limitOn is the value that a condition compares with its limit.
type limitOn string

const (
	onValue  limitOn = "value"  // the metric: e2e_p99 > 50ms
	onShare  limitOn = "share"  // the metric as a fraction of a total: lost > 1%
	onChange limitOn = "change" // from one side of a comparison to the other, as a fraction: e2e_p99 > +10%
)

// operator compares a value with a limit: one of allowedOperators.
type operator string

const allowedOperators = ">= <= == != > <"

// holds compares exactly, without a tolerance: "received == 0" asks about a single message.
func (o operator) holds(v, limit float64) bool {
	switch o {
	case ">":
		return v > limit
	case ">=":
		return v >= limit
	case "<":
		return v < limit
	case "<=":
		return v <= limit
	case "==":
		return v == limit
	case "!=":
		return v != limit
	default:
		panic(fmt.Sprintf("gate: operator %q", o)) // thresholdSyntax has none but these
	}
}

// Parse reads a threshold on results: a metric's key, with or without its unit, an operator, and a value with its
// unit. A count of messages or a rate may also be bounded by a share in %: "lost > 1%" is a share of the messages
// that were expected.
//
//	e2e_p99 > 50ms    sustainable < 10k/s    lost > 0    duplicated >= 0.01%    throughput < 99%    broker_rss > 1GiB
func Parse(text string) (Condition, error) {
	t, err := splitThreshold(text)
	if err != nil {
		return Condition{}, err
	}
	return t.condition()
}

// condition reads the limit of a threshold on results.
func (t threshold) condition() (Condition, error) {
	c := Condition{Text: t.text, metric: t.metric, operator: t.operator, limitOn: onValue}
	var err error
	if strings.HasSuffix(t.limit, "%") {
		c.limitOn, c.total = onShare, shareTotals[t.metric.Key]
		if c.total == noTotal {
			return Condition{}, fmt.Errorf("%s is no share of anything, so %s can't bound it; allowed: %s",
				t.metric.Key, t.limit, allowedIn(t.metric.Unit))
		}
		c.limit, err = parsePercent(t.limit, 0)
	} else {
		c.limit, err = parseQuantity(t.metric.Unit, t.limit)
	}
	if err != nil {
		return Condition{}, err
	}
	return c, nil
}

// ParseChange reads a threshold for Changes: by how much a metric may change from one side of a comparison to the other.
//
//	sustainable < -5%    e2e_p99 > +10%
func ParseChange(text string) (Condition, error) {
	t, err := splitThreshold(text)
	if err != nil {
		return Condition{}, err
	}
	if !strings.HasSuffix(t.limit, "%") {
		return Condition{}, fmt.Errorf("%q is no change; allowed: a percentage such as %s > 10%% or %s < -5%%",
			t.limit, t.metric.Key, t.metric.Key)
	}
	limit, err := parsePercent(t.limit, -1) // nothing falls by more than all of it
	if err != nil {
		return Condition{}, err
	}
	return Condition{Text: t.text, metric: t.metric, operator: t.operator, limit: limit, limitOn: onChange}, nil
}

// ParseAll reads thresholds with Parse or ParseChange, leaving out those that are written twice.
func ParseAll(texts []string, parse func(string) (Condition, error)) ([]Condition, error) {
	var conditions []Condition
	for _, text := range texts {
		c, err := parse(text)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(conditions, func(other Condition) bool { return other.Text == c.Text }) {
			conditions = append(conditions, c)
		}
	}
	return conditions, nil
}

// threshold is a threshold of which the limit hasn't been read yet.
type threshold struct {
	text     string
	metric   results.Metric
	operator operator
	limit    string // "50ms"
}

// thresholdSyntax matches a metric, an operator and a limit.
var thresholdSyntax = regexp.MustCompile(`^\s*([A-Za-z0-9_.]+)\s*(>=|<=|==|!=|>|<)\s*(\S.*?)\s*$`)

// splitThreshold splits "e2e_p99 > 50ms" into its three parts.
func splitThreshold(text string) (threshold, error) {
	parts := thresholdSyntax.FindStringSubmatch(text)
	if parts == nil {
		return threshold{}, fmt.Errorf("%q is no threshold; allowed: METRIC OPERATOR VALUE, such as e2e_p99 > 50ms, "+
			"with one of %s", text, allowedOperators)
	}
	name, op, limit := parts[1], operator(parts[2]), parts[3]
	metric, err := results.MetricNamed(name)
	if err != nil {
		return threshold{}, err
	}
	return threshold{text: strings.Join(strings.Fields(text), " "), metric: metric, operator: op, limit: limit}, nil
}

// total is an amount that is 100 %.
type total int

const (
	noTotal total = iota // the metric is no share of anything
	sentMessages
	dueMessages
	expectedMessages
	offeredRate
	expectedReceiveRate // if no message were late: with three subscriptions three times the offered rate
	oneCore
)

// shareTotals gives, by the key of a metric, the total of which its value can be a share.
var shareTotals = map[string]total{
	results.KeyAcked: sentMessages, results.KeyFailed: sentMessages, results.KeyUnresolved: sentMessages,
	results.KeyResent: sentMessages, results.KeySent: dueMessages, results.KeyUnsent: dueMessages,
	results.KeyReceived: expectedMessages, results.KeyLost: expectedMessages, results.KeyLostAcked: expectedMessages,
	results.KeyDropped: expectedMessages, results.KeyDuplicated: expectedMessages, results.KeyReordered: expectedMessages, results.KeyCorrupted: expectedMessages,
	results.KeyPublishRate: offeredRate, results.KeyThroughput: offeredRate, results.KeyReceiveRate: expectedReceiveRate,
	results.KeyBrokerCPUUser: oneCore, results.KeyBrokerCPUSystem: oneCore,
	results.KeyProducerCPUUser: oneCore, results.KeyProducerCPUSystem: oneCore,
	results.KeyConsumerCPUUser: oneCore, results.KeyConsumerCPUSystem: oneCore,
}

// of returns the total in the metric's unit, or 0 if it is not known.
func (t total) of(r store.Record) float64 {
	if r.Result == nil {
		return 0
	}
	books := r.Result.Books
	switch t {
	case sentMessages:
		return float64(books.Sent)
	case dueMessages:
		return float64(books.Due)
	case expectedMessages:
		return float64(books.Expected)
	case offeredRate:
		return r.Result.OfferedRate
	case expectedReceiveRate:
		if books.Sent > 0 {
			return r.Result.OfferedRate * float64(books.Expected) / float64(books.Sent)
		}
	case oneCore:
		return 100 // the metrics are in % of a core
	}
	return 0
}

// crossedBy reports whether the condition is true of v.
func (c Condition) crossedBy(v float64) bool { return c.operator.holds(v, c.limit) }

// openWithin reports whether the condition is true of some values from low to high and false of others.
func (c Condition) openWithin(low, high float64) bool {
	limitWithin := low < c.limit && c.limit < high // for == and !=, on which both ends may agree
	return limitWithin || c.crossedBy(low) != c.crossedBy(high)
}

// known leaves out the records in which the value of the condition is not known.
func (c Condition) known(records []store.Record) []store.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r store.Record) bool {
		return math.IsNaN(c.metric.Of(r)) || (c.limitOn == onShare && c.total.of(r) <= 0)
	})
}

// values returns the metric, or its share, of the records in which it is known.
func (c Condition) values(records []store.Record) []float64 {
	var values []float64
	for _, r := range c.known(records) {
		v := c.metric.Of(r)
		if c.limitOn == onShare {
			v /= c.total.of(r)
		}
		values = append(values, v)
	}
	return values
}

// withoutOwn returns the median of what a latency was at least without the generator's own lag and pauses. Of other metrics it is the
// median of the values.
func (c Condition) withoutOwn(records []store.Record) float64 {
	if !c.metric.Latency() {
		return c.summarize(records).Median
	}
	values := lists.Map(c.known(records), c.metric.WithoutOwn)
	return results.Summarize(values).Median
}

// summarize sums up repetitions. Messages are counted together, because a median would hide a loss in one repetition: 1
// lost of 100 and 0 of 300 are 1 lost, or 0.25 %. Of everything else it is the median.
func (c Condition) summarize(records []store.Record) results.Summary {
	switch {
	case !c.metric.Counts() && c.limitOn == onShare:
		return results.Summarize(c.values(records)) // of rates, which have no errors of measurement
	case c.limitOn != onShare:
		return c.metric.Over(records)
	}
	counted, total := 0.0, 0.0
	known := c.known(records)
	for _, r := range known {
		counted += c.metric.Of(r)
		total += c.total.of(r)
	}
	share := counted / total
	return results.Summary{N: len(known), Median: share, Low: share, High: share, Summed: true}
}

// formatMedian writes the median of a summary: "≥ 10.3 s" if it is a lower bound.
func (c Condition) formatMedian(s results.Summary) string {
	if c.limitOn == onShare {
		return c.format(s.Median)
	}
	return s.Format(c.metric.Unit)
}

// format writes a value of the metric, or a share, for people.
func (c Condition) format(v float64) string {
	if c.limitOn == onShare {
		return unit.Share.Format(v)
	}
	return c.metric.Unit.Format(v)
}
