package maker

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Output is what a tool printed. It is read strictly: a figure that isn't there, or is no number, is an error and never 0.
type Output struct {
	lines []string
	err   error
}

// Last is the last line that a pattern matches, by its groups. If none does, all groups are empty and the output is in error.
func (o *Output) Last(pattern *regexp.Regexp) []string {
	for _, line := range slices.Backward(o.lines) {
		if m := pattern.FindStringSubmatch(line); m != nil {
			return m
		}
	}
	o.fail("it has no line like %.60s", pattern)
	return make([]string, pattern.NumSubexp()+1)
}

// Number reads a number, which may have commas between its thousands.
func (o *Output) Number(text string) float64 {
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
		o.fail("%q is no figure", text)
		return 0
	}
	return f
}

// Count reads a number of messages.
func (o *Output) Count(text string) int64 { return int64(o.Number(text)) }

// Numbers reads several numbers, times a factor, by names in their order.
func (o *Output) Numbers(texts []string, factor float64, names ...string) map[string]float64 {
	all := map[string]float64{}
	for i, name := range names {
		all[name] = factor * o.Number(texts[i])
	}
	return all
}

// fail keeps the first error: what follows from it says less.
func (o *Output) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf(format, args...)
	}
}
