package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// shows says what the repetitions of each study can show: whether a test can find a difference, and an interval be made.
func shows(p plan) []string {
	var lines []string
	for _, s := range p.studies {
		line := "repetitions: " + repeatsText(s)
		if k := contenders(p.points, s.Name); k > 1 && s.Until == 0 {
			switch need := results.Needed(k); {
			case s.Repeats < need:
				line += fmt.Sprintf(", too few for a test between %d brokers to show any difference: --repeat %d would be enough", k, need)
			default:
				line += fmt.Sprintf(", enough for a test to show a difference between %d brokers", k)
			}
		}
		if s.Repeats < leastConfident {
			line += fmt.Sprintf("; a 95 %% interval of a median needs %d", leastConfident)
		}
		if s.Repeats == 1 && s.Source != "" {
			line += "; each claim is answered by that one run, without a spread"
		}
		if len(p.studies) > 1 {
			line = s.Name + ", " + line
		}
		lines = append(lines, strings.ToUpper(line[:1])+line[1:]+".")
	}
	return lines
}

func repeatsText(s *study.Study) string {
	if s.Until > 0 {
		return fmt.Sprintf("until the interval is within ±%s %% of the median, at most %d", percentText(s.Until), s.Repeats)
	}
	return fmt.Sprint(s.Repeats)
}

// contenders are the brokers that meet in a study.
func contenders(points []study.Point, name string) int {
	var brokers []string
	for _, p := range points {
		broker := p.Spec.Broker + "@" + p.Spec.Version
		if p.Study == name && !slices.Contains(brokers, broker) {
			brokers = append(brokers, broker)
		}
	}
	return len(brokers)
}
