// The answer at the end of a run: the report that answers what its points were made for, over all that is stored of them, and where
// more is to be seen.

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/reports"
)

// summary prints the report that answers what the points were made for, and where more is to be seen.
func (r *running) summary(p plan) error {
	records, err := r.store.Records(context.Background(), store.Filter{PointIDs: p.pointIDs()})
	if err != nil {
		return err
	}
	stored := map[string]study.Objectives{} // by point: those of its latest record, by which report judges
	for i := range records {
		point := records[i].PointID
		stored[point], records[i].Spec.Objectives = records[i].Spec.Objectives, r.asked[point]
	}
	set := results.Of(records)
	report, err := reports.Lookup(reportFor(p.points, set))
	if err != nil {
		return err
	}
	d, err := report.Build(set)
	if err != nil {
		return err
	}
	if err := r.sh.write(d, "table"); err != nil {
		return err
	}
	from := ""
	if r.store.Name() != defaultStore {
		from = " --store " + shellWord(r.store.Name())
	}
	more := "more: brokermark report" + from
	if report.Name == "claims" {
		more = "the paper's tables beside ours: brokermark report study" + from + "; every point: brokermark report" + from
	}
	_, err = fmt.Fprintf(r.sh.out, "\nStored in %s; %s\n%s", r.store.Name(), more, changedObjectives(stored, r.asked))
	return err
}

// changedObjectives returns a sentence with the number of points, which are the keys, whose stored objectives differ from those that were
// asked for; empty if there are none.
func changedObjectives(stored, asked map[string]study.Objectives) string {
	changed := 0
	for point, objectives := range stored {
		now, then := asked[point], objectives
		if len(now)+len(then) > 0 && written(now) != written(then) {
			changed++
		}
	}
	if changed == 0 {
		return ""
	}
	have := "have changed since these were"
	if changed == 1 {
		have = "have changed since it was"
	}
	return fmt.Sprintf("The objectives of %s %s measured: run used the new ones; report uses the stored ones.\n",
		unit.Counted(changed, "point"), have)
}

// written is what objectives are in JSON, in which 0 is the same from YAML and from a store.
func written(o study.Objectives) string {
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Sprint(o) // no bound that was read is such a value
	}
	return string(text)
}

// mostRows is how many load points the summary at the end of a run may have: with more, a terminal is no place to read it.
const mostRows = 40

// reportFor returns the name of the report that answers what points were made for.
func reportFor(points []study.Point, set *results.Set) string {
	faultless := func(p study.Point) bool { return len(p.Spec.Faults) == 0 }
	switch {
	case !slices.ContainsFunc(points, faultless):
		return "promise"
	case reports.AnswersClaims(set): // an experiment of a study may be about none
		return "claims"
	case len(results.LoadPointsOf(set.Points)) > mostRows:
		return "verdicts"
	}
	return reports.Default
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)
