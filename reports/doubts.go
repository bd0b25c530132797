// The doubts report lists all that there is to say against figures: every doubt of every point, and why repetitions didn't end ok. Tables
// of results have marks for those alone that could change a conclusion.
//
//	measured                       class      doubt          seen                                          n
//	kafka, 1 KiB, …, rate 1k/s     generator  generator-lag  up to 1.2ms of 9.1ms at p99 of the latency …  2

package reports

import (
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

func init() {
	Register(Report{
		Name:  "doubts",
		Doc:   "every reason to trust figures less, also those without a mark, and why repetitions didn't end ok",
		Build: doubtsReport,
	})
}

// pointFinding is a finding with its point.
type pointFinding struct {
	point results.Point
	results.CountedFinding
}

func doubtsReport(set *results.Set) (document.Document, error) {
	d := document.Document{Title: "Doubts"}
	d.Say(statusSentence(set.Points))
	found := lists.Flat(set.Points, func(p results.Point) []pointFinding {
		return lists.Map(p.Findings(), func(f results.CountedFinding) pointFinding { return pointFinding{point: p, CountedFinding: f} })
	})
	if len(found) == 0 {
		d.Say("There are no doubts about these figures.")
		return d, nil
	}
	d.Add(tableOf("", findingColumns, found))
	isFound := func(k *doubt.Kind) bool {
		return slices.ContainsFunc(found, func(f pointFinding) bool { return f.Class != "" && f.Code == k.Code() })
	}
	if meant := lists.Filter(doubt.All(), isFound); len(meant) > 0 {
		d.Add(tableOf("What they mean", kindColumns, meant))
	}
	return d, nil
}

var findingColumns = []columnOf[pointFinding]{
	textColumn(forPrograms("point_id"), func(f pointFinding) string { return f.point.ID }),
	textColumn(document.Column{Key: "measured", Name: "measured", Identifies: true, Wide: true},
		func(f pointFinding) string { return f.point.Name + ", " + f.point.Setting() + ", " + f.point.Load() }),
	textColumn(document.Column{Key: "class", Name: "class"}, func(f pointFinding) string { return f.Class }),
	textColumn(document.Column{Key: "doubt", Name: "doubt\nor ending"}, func(f pointFinding) string { return f.Code }),
	textColumn(document.Column{Key: "seen", Name: "seen", Wide: true}, func(f pointFinding) string { return f.Text }),
	numberColumn(document.Column{Key: "repetitions", Name: "n", Unit: unit.Count}, func(f pointFinding) int { return f.Repetitions }),
}

var kindColumns = []columnOf[*doubt.Kind]{
	textColumn(document.Column{Key: "class", Name: "class"}, func(k *doubt.Kind) string { return string(k.Class()) }),
	textColumn(document.Column{Key: "doubt", Name: "doubt", Identifies: true}, (*doubt.Kind).Code),
	textColumn(document.Column{Key: "means", Name: "means", Wide: true}, (*doubt.Kind).Sentence),
}
