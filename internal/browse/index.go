// The first page of the site: the runs that the store holds, a form for a report of a selection, such as
// "study=smoke,began=2026-10-01", and a form that compares two sides, such as "kafka" and "nats".

package browse

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/reports"
)

// contents fills in index.html, the first page of the site.
type contents struct {
	Store     string
	Summary   string // "2 runs, 40 repetitions"
	UnderWay  string // the repetitions under way; empty if there are none
	LivePages []livePage
	Runs      []run
	Reports   []reports.Report
	Settings  []string // by which records can be selected: "client.linger.ms"
	Sides     []string // selections that can be compared: "kafka", "client.linger.ms=5"
}

// livePage shows a run that is under way.
type livePage struct {
	URL  string // empty if only another machine can open the page
	Host string
}

// run is a line of the list: the repetitions of a study that began on a day.
type run struct {
	Study, Day  string
	Brokers     string // "kafka, nats"
	Points      int
	Repetitions int
	Endings     string // "5 ok, 1 void"
	Where       string // selects its records
}

// index writes the first page.
func (s site) index(out *bytes.Buffer, r *http.Request) error {
	records, err := s.read(r.Context(), "")
	if err != nil {
		return err
	}
	running, err := s.Running(r.Context())
	if err != nil {
		return err
	}
	c := contents{Store: s.Name, UnderWay: underWayText(running.Claims, records), Runs: runsOf(records), Reports: reports.All()}
	c.LivePages = lists.Map(running.Pages, s.livePage)
	repetitions := 0
	for _, r := range c.Runs {
		repetitions += r.Repetitions
	}
	c.Summary = unit.Counted(len(c.Runs), "run") + ", " + unit.Counted(repetitions, "repetition")

	values := results.Selectable(records) // of each setting
	c.Settings = severalValued(values)
	c.Sides = sidesOf(values, c.Settings, c.Runs)
	return templates.ExecuteTemplate(out, "index.html", c)
}

// livePage leaves out a loopback address of another machine: opened here, it would be another page, or none.
func (s site) livePage(p store.Page) livePage {
	u, err := url.Parse(p.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return livePage{Host: p.Host}
	}
	isLoopback := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	if isLoopback && p.Host != s.Host {
		return livePage{Host: p.Host}
	}
	return livePage{URL: p.URL, Host: p.Host}
}

// underWayText counts the repetitions under way, and names those whose points have earlier repetitions:
// "2 repetitions under way: kafka 100 B (repetition 4)". It is empty if there are none.
func underWayText(claims []store.Claim, records []store.Record) string {
	if len(claims) == 0 {
		return ""
	}
	labels := map[string]string{} // of points, by ID
	for _, r := range records {
		labels[r.PointID] = r.Label
	}
	labelled := lists.Filter(claims, func(c store.Claim) bool { return labels[c.PointID] != "" })
	named := lists.Map(labelled, func(c store.Claim) string { return fmt.Sprintf("%s (repetition %d)", labels[c.PointID], c.Repetition) })
	text := unit.Counted(len(claims), "repetition") + " under way"
	if len(named) > 0 {
		text += ": " + strings.Join(named, ", ")
	}
	return text
}

// severalValued lists the settings of which the records have several values. values has those of each setting.
func severalValued(values map[string][]string) []string {
	return lists.Filter(slices.Sorted(maps.Keys(values)), func(setting string) bool { return len(values[setting]) > 1 })
}

// maxValues is how many values a setting may have for each to be offered as a side of a comparison.
const maxValues = 12

// sidesOf lists the selections that can be compared: brokers, values of other settings, and runs.
func sidesOf(values map[string][]string, settings []string, runs []run) []string {
	sides := slices.Clone(values["broker"])
	for _, setting := range settings {
		switch setting {
		case "broker", "began", "point": // brokers are listed already, and the others tell runs and their points apart
			continue
		}
		if len(values[setting]) > maxValues {
			continue
		}
		sides = append(sides, lists.Map(values[setting], func(v string) string { return setting + "=" + v })...)
	}
	return append(sides, lists.Map(runs, func(r run) string { return r.Where })...)
}

// runsOf lists the studies by the day on which their repetitions began, the latest day first.
func runsOf(records []store.Record) []run {
	byDay := results.GroupBy(records, func(r store.Record) string { return dayOf(r) + r.Study })
	runs := lists.Map(byDay, func(g results.Group[store.Record]) run { return runOf(g.Members) })
	slices.SortFunc(runs, func(a, b run) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Study, b.Study))
	})
	return runs
}

func dayOf(r store.Record) string { return r.Began.UTC().Format(time.DateOnly) }

// runOf sums up the records of one study and day, without those that a later one supersedes: the report behind it leaves them out.
func runOf(records []store.Record) run {
	records = results.Latest(records)
	study, day := records[0].Study, dayOf(records[0])
	where := "study=" + study + ",began=" + day
	if len(results.SelectionNames(where)) > 2 { // the study's name, such as "a,b=c", would be two terms
		where = "began=" + day // with other studies of the day: no selection can name this one alone
	}
	points, brokers := map[string]bool{}, map[string]bool{}
	withStatus := map[store.Status]int{} // how many records have it
	for _, r := range records {
		points[r.PointID], brokers[r.Spec.Broker] = true, true
		withStatus[r.Status]++
	}
	// Every status that a record can have, as docs/method.md lists them.
	every := []store.Status{store.OK, store.Failed, store.Void, store.Refused, store.Aborted, store.Published}
	seen := lists.Filter(every, func(s store.Status) bool { return withStatus[s] > 0 })
	endings := lists.Map(seen, func(s store.Status) string { return fmt.Sprintf("%d %s", withStatus[s], s) })
	return run{
		Study: study, Day: day, Brokers: strings.Join(slices.Sorted(maps.Keys(brokers)), ", "),
		Points: len(points), Repetitions: len(records), Endings: strings.Join(endings, ", "), Where: where,
	}
}
