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

// Condition is a threshold: a metric and a limit. A result beyond it fails the gate.
type Condition struct {
	Text   string // as it was written
	metric results.Metric
	beyond string  // > >= < <= == !=
	limit  float64 // in the metric's unit, or a share
	share  func(store.Record) float64
}

// operators are the longest first, so that >= is not taken for >.
var operators = []string{">=", "<=", "==", "!=", ">", "<"}

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

func split(text string) (Condition, string, error) {
	parts := written.FindStringSubmatch(text)
	if parts == nil || parts[1] == "" || parts[3] == "" {
		return Condition{}, "", fmt.Errorf("%q is no threshold; allowed: METRIC OPERATOR VALUE, such as e2e_p99 > 50ms, with one of %s", text, strings.Join(operators, " "))
	}
	m, err := results.MetricNamed(parts[1])
	return Condition{Text: strings.Join(strings.Fields(text), " "), metric: m, beyond: parts[2]}, parts[3], err
}

// shareOf is the amount that 100 % of a metric stands for. It is nil for metrics that are no share of anything.
func shareOf(m results.Metric) func(store.Record) float64 {
	switch m.Key {
	case "acked", "failed", "unresolved", "resent":
		return whole(func(r *store.Result) float64 { return float64(r.Books.Sent) })
	case "sent", "unsent":
		return whole(func(r *store.Result) float64 { return float64(r.Books.Due) })
	case "received", "lost", "lost_acked", "duplicated", "reordered", "corrupted":
		return whole(func(r *store.Result) float64 { return float64(r.Books.Expected) })
	case "broker_cpu_user_pct", "broker_cpu_system_pct", "producer_cpu_user_pct", "producer_cpu_system_pct", "consumer_cpu_user_pct", "consumer_cpu_system_pct":
		return func(store.Record) float64 { return 100 } // of one core
	case "publish_rate":
		return whole(func(r *store.Result) float64 { return r.OfferedRate })
	case "receive_rate":
		return whole(func(r *store.Result) float64 {
			if r.Books.Sent == 0 {
				return 0
			}
			return r.OfferedRate * float64(r.Books.Expected) / float64(r.Books.Sent)
		})
	}
	return nil
}

// whole is NaN if there is nothing to take a share of.
func whole(of func(*store.Result) float64) func(store.Record) float64 {
	return func(r store.Record) float64 {
		if r.Result == nil || of(r.Result) <= 0 {
			return math.NaN()
		}
		return of(r.Result)
	}
}

func percent(value string) (float64, error) {
	v, err := finite(strings.TrimSpace(strings.TrimSuffix(value, "%")))
	if err != nil {
		return 0, fmt.Errorf("%q is no percentage; allowed: a number such as -5%%", value)
	}
	return v / 100, nil
}

// quantity reads a value in a metric's unit.
func quantity(u unit.Unit, value string) (float64, error) {
	wrong := func() error { return fmt.Errorf("%q is no value here; allowed: %s", value, example(u)) }
	if strings.HasPrefix(value, "-") {
		return 0, fmt.Errorf("%q is negative, which no measurement is; allowed: %s", value, example(u))
	}
	switch u {
	case unit.Nanoseconds, unit.Seconds:
		d, err := time.ParseDuration(strings.ReplaceAll(value, " ", ""))
		if err != nil {
			return 0, wrong()
		}
		if u == unit.Seconds {
			return d.Seconds(), nil
		}
		return float64(d), nil
	case unit.Bytes:
		size, err := study.ParseSize(value)
		if err != nil {
			return 0, wrong()
		}
		return float64(size), nil
	case unit.PerSecond:
		value = strings.TrimSpace(strings.TrimSuffix(value, "/s"))
	case unit.CPUSeconds:
		value = strings.TrimSpace(strings.TrimSuffix(value, "s"))
	}
	factor := 1.0
	for suffix, f := range map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9} {
		if u != unit.CPUSeconds && strings.HasSuffix(value, suffix) {
			value, factor = strings.TrimSpace(strings.TrimSuffix(value, suffix)), f
			break // one is allowed, in whatever order they are tried
		}
	}
	v, err := finite(value)
	if err != nil {
		return 0, wrong()
	}
	return v * factor, nil
}

func finite(value string) (float64, error) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(value, "_", ""), 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		return 0, strconv.ErrRange
	}
	return v, err
}

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

// crossed tells that v is beyond the limit.
func (c Condition) crossed(v float64) bool {
	switch c.beyond {
	case ">":
		return v > c.limit
	case ">=":
		return v >= c.limit
	case "<":
		return v < c.limit
	case "<=":
		return v <= c.limit
	case "==":
		return v == c.limit // the user asked for equality, such as received == 0
	}
	return v != c.limit
}

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

// counts tells that the metric counts messages, which are summed over repetitions.
func (c Condition) counts() bool { return c.metric.Unit == unit.Count }

// over is the metric, or its share, over repetitions: of counts the sum, or the sum's share of the summed whole, of
// everything else the median.
func (c Condition) over(records []store.Record) results.Summary {
	switch {
	case !c.counts():
		return results.Summarize(c.values(records))
	case c.share == nil:
		return c.metric.Over(records)
	}
	n, sum, whole := 0, 0.0, 0.0
	for _, r := range records {
		if v, w := c.metric.Of(r), c.share(r); !math.IsNaN(v + w) {
			n, sum, whole = n+1, sum+v, whole+w
		}
	}
	return results.Summary{N: n, Median: sum / whole}
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
