// The answer of brokermark tune, which is a part of the recommend report: which settings are better than the defaults, and which of them
// matter.
//
//	client.linger.ms=5 client.batch.size=131072 is better than the default: sustained 14.2k/s (13.9–14.6k/s) instead of …
//
//	setting           default  best    with another value                      mattered
//	client.linger.ms  1        5       0: 0.71× [0.66–0.77×]; 20: 0.93× […]    yes

package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/tune"
	"github.com/brokermark/brokermark/internal/unit"
)

// Tuning is the answer in one screen.
func Tuning(a tune.Answer) document.Document {
	d := document.Document{Title: "Tuning"}
	d.Say(tuningAsked(a))
	d.Add(document.Verdict{About: "Answer", Finding: tuningFinding(a), Detail: tuningDetail(a)})
	d.Add(effectsTable(a))
	if a.Default != nil {
		d.Say(doubtsLine("the best", a.Best.Ok()))
		d.Say(doubtsLine("the default", a.Default.Ok()))
	}
	if a.Verdict == tune.Better {
		ok := a.Best.Ok()
		addSettings(&d, ok[len(ok)-1].Spec.Broker, ok[len(ok)-1])
	}
	return d
}

// TuningRecord is the answer with all that it rests on.
func TuningRecord(a tune.Answer, records []results.Record) document.Document {
	d := Tuning(a)
	set := results.Of(records)
	d.Add(document.Heading{Level: 1, Text: "Doubts"})
	d.Say(lists.Join(" ", statusSentence(set.Points), doubtsSentence(set.Points)))
	d.Add(document.Heading{Level: 1, Text: "The race"})
	d.Say("Repetitions of a stage took turns. A candidate left when it was shown to be behind the best of its stage, missed a bound or " +
		"failed; that it is better than the default is concluded from the confirmations only, which are none of these repetitions.")
	for i, s := range a.Stages {
		d.Add(entriesTable(a.Case, fmt.Sprintf("Stage %d", i+1), s.Entries))
	}
	if a.Default != nil {
		d.Add(entriesTable(a.Case, "Confirmations", []*tune.Entry{a.Default, a.Best}))
	}
	return d
}

// addTunings adds the answers of which a set has the records.
func addTunings(d *document.Document, set *results.Set) (found bool) {
	for _, c := range tune.Cases(set.Records) {
		own := lists.Filter(set.Records, func(r results.Record) bool { return r.Study == c.Study })
		here, _ := advise.OriginOf(own[len(own)-1]).Split(own)
		d.Add(document.Heading{Level: 1, Text: "Which settings to take"})
		d.Add(TuningRecord(c.Decide(here), here).Blocks...)
		found = true
	}
	return found
}

// ofTuning reports whether a point is one of a tuning.
func ofTuning(p results.Point) bool { return strings.HasPrefix(p.Records[0].Study, tune.StudyPrefix) }

func tuningAsked(a tune.Answer) string {
	bounds := lists.Map(a.Case.Bounds, func(b gate.Condition) string { return b.Text })
	direction := "a lower "
	if a.Case.Goal.Better == results.Higher {
		direction = "a higher "
	}
	text := "Asked for: " + direction + a.Case.Goal.Name
	for _, s := range a.Stages {
		for _, e := range s.Entries {
			if len(e.Records) > 0 {
				spec := e.Records[0].Spec
				text += fmt.Sprintf(" of %s, messages of %s, %s, persistence %s",
					spec.Broker, spec.MessageSize.Summary(), spec.Delivery, spec.Persistence)
				if search := spec.Sustainable; spec.Measure == "sustainable" && search.Latency > 0 {
					bounds = append(bounds, fmt.Sprintf("e2e p%g ≤ %s", 100*search.Quantile, search.Latency))
				}
				if len(bounds) > 0 {
					text += ", subject to " + strings.Join(bounds, " and ")
				}
				return text + "."
			}
		}
	}
	return text + "."
}

func tuningFinding(a tune.Answer) string {
	switch a.Verdict {
	case tune.Better:
		return fmt.Sprintf("%s is better than the default: %s.%s", a.Best.Name, gainText(a), priceText(a))
	case tune.Nothing:
		return "Nothing better than the default was shown."
	case tune.Open:
		return fmt.Sprintf("Not confirmed: %s was the best of the race. %s.", a.Best.Name, results.Capital(a.Why))
	}
	return "Nothing was measured."
}

// gainText compares the goal of the best with that of the default, by the confirmations.
func gainText(a tune.Answer) string {
	best, usual := a.Best.Ok(), a.Default.Ok()
	text := fmt.Sprintf("%s %s", a.Case.Goal.Name, advise.Figure(a.Case.Goal, best))
	if len(usual) > 0 {
		text += " instead of " + advise.Figure(a.Case.Goal, usual)
	}
	if !math.IsNaN(a.Gain.Estimate) {
		text += ", " + changeText(a.Gain)
	}
	return text + fmt.Sprintf(" (%s each)", unit.Counted(len(best), "fresh repetition"))
}

// priceText gives the bounded metrics of the best beside those of the default, of the same confirmations: a gain may cost some of them. It
// begins with a space unless it is empty.
func priceText(a tune.Answer) (text string) {
	var said []string
	for _, b := range a.Case.Bounds {
		m, _, _ := b.Bound()
		if m.Key == a.Case.Goal.Key || slices.Contains(said, m.Key) || len(a.Default.Ok()) == 0 {
			continue
		}
		said = append(said, m.Key)
		text += fmt.Sprintf(" With it %s is %s instead of %s.", m.Name, advise.Figure(m, a.Best.Ok()), advise.Figure(m, a.Default.Ok()))
	}
	return text
}

// changeText is a ratio with its interval, if it has one: "1.42× [1.30–1.55×]".
func changeText(d results.Difference) string {
	if d.Low == 0 || math.IsInf(d.High, 1) {
		return unit.Factor.Format(d.Estimate)
	}
	return withInterval(d.Estimate, d.Low, d.High)
}

func tuningDetail(a tune.Answer) string {
	candidates, repetitions := map[string]bool{}, 0
	for _, s := range a.Stages {
		repetitions += s.Repetitions()
		for _, e := range s.Entries {
			candidates[e.Name] = true
		}
	}
	text := fmt.Sprintf("%s raced in %s.", unit.Counted(len(candidates), "candidate"), unit.Counted(repetitions, "repetition"))
	switch {
	case a.Verdict == tune.Nothing && a.Default != nil:
		text += fmt.Sprintf(" The best of the race was %s; confirmed: %s.", a.Best.Name, lists.Join("; ", gainText(a), a.Why))
	case a.Verdict == tune.Better && a.Why != "" || a.Verdict == tune.Nothing:
		text += " " + results.Capital(a.Why) + "."
	}
	return text
}

// effectsTable has a row for each setting.
func effectsTable(a tune.Answer) document.Table {
	valueIn := func(of *tune.Entry, e tune.Effect) string {
		for k, knob := range a.Case.Knobs {
			if of != nil && knob.Path == e.Knob.Path {
				return knob.Values[of.Candidate[k]]
			}
		}
		return ""
	}
	best := func(e tune.Effect) string { return valueIn(a.Best, e) }
	return tableOf("", []columnOf[tune.Effect]{
		textColumn(document.Column{Key: "setting", Name: "setting", Identifies: true}, func(e tune.Effect) string { return e.Knob.Path }),
		textColumn(document.Column{Key: "default", Name: "default"}, func(e tune.Effect) string { return e.Knob.Values[0] }),
		textColumn(document.Column{Key: "best", Name: "best"}, best),
		textColumn(document.Column{Key: "change", Name: a.Case.Goal.Name + " with other values", Wide: true}, func(e tune.Effect) string {
			var texts []string
			for _, c := range e.Changes {
				value := c.Value
				if around := valueIn(e.Around, e); around != best(e) {
					value += " instead of " + around
				}
				texts = append(texts, fmt.Sprintf("%s: %s", value, changeText(c.Difference)))
			}
			return strings.Join(texts, "; ")
		}),
		textColumn(document.Column{Key: "mattered", Name: "mattered"}, tune.Effect.Shown),
	}, a.Effects)
}

func entriesTable(c *tune.Case, title string, entries []*tune.Entry) document.Table {
	return tableOf(title, []columnOf[*tune.Entry]{
		textColumn(document.Column{Key: "candidate", Name: "candidate", Identifies: true, Wide: true},
			func(e *tune.Entry) string { return e.Name }),
		cellColumn(results.Column(c.Goal.Key), func(e *tune.Entry) document.Cell { return c.Goal.Over(e.Ok()).Cell() }),
		repetitionsColumn(func(e *tune.Entry) int { return len(e.Ok()) }),
		textColumn(document.Column{Key: "left", Name: "left, because", Wide: true}, func(e *tune.Entry) string { return e.Left }),
	}, entries)
}
