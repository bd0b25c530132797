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
	// untilMost is how many repetitions "until 5%" makes at most where no other limit is given.
	untilMost = 20
)

// Repeats is how often every point is measured: so many times, or until the interval of what it is measured for is as narrow
// as asked for, and at most so many times.
type Repeats struct {
	Most  int
	Until float64 // half the interval's width as a share of the median; 0: always Most times
}

var until = regexp.MustCompile(`^until\s+([0-9.]+)\s*%(?:\s*,?\s*(?:at most|or)\s+([0-9]+))?$`)

const repeatsAllowed = `allowed: 1 to 10000, or "until 5%" or "until 5%, at most 30"`

func parseRepeats(text string) (Repeats, error) {
	text = strings.TrimSpace(text)
	if parts := until.FindStringSubmatch(text); parts != nil {
		r := Repeats{Most: untilMost}
		percent, err := strconv.ParseFloat(parts[1], 64)
		if err == nil && parts[2] != "" {
			r.Most, err = strconv.Atoi(parts[2])
		}
		if r.Until = percent / 100; err != nil || r.Until <= 0 || r.Until >= 1 || r.Most < 1 || r.Most > maxRepeats {
			return r, fmt.Errorf("%q is out of range; %s", text, repeatsAllowed)
		}
		return r, nil
	}
	if strings.HasPrefix(text, "until") {
		return Repeats{}, fmt.Errorf("%q is no number of repetitions; %s", text, repeatsAllowed)
	}
	n, err := wholeNumber(text)
	switch {
	case err != nil:
		return Repeats{}, err
	case n < 1 || n > maxRepeats:
		return Repeats{}, fmt.Errorf("%d is out of range; allowed: 1 to %d", n, maxRepeats)
	}
	return Repeats{Most: int(n)}, nil
}

// repeats decodes repeats into a study.
func (d decoder) repeats(n *yaml.Node, path string, s *Study) {
	if n = resolve(n); n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.add(d.at(n), path, "%s is not a whole number", Seen(n))
		return
	}
	r, err := parseRepeats(n.Value)
	if err != nil {
		d.add(d.at(n), path, "%v", err)
		return
	}
	s.Repeats, s.Until = r.Most, r.Until
}
