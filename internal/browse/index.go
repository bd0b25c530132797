package browse

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/reports"
)

// run is a line of the list: what was measured of a study on a day.
type run struct {
	Study, Day, Brokers string
	Points, Repetitions int
	Endings, Where      string // Where selects its records
}

// live is where a run that is under way can be watched.
type live struct {
	URL, Host string // URL is "" where only another machine can open it
}

type contents struct {
	Store   string
	Summary string
	Busy    string // what is being measured now, "" for nothing
	Live    []live
	Runs    []run
	Reports []reports.Report
	Names   []string // of what can be selected
	Sides   []string // what can be compared
}

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
	c.Summary = strings.Join([]string{counted(len(c.Runs), "run"), counted(len(records), "repetition")}, ", ")
	for _, name := range reports.Names() {
		if report, err := reports.Lookup(name); err == nil {
			c.Reports = append(c.Reports, report)
		}
	}
	c.Names, c.Sides = choices(records, c.Runs)
	return templates.ExecuteTemplate(w, "index.html", c)
}

// live leaves out an address of another machine's own: here it is somebody else's page, or none.
func (s site) live(p store.Page) live {
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return live{Host: p.Host}
	}
	if name := u.Hostname(); p.Host != s.Host && (name == "localhost" || strings.HasPrefix(name, "127.") || name == "::1") {
		return live{Host: p.Host}
	}
	return live{p.URL, p.Host}
}

// busy says what runners are at, with the names that earlier repetitions of the same points have.
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

// choices are the names of what tells records apart, and what can be a side of a comparison: brokers, the values of what
// differs, and whole runs.
func choices(records []store.Record, list []run) (names, sides []string) {
	const mostValues = 12 // of a name, in a list that somebody is to choose from
	values := results.Selectable(records)
	sides = slices.Clone(values["broker"])
	for name, of := range values {
		if len(of) > 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if of := values[name]; len(of) <= mostValues && name != "broker" && name != "began" && name != "point" {
			for _, v := range of {
				sides = append(sides, name+"="+v)
			}
		}
	}
	for _, r := range list {
		sides = append(sides, r.Where)
	}
	return names, sides
}

// runs are the studies by day, the latest first.
func runs(records []store.Record) []run {
	type key struct{ day, study string }
	by := map[key][]store.Record{}
	for _, r := range records {
		k := key{r.Began.UTC().Format(time.DateOnly), r.Study}
		by[k] = append(by[k], r)
	}
	keys := make([]key, 0, len(by))
	for k := range by {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(b.day, a.day), cmp.Compare(a.study, b.study)) })
	list := make([]run, 0, len(keys))
	for _, k := range keys {
		list = append(list, oneRun(k.day, k.study, by[k]))
	}
	return list
}

func oneRun(day, study string, records []store.Record) run {
	line := run{Study: study, Day: day, Repetitions: len(records), Where: "study=" + study + ",began=" + day}
	if strings.Contains(study, ",") { // a selection can't name it
		line.Where = "began=" + day
	}
	points, ended := map[string]bool{}, map[store.Status]int{}
	var brokers []string
	for _, r := range records {
		points[r.PointID] = true
		ended[r.Status]++
		brokers = append(brokers, r.Spec.Broker)
	}
	slices.Sort(brokers)
	line.Points, line.Brokers = len(points), strings.Join(slices.Compact(brokers), ", ")
	var words []string
	for _, status := range []store.Status{store.OK, store.Failed, store.Void, store.Refused, store.Aborted, store.Published} {
		if n := ended[status]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, status))
		}
	}
	line.Endings = strings.Join(words, ", ")
	return line
}
