// The answer of brokermark advise in sentences: which contender to take and what was measured of it, or what is missing for an answer.

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// answerText is the answer in a sentence or two.
func answerText(a advise.Advice) string {
	names := lists.Map(a.Chosen, func(j *advise.Judged) string { return j.Name })
	switch a.Answer {
	case advise.Take:
		return fmt.Sprintf("Take %s. It %s", names[0], figuresOf(a, a.Chosen[0]))
	case advise.Either:
		return fmt.Sprintf("Take %s: they fit, and none is shown to be better by more than a tenth. %s %s",
			strings.Join(names, " or "), names[0], figuresOf(a, a.Chosen[0]))
	case advise.Undecided:
		if len(names) == 1 {
			return fmt.Sprintf("Undecided whether %s fits. %s", names[0], openText(a)) + leanText(a)
		}
		return fmt.Sprintf("Undecided between %s. %s", results.Enumerate(names), openText(a)) + leanText(a)
	case advise.None:
		if a.Nearest == nil {
			return "None of the contenders fits."
		}
		return fmt.Sprintf("None of the contenders fits. The nearest is %s: %s.", a.Nearest.Name, a.Nearest.Why)
	}
	return "Nothing was measured."
}

// openText says what would decide.
func openText(a advise.Advice) string {
	isOpen := func(j *advise.Judged) bool { return j.Standing == advise.Open }
	open := lists.Map(lists.Filter(a.Chosen, isOpen), func(j *advise.Judged) string { return j.Name + ": " + j.Why })
	more := "More repetitions"
	if a.Exhausted() {
		more = "No more repetitions are made. A quieter machine"
	}
	switch {
	case len(a.Chosen) == 1:
		return fmt.Sprintf("It isn't shown yet: %s. %s, or another bound, would decide.", a.Chosen[0].Why, more)
	case len(open) > 0:
		return fmt.Sprintf("%s. %s, or another bound, would decide.", strings.Join(open, "; "), more)
	}
	figures := lists.Map(a.Chosen, func(j *advise.Judged) string {
		figure := j.Name + " " + advise.Figure(a.By, j.Costs())
		if a.By.Key == results.KeyBrokerCPU && j.Cold() {
			figure, more = figure+" while it was still warming up", "A longer --hold"
		}
		return figure
	})
	return fmt.Sprintf("They fit, but their %s doesn't tell them apart yet: %s. %s would decide.", a.By.Name, strings.Join(figures, ", "), more)
}

// leanText says what the runs of an undecided answer point to, and what hindered them. It begins with a space unless it is empty.
func leanText(a advise.Advice) (text string) {
	if j := a.Lean; j != nil && j.Standing == advise.Fits {
		text = fmt.Sprintf(" Until then take %s, which fits", j.Name)
	} else if j != nil {
		text = fmt.Sprintf(" By its medians %s fits", j.Name)
	}
	if a.Lean != nil {
		text += "." + killText(a.Case, a.Lean)
	}
	busy, all := 0, 0
	for _, j := range a.Chosen {
		for _, r := range j.Used {
			all++
			if slices.Contains(results.DoubtClasses(r), doubt.Machine) {
				busy++
			}
		}
	}
	if 2*busy > all {
		text += fmt.Sprintf(" Something else used the machine in %d of %s: an idle machine needs fewer repetitions.", busy, unit.Counted(all, "repetition"))
	}
	return text
}

// figuresOf says what was measured of a contender, after its name, and compares it with the next one that fits.
func figuresOf(a advise.Advice, j *advise.Judged) string {
	p99 := results.MustMetric(results.KeyEndToEndP99)
	var loads []string
	for i, rate := range a.Case.Spec.Curve.Rates {
		loads = append(loads, fmt.Sprintf("%s with an e2e p99 of %s", results.RateText(rate), advise.Figure(p99, j.Loads[i])))
	}
	text := "carries " + strings.Join(loads, " and ") + "."
	text += roomText(a.Case, j)
	cost := results.MustMetric(results.KeyBrokerCPU)
	if own := cost.Over(j.Costs()); own.N > 0 {
		text += fmt.Sprintf(" Its broker CPU is %s per million messages", cost.Unit.Format(own.Median))
		for _, other := range a.Contenders {
			if next := cost.Over(other.Costs()); other != j && other.Standing == advise.Fits && next.N > 0 {
				d := results.DifferenceOf(cost, other.Costs(), j.Costs())
				text += ", " + d.ChangeFrom("that of "+other.Name)
				break
			}
		}
		text += "."
	}
	if chosenBy := a.By.Key; a.Answer == advise.Take && chosenBy != "" && chosenBy != cost.Key && cost.Over(j.Costs()).N > 0 {
		text += fmt.Sprintf(" Costs didn't tell the best ones apart, and %s did.", a.By.Name)
	}
	return text + killText(a.Case, j)
}

// killText says whether a contender that was killed kept its guarantee, or that it still has to be shown. It begins with a space unless it is empty.
func killText(c *advise.Case, j *advise.Judged) string {
	switch {
	case j.Survived > 0:
		return fmt.Sprintf(" Killed under load and started again (%s), it kept its guarantee.", unit.Counted(j.Survived, "time"))
	case c.Kills(j.Name):
		return " It was not killed under load yet."
	}
	return ""
}

// roomText says what the searches for the headroom found, those that found nothing included. It begins with a space unless it is empty.
func roomText(c *advise.Case, j *advise.Judged) string {
	times, found, ok := j.Room(c)
	switch {
	case !ok && j.InVain == 0:
		return ""
	case !ok:
		return fmt.Sprintf(" Its headroom was searched for (%s), and no higher rate passed.", unit.Counted(j.InVain, "time"))
	}
	of := "rate"
	if len(c.Spec.Curve.Rates) > 1 {
		of = "peak"
	}
	text := fmt.Sprintf(" It has room: it sustained %s, %s the %s", bracketText(found), unit.Factor.Format(times), of)
	if j.InVain > 0 {
		text += fmt.Sprintf(", in %d of %d searches; in the rest no higher rate passed", found.N, found.N+j.InVain)
	}
	return text + "."
}

func bracketText(b results.Bracket) string {
	return fmt.Sprintf("%s [%s] for %s", unit.PerSecond.Format(b.Median), unit.PerSecond.Range(b.Low, b.High), unit.Seconds.Format(b.Held))
}

// otherTexts says which others fit, and why the rest does not.
func otherTexts(a advise.Advice) string {
	var fit, running, gone []string
	for _, j := range a.Contenders {
		switch {
		case slices.Contains(a.Chosen, j), j == a.Nearest:
		case j.Standing == advise.Fits && j.Latest != nil && len(j.Latest.Spec.Attach) > 0:
			running = append(running, j.Name)
		case j.Standing == advise.Fits:
			fit = append(fit, j.Name)
		default:
			words := map[advise.Standing]string{advise.Open: "is undecided", advise.Misses: "misses the bound", advise.Out: "is ruled out"}
			gone = append(gone, fmt.Sprintf("%s %s: %s", j.Name, words[j.Standing], j.Why))
		}
	}
	return lists.Join(" ", listSentence("Also fits: ", fit, ", "), listSentence("Runs already, and fits, so that nothing has to move: ", running, ", "), listSentence("", gone, "; "))
}
