package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// isRate tells that a number is of messages per second. Such settings may be written as reports print them: 20k/s.
func isRate(path string) bool {
	name := path[strings.LastIndexByte(path, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	return slices.Contains([]string{"rate", "to", "maxRate", "rates", "producerRate"}, name)
}

// thousands are the suffixes of rates.
var thousands = map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9}

// parseRate reads messages per second: 20000, 20k or 20k/s.
func parseRate(text string) (float64, error) {
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
