// The explain report names what set the pace of every load that was as fast as it could be: of a search, the first rate above what it found;
// of a closed loop; of a rate that was missed. What docs/explain.md calls the limit comes with the evidence, and with what is next.
//
//	measured                           limit          seen                                       next  …  n
//	redis, 1 KiB, …, sustainable       broker-thread  one thread of the broker, redis-server, …  cpu      2

package reports

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

func init() {
	Register(Report{
		Name:  "explain",
		Doc:   "what set the pace of searches, closed loops and missed rates: the limit, the next one, and how each showed",
		Build: explainReport,
	})
}

// explained is a load of a point whose repetitions had the same limit.
type explained struct {
	load        results.LoadPoint
	limits      results.Limits // of the last of them
	repetitions int
}

func explainReport(set *results.Set) (document.Document, error) {
	d := document.Document{Title: "What was the limit"}
	d.Say(statusSentence(set.Points))
	var found []explained
	keptUp := 0
	for _, l := range results.LoadPointsOf(set.Points) {
		loads := explain(l)
		if len(loads) == 0 && l.Used() {
			keptUp++
		}
		found = append(found, loads...)
	}
	if len(found) > 0 {
		d.Add(tableOf("", explainColumns, found))
		d.Say("Each limit is what was seen, not what was proved: only a change of it, such as twice the window, shows that the rate moves.")
	}
	if keptUp > 0 {
		d.Say(fmt.Sprintf("Not in the table: %s at which the broker kept up, or at which nothing was looked for.", plural(keptUp, "load")))
	}
	return d, nil
}

// explain gathers the repetitions of a load by their limit. The list is empty if the load kept up.
func explain(l results.LoadPoint) []explained {
	var list []explained
	for _, r := range l.Records {
		limits, asked := results.LimitsOf(r)
		if !asked {
			continue
		}
		i := slices.IndexFunc(list, func(e explained) bool { return e.limits.Cause() == limits.Cause() })
		if i < 0 {
			i, list = len(list), append(list, explained{load: l})
		}
		list[i].limits, list[i].repetitions = limits, list[i].repetitions+1
	}
	return list
}

// place is the i-th of the limits, counted so that the limit is 0 and the next one 1: where none was reached, the nearest is the next.
func (e explained) place(i int) (cause, seen string) {
	if e.limits.Cause() == "" {
		i--
	}
	switch {
	case i < 0:
		return "none shown", ""
	case i < len(e.limits):
		return e.limits[i].Cause, e.limits[i].Seen
	}
	return "", ""
}

var explainColumns = slices.Concat(
	[]columnOf[explained]{
		textColumn(forPrograms("point_id"), func(e explained) string { return e.load.Point.ID }),
		textColumn(document.Column{Key: "measured", Name: "measured", Identifies: true, Wide: true},
			func(e explained) string {
				return e.load.Point.Name + ", " + e.load.Point.Setting() + ", " + e.load.RowTitle
			}),
	},
	placeColumns(0, "limit", "seen"),
	placeColumns(1, "next", "seen of it"),
	[]columnOf[explained]{repetitionsColumn(func(e explained) int { return e.repetitions })},
)

func placeColumns(i int, name, seen string) []columnOf[explained] {
	cause := func(e explained) string { cause, _ := e.place(i); return cause }
	evidence := func(e explained) string { _, seen := e.place(i); return seen }
	return []columnOf[explained]{
		textColumn(document.Column{Key: name, Name: name}, cause),
		textColumn(document.Column{Key: name + "_seen", Name: seen, Wide: true}, evidence),
	}
}
