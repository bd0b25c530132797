package study

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// isRate reports whether a setting is in messages per second. Such settings may be written as reports print them: 20k/s.
func isRate(path string) bool {
	name := path[strings.LastIndexByte(path, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	return slices.Contains([]string{"rate", "to", "maxRate", "rates", "producerRate"}, name)
}

// thousandsIn suggests a spelling for values that may be one number with commas between its thousands: 5,000 parsed as the values
// 5 and 000 or, for a rate, 10,500 as 10 and 500. It is empty if they are real values.
func thousandsIn(path string, values []string) string {
	text := strings.Join(values, ",")
	if !groups.MatchString(text) {
		return ""
	}
	number := strings.ReplaceAll(text, ",", "")
	if slices.ContainsFunc(values[1:], func(v string) bool { return v[0] == '0' }) {
		return fmt.Sprintf("%s are %d values, the last one %s; a number has no commas: %s", text, len(values), values[len(values)-1], number)
	}
	if one, err := ParseRate(number); isRate(path) && err == nil && one <= maxRate {
		return fmt.Sprintf("%s may be one rate or %d; allowed: %s for one, %s/s for %d", text, len(values), number, strings.Join(values, "/s,"), len(values))
	}
	return ""
}

// groups matches a whole number with commas between its thousands.
var groups = regexp.MustCompile(`^[1-9][0-9]{0,2}(,[0-9]{3})+$`)

// thousands are the suffixes of rates.
var thousands = map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9}

// ParseRate parses messages per second: 20000, 20k or 20k/s.
func ParseRate(text string) (float64, error) {
	number := strings.TrimSpace(strings.TrimSuffix(text, "/s"))
	factor := 1.0
	for suffix, f := range thousands {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, factor = strings.TrimSpace(rest), f
			break
		}
	}
	rate, err := strconv.ParseFloat(yamlSpecials.Replace(number), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a rate; allowed: messages per second, such as 20000, 20k or 20k/s", text)
	}
	return rate * factor, nil
}
