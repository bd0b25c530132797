// Package gate judges stored results by thresholds, for machines that decide on them. It knows records and metrics,
// and nothing of how either came about or of what is done about a verdict.
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
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// Condition is a threshold: a metric, an operator and a limit. A result beyond it fails the gate.
type Condition struct {
	Text   string // as it was written
	metric results.Metric
	beyond operator                   // "> 50ms": values above 50ms are beyond
	limit  float64                    // in the metric's unit, or as a share of share's amount: 0.01 for 1 %
	share  func(store.Record) float64 // the amount that is 100 %, NaN if it is not known; nil if the limit is no share
}

// operator compares a value with a limit.
type operator string

// operators are all that there are, the longest first, so that >= is not taken for >.
var operators = []operator{">=", "<=", "==", "!=", ">", "<"}

// holds compares. Values are compared exactly: who asks for received == 0 wants to know about one message.
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
	}
	return v != limit
}

var written = regexp.MustCompile(`^\s*([A-Za-z0-9_.]*)\s*(>=|<=|==|!=|>|<)\s*(.*?)\s*$`)

// Parse reads a threshold on a point: a metric's key, with or without its unit, an operator, and a value with its unit.
// Counts of messages and rates may also be bounded by a share in %.
//
//	e2e_p99 > 50ms    sustainable < 10k/s    lost > 0    duplicated >= 0.01%    publish_rate < 99%    broker_rss > 1GiB
func Parse(text string) (Condition, error) {
	c, value, err := split(text)
	if err != nil {
		return c, err
	}
	if strings.HasSuffix(value, "%") {
		if c.share = shareOf(c.metric); c.share == nil {
			return c, fmt.Errorf("%s is no share of anything, so %s can't bound it; allowed: %s", c.metric.Key, value, example(c.metric.Unit))
		}
		c.limit, err = percent(value)
		return c, err
	}
	c.limit, err = quantity(c.metric.Unit, value)
	return c, err
}

// ParseChange reads a threshold on how much a metric changes from one side of a comparison to the other.
//
//	sustainable < -5%    e2e_p99 > +10%
func ParseChange(text string) (Condition, error) {
	c, value, err := split(text)
	if err != nil {
		return c, err
	}
	if !strings.HasSuffix(value, "%") {
		return c, fmt.Errorf("%q is no change; allowed: a percentage such as %s > 10%% or %s < -5%%", value, c.metric.Key, c.metric.Key)
	}
	c.limit, err = percent(value)
	return c, err
}

// split reads the metric and the operator of a threshold, and returns its value as it was written.
func split(text string) (c Condition, value string, err error) {
	parts := written.FindStringSubmatch(text)
	if parts == nil || parts[1] == "" || parts[3] == "" {
		return Condition{}, "", fmt.Errorf("%q is no threshold; allowed: METRIC OPERATOR VALUE, such as e2e_p99 > 50ms, with one of %s", text, joined(operators))
	}
	m, err := results.MetricNamed(parts[1])
	return Condition{Text: strings.Join(strings.Fields(text), " "), metric: m, beyond: operator(parts[2])}, parts[3], err
}

func joined(operators []operator) string {
	var texts []string
	for _, o := range operators {
		texts = append(texts, string(o))
	}
	return strings.Join(texts, " ")
}

// shareOf gives the amount of which a metric can be a share: of messages lost those that were expected. It is nil for metrics that are
// no share of anything.
func shareOf(m results.Metric) func(store.Record) float64 {
	switch m.Key {
	case results.KeyAcked, results.KeyFailed, results.KeyUnresolved, results.KeyResent:
		return amount(func(r *store.Result) float64 { return float64(r.Books.Sent) })
	case results.KeySent, results.KeyUnsent:
		return amount(func(r *store.Result) float64 { return float64(r.Books.Due) })
	case results.KeyReceived, results.KeyLost, results.KeyLostAcked, results.KeyDuplicated, results.KeyReordered, results.KeyCorrupted:
		return amount(func(r *store.Result) float64 { return float64(r.Books.Expected) })
	case results.KeyBrokerCPUUser, results.KeyBrokerCPUSystem, results.KeyProducerCPUUser, results.KeyProducerCPUSystem, results.KeyConsumerCPUUser, results.KeyConsumerCPUSystem:
		return func(store.Record) float64 { return 100 } // of one core
	case results.KeyPublishRate:
		return amount(func(r *store.Result) float64 { return r.OfferedRate })
	case results.KeyReceiveRate:
		return amount(func(r *store.Result) float64 {
			if r.Books.Sent == 0 {
				return 0
			}
			return r.OfferedRate * float64(r.Books.Expected) / float64(r.Books.Sent)
		})
	}
	return nil
}

// amount reads what shares are taken of. It is NaN if there is nothing to take a share of.
func amount(of func(*store.Result) float64) func(store.Record) float64 {
	return func(r store.Record) float64 {
		if r.Result == nil || of(r.Result) <= 0 {
			return math.NaN()
		}
		return of(r.Result)
	}
}

// percent reads a percentage as a share: 0.05 for "5%".
func percent(value string) (float64, error) {
	v, err := finite(strings.TrimSpace(strings.TrimSuffix(value, "%")))
	if err != nil {
		return 0, fmt.Errorf("%q is no percentage; allowed: a number such as -5%%", value)
	}
	return v / 100, nil
}

// quantity reads a value in a metric's unit.
func quantity(u unit.Unit, value string) (float64, error) {
	if strings.HasPrefix(value, "-") {
		return 0, fmt.Errorf("%q is negative, which no measurement is; allowed: %s", value, example(u))
	}
	var v float64
	var err error
	switch u {
	case unit.Nanoseconds, unit.Seconds:
		var d time.Duration
		d, err = time.ParseDuration(strings.ReplaceAll(value, " ", ""))
		v = float64(d)
		if u == unit.Seconds {
			v = d.Seconds()
		}
	case unit.Bytes:
		var size study.Size
		size, err = study.ParseSize(value)
		v = float64(size)
	case unit.CPUSeconds:
		v, err = finite(strings.TrimSpace(strings.TrimSuffix(value, "s")))
	case unit.PerSecond:
		v, err = decimal(strings.TrimSpace(strings.TrimSuffix(value, "/s")))
	default:
		v, err = decimal(value)
	}
	if err != nil {
		return 0, fmt.Errorf("%q is no value here; allowed: %s", value, example(u))
	}
	return v, nil
}

// decimal reads a number that may end with k, M or G: "10k" is 10,000.
func decimal(value string) (float64, error) {
	for _, scale := range []struct {
		suffix string
		factor float64
	}{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}} {
		if number, ok := strings.CutSuffix(value, scale.suffix); ok {
			v, err := finite(strings.TrimSpace(number))
			return v * scale.factor, err
		}
	}
	return finite(value)
}

// finite reads a number. Digits may be grouped by underscores.
func finite(value string) (float64, error) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(value, "_", ""), 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		return 0, strconv.ErrRange
	}
	return v, err
}

// example says how values of a unit are written.
func example(u unit.Unit) string {
	switch u {
	case unit.Nanoseconds, unit.Seconds:
		return "a time with its unit, such as 50ms or 300µs"
	case unit.Bytes:
		return "bytes, such as 200MiB"
	case unit.PerSecond:
		return "a rate, such as 10k/s or 25000"
	case unit.CPUSeconds:
		return "CPU seconds per million messages, such as 1.5s"
	}
	return "a number, such as 0 or 10k"
}

// crossed tells whether v is beyond the limit.
func (c Condition) crossed(v float64) bool { return c.beyond.holds(v, c.limit) }

// values are those of the metric, or its shares, unknown ones left out.
func (c Condition) values(records []store.Record) []float64 {
	var values []float64
	for _, r := range records {
		v := c.metric.Of(r)
		if c.share != nil {
			v /= c.share(r)
		}
		if !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// over is the metric, or its share, over repetitions. Counts are summed, or the share is that of their sum in the sum of all amounts;
// everything else is the median (decision 015).
func (c Condition) over(records []store.Record) results.Summary {
	switch {
	case !c.metric.Counts():
		s := results.Summarize(c.values(records))
		s.Bound = c.metric.Bound(records)
		return s
	case c.share == nil:
		return c.metric.Over(records)
	}
	n, counted, of := 0, 0.0, 0.0
	for _, r := range records {
		if v, amount := c.metric.Of(r), c.share(r); !math.IsNaN(v) && !math.IsNaN(amount) {
			n, counted, of = n+1, counted+v, of+amount
		}
	}
	return results.Summary{N: n, Median: counted / of}
}

// show writes a value of the condition for people.
func (c Condition) show(v float64) string {
	if c.share != nil {
		return unit.Share.Format(v)
	}
	return c.metric.Unit.Format(v)
}

// ParseAll reads thresholds with one of the parsers, leaving out those written twice.
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
