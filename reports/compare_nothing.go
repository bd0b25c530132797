// Why two sides can't be compared: they have the same repetitions, or were given no work in common. Here every point of kafka was given
// messages of 100 B, and every point of jetstream messages of 1 KiB:
//
//	Nothing to compare: no point of kafka (5 records) has the message size, guarantee and load of a point of jetstream (5 records); they
//	differ in messageSize: 100 B and 1 KiB

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// NothingToCompare says why two sides can't be compared: one is part of the other, or no point of one was given the work of a point of the
// other. It is empty if they can.
func NothingToCompare(first, second Side, meantToDiffer ...string) string {
	return whyNothingToCompare(first, second, match(first, second, meantToDiffer))
}

func whyNothingToCompare(first, second Side, matched matches) string {
	const partOf = "Nothing to compare: every repetition of %s is one of %s, too"
	switch {
	case first.isPartOf(second):
		return fmt.Sprintf(partOf, first.nameAndSize(), second.nameAndSize())
	case second.isPartOf(first):
		return fmt.Sprintf(partOf, second.nameAndSize(), first.nameAndSize())
	case len(matched.pairs) > 0:
		return ""
	}
	shared := "message size, guarantee and load"
	if anyPublished(first, second) {
		shared = "study and place in it"
	}
	text := fmt.Sprintf("Nothing to compare: no point of %s has the %s of a point of %s", first.nameAndSize(), shared, second.nameAndSize())
	if anyPublished(first, second) {
		return text
	}
	if differences := alwaysDifferent(first, second); len(differences) > 0 {
		text += "; they differ in " + strings.Join(differences, "; ")
	}
	return text
}

// nameAndSize names a side and how much it holds: "kafka (5 records)".
func (s Side) nameAndSize() string {
	return fmt.Sprintf("%s (%s)", s.Name, unit.Counted(len(s.Set.Records), "record"))
}

// repetitionID identifies a repetition in any store: a copied store keeps the time at which it began.
func repetitionID(r results.Record) string {
	return fmt.Sprintf("%s %d %d", r.PointID, r.Repetition, r.Began.UnixNano())
}

// isPartOf reports whether the other side has all repetitions of this one.
func (s Side) isPartOf(other Side) bool {
	ofOther := map[string]bool{}
	for _, r := range other.Set.Records {
		ofOther[repetitionID(r)] = true
	}
	isMissing := func(r results.Record) bool { return !ofOther[repetitionID(r)] }
	return len(s.Set.Records) > 0 && !slices.ContainsFunc(s.Set.Records, isMissing)
}

// alwaysDifferent lists the settings of which the sides have no value in common, so that no workload of one matches one of the other, with
// the values of both: "delivery: at-least-once and at-most-once".
func alwaysDifferent(first, second Side) []string {
	var differences []string
	for _, path := range []string{"messageSize", "delivery", "measure", "load.rate", "load.shape"} {
		ofFirst, ofSecond := first.values(path), second.values(path)
		isShared := slices.ContainsFunc(ofFirst, func(v string) bool { return slices.Contains(ofSecond, v) })
		if len(ofFirst) > 0 && len(ofSecond) > 0 && !isShared {
			differences = append(differences, fmt.Sprintf("%s: %s and %s", path,
				strings.Join(results.Shorten(ofFirst), ", "), strings.Join(results.Shorten(ofSecond), ", ")))
		}
	}
	return differences
}

// values lists the values of a setting among the points of a side, each once.
func (s Side) values(path string) []string {
	values := lists.Map(s.Set.Points, func(p results.Point) string { return p.Facts()[path] })
	return lists.Filter(lists.AddNew(nil, values...), func(v string) bool { return v != "" })
}
