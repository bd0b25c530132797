// The first page of the site: the runs of a store.

package browse

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/reports"
)

// contents fills in index.html.
type contents struct {
	Store   string
	Summary string // "2 runs, 40 repetitions"
	Busy    string // the repetitions under way; empty if there are none
	Live    []live
	Runs    []run
	Reports []reports.Report
	Names   []string // settings by which records can be selected
	Sides   []string // selections that can be compared
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

// live is a page on which a run under way can be watched.
type live struct {
	URL  string // empty if only another machine can open the page
	Host string
}

// index writes the list of runs.
func (s site) index(w *bytes.Buffer, r *http.Request) error {
	records, err := s.Read(r.Context(), "")
	if err != nil {
		return err
	}
	running, err := s.Running(r.Context())
	if err != nil {
		return err
	}
	c := contents{Store: s.Name, Busy: busy(running.Claims, records), Runs: runs(records)}
	for _, p := range running.Pages {
		c.Live = append(c.Live, s.live(p))
	}
	c.Summary = counted(len(c.Runs), "run") + ", " + counted(len(records), "repetition")
	for _, name := range reports.Names() {
		report, err := reports.Lookup(name)
		if err != nil {
			return err
		}
		c.Reports = append(c.Reports, report)
	}
	c.Names, c.Sides = choices(records, c.Runs)
	return templates.ExecuteTemplate(w, "index.html", c)
}

// live leaves out a loopback address of another machine: opened here, it would be somebody else's page, or none.
func (s site) live(p store.Page) live {
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return live{Host: p.Host}
	}
	if name := u.Hostname(); p.Host != s.Host && (name == "localhost" || strings.HasPrefix(name, "127.") || name == "::1") {
		return live{Host: p.Host}
	}
	return live{URL: p.URL, Host: p.Host}
}

// busy counts the repetitions under way, and names those whose points have earlier repetitions.
func busy(claims []store.Claim, records []store.Record) string {
	if len(claims) == 0 {
		return ""
	}
	labels := map[string]string{}
	for _, r := range records {
		labels[r.PointID] = r.Label
	}
	var known []string
	for _, c := range claims {
		if l := labels[c.PointID]; l != "" {
			known = append(known, fmt.Sprintf("%s (repetition %d)", l, c.Repetition))
		}
	}
	text := counted(len(claims), "repetition") + " under way"
	if len(known) > 0 {
		text += ": " + strings.Join(known, ", ")
	}
	return text
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// maxValues is how many values a setting may have for each to be offered as a side of a comparison.
const maxValues = 12

// choices lists the settings in which records differ, and the sides that can be compared: brokers, values of such settings, and runs.
func choices(records []store.Record, list []run) (names, sides []string) {
	values := results.Selectable(records)
	sides = slices.Clone(values["broker"])
	for name, all := range values {
		if len(all) > 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		offered := name != "broker" && name != "began" && name != "point" // brokers and runs are offered by themselves
		if len(values[name]) > maxValues || !offered {
			continue
		}
		for _, v := range values[name] {
			sides = append(sides, name+"="+v)
		}
	}
	for _, r := range list {
		sides = append(sides, r.Where)
	}
	return names, sides
}

// runs lists the studies by the day on which their repetitions began, the latest day first.
func runs(records []store.Record) []run {
	type key struct{ day, study string }
	groups := map[key][]store.Record{}
	for _, r := range records {
		k := key{r.Began.UTC().Format(time.DateOnly), r.Study}
		groups[k] = append(groups[k], r)
	}
	latestFirst := func(a, b key) int { return cmp.Or(cmp.Compare(b.day, a.day), cmp.Compare(a.study, b.study)) }
	var list []run
	for _, k := range slices.SortedFunc(maps.Keys(groups), latestFirst) {
		list = append(list, runOf(k.day, k.study, groups[k]))
	}
	return list
}

func runOf(day, study string, records []store.Record) run {
	summed := run{Study: study, Day: day, Repetitions: len(records), Where: "study=" + study + ",began=" + day}
	if strings.Contains(study, ",") { // a comma separates the parts of a selection
		summed.Where = "began=" + day
	}
	points, ended := map[string]bool{}, map[store.Status]int{}
	var brokers []string
	for _, r := range records {
		points[r.PointID] = true
		ended[r.Status]++
		brokers = append(brokers, r.Spec.Broker)
	}
	slices.Sort(brokers)
	summed.Points, summed.Brokers = len(points), strings.Join(slices.Compact(brokers), ", ")
	var words []string
	for _, status := range []store.Status{store.OK, store.Failed, store.Void, store.Refused, store.Aborted, store.Published} {
		if n := ended[status]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, status))
		}
	}
	summed.Endings = strings.Join(words, ", ")
	return summed
}
