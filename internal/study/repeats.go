package study

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

const (
	maxRepeats = 10_000
	// untilMost is the limit of repetitions for "until 5%" without an explicit one.
	untilMost = 20
)

var until = regexp.MustCompile(`^until\s+([0-9.]+)\s*%(?:\s*,?\s*(?:at most|or)\s+([0-9]+))?$`)

const repeatsAllowed = `allowed: 1 to 10000, or "until 5%" or "until 5%, at most 30"`

// parseRepeats parses Study.Repeats and Study.Until: "until 5%, at most 30" is 30 and 0.05, "3" is 3 and 0.
func parseRepeats(text string) (most int, share float64, err error) {
	text = strings.TrimSpace(text)
	if parts := until.FindStringSubmatch(text); parts != nil {
		most = untilMost
		percent, err := strconv.ParseFloat(parts[1], 64)
		if err == nil && parts[2] != "" {
			most, err = strconv.Atoi(parts[2])
		}
		share = percent / 100
		if err != nil || share <= 0 || share >= 1 || most < 1 || most > maxRepeats {
			return 0, 0, fmt.Errorf("%q is out of range; %s", text, repeatsAllowed)
		}
		return most, share, nil
	}
	if strings.HasPrefix(text, "until") {
		return 0, 0, fmt.Errorf("%q is no number of repetitions; %s", text, repeatsAllowed)
	}
	n, err := wholeNumber(text)
	if err == nil && (n < 1 || n > maxRepeats) {
		err = fmt.Errorf("%d is out of range; allowed: 1 to %d", n, maxRepeats)
	}
	return int(n), 0, err
}

// repeats decodes repeats into a study.
func (d decoder) repeats(n *yaml.Node, path string, s *Study) {
	if n = resolve(n); !isScalar(n) {
		d.add(d.at(n), path, "%s is not a whole number", Seen(n))
		return
	}
	most, share, err := parseRepeats(n.Value)
	if err != nil {
		d.add(d.at(n), path, "%v", err)
		return
	}
	s.Repeats, s.Until = most, share
}
