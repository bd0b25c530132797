package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

type checkOptions struct {
	workload *workload
	store    string
	format   string
	again    bool
	all      bool
}

func (s *shell) checkCommand() *cobra.Command {
	o := checkOptions{}
	c := &cobra.Command{
		Use:   "check [STUDY | FILE | -]...",
		Short: "Validate what run would run, show the plan and estimate the time",
		Long: `Check takes the arguments of run, reports every mistake in them, and shows the
points and how long they will take. A point that a broker is known to refuse is
listed with the reason; that is not an error. The time doesn't include
installations. Check starts nothing and writes nothing.`,
		Example: "  brokermark check head-to-head\n" +
			"  brokermark check --broker kafka,jetstream --delivery at-most-once,at-least-once --repeat 5\n" +
			"  brokermark check --measure rate --rate 1000,20000 --quick",
		RunE: func(c *cobra.Command, args []string) error { return s.check(c.Context(), o, args) },
	}
	o.workload = s.workload(c)
	f := c.Flags()
	f.StringVar(&o.store, "store", defaultStore, storeDoc)
	f.BoolVar(&o.again, "again", false, "count what is stored already, too")
	f.BoolVar(&o.all, "all", false, fmt.Sprintf("show all points, not only the first %d", shownPoints))
	formatFlag(f, &o.format, documentFormats...)
	return c
}

const shownPoints = 40

func (s *shell) check(ctx context.Context, o checkOptions, args []string) error {
	p, err := o.workload.load(ctx, args)
	if err != nil {
		return err
	}
	refused, err := refusals(p.points)
	if err != nil {
		return err
	}
	d := document.Document{Title: "Plan"}
	for _, st := range p.studies {
		d.Add(document.Heading{Level: 1, Text: st.Name})
		d.Say(st.Question)
		for _, axis := range st.Axes() {
			d.Say(axis.Name + ": " + strings.Join(axis.Values, ", "))
		}
	}
	for _, line := range p.scales() {
		d.Say(line + ".")
	}
	shown := p.points
	if len(shown) > shownPoints && !o.all {
		shown = shown[:shownPoints]
	}
	var notes document.Footnotes
	d.Add(pointTable(shown, refused, &notes))
	if n := len(p.points) - len(shown); n > 0 {
		d.Say(fmt.Sprintf("… and %d more points; --all shows them.", n))
	}
	sum, err := summary(ctx, o, p, refused)
	if err != nil {
		return err
	}
	d.Say(sum)
	for _, line := range shows(p) {
		d.Say(line)
	}
	d.Add(notes.Blocks()...)
	if err := s.write(d, o.format); err != nil {
		return err
	}
	if len(refused) == len(p.points) {
		return &failure{code: exitInput, err: fmt.Errorf("every point would be refused; the first: %s", refused[p.points[0].ID])}
	}
	return nil
}

func pointTable(points []study.Point, refused map[string]string, notes *document.Footnotes) document.Table {
	t := document.Table{Columns: []document.Column{
		{Key: "number", Name: "#", Unit: unit.Count, Row: true},
		{Key: "point", Name: "point"},
		{Key: "broker", Name: "broker"},
		{Key: "measure", Name: "measure"},
		{Key: "delivery", Name: "delivery"},
		{Key: "size", Name: "size"},
		{Key: "apart", Name: "and", Wide: true},
		{Key: "estimate_s", Name: "about", Unit: unit.Seconds},
		{Key: "refused", Name: "refused"},
	}}
	apart := settingApart(points)
	for i, p := range points {
		s := p.Spec
		broker := s.Broker
		if s.Version != "" {
			broker += "@" + s.Version
		}
		measure := s.Measure
		if s.Load.Rate > 0 {
			measure += " " + unit.PerSecond.Format(s.Load.Rate)
		}
		verdict := document.Cell{}
		if reason := refused[p.ID]; reason != "" {
			verdict = document.Text("refused").Marked(notes.Mark(s.Broker, s.Broker+": "+strings.TrimPrefix(reason, s.Broker+": ")))
		}
		t.Rows = append(t.Rows, document.Row{
			"number":     document.Number(i + 1),
			"point":      document.Text(p.ID),
			"broker":     document.Text(broker),
			"measure":    document.Text(measure),
			"delivery":   document.Text(s.Delivery),
			"size":       document.Text(s.MessageSize.String()),
			"apart":      apart(p),
			"estimate_s": document.Number(repetitionSeconds(s)),
			"refused":    verdict,
		})
	}
	return t
}

// shownAxes have columns of their own, or come first.
var shownAxes = []string{"broker", "version", "measure", "delivery", "messageSize", "load.rate", "sweep"}

// settingApart writes the axes in which points differ, beside those that have columns.
func settingApart(points []study.Point) func(study.Point) document.Cell {
	values := map[string]map[string]bool{}
	for _, p := range points {
		for axis := range p.Axes {
			values[axis] = map[string]bool{}
		}
	}
	for axis, had := range values {
		for _, p := range points {
			had[p.Axes[axis]] = true // "" where it has no such axis
		}
	}
	return func(p study.Point) document.Cell {
		var words []string
		if slices.ContainsFunc(points, func(o study.Point) bool { return o.Study != p.Study }) {
			words = append(words, p.Study)
		}
		if len(values["sweep"]) > 1 {
			words = append(words, p.Axes["sweep"])
		}
		for _, axis := range slices.Sorted(maps.Keys(p.Axes)) {
			if !slices.Contains(shownAxes, axis) && len(values[axis]) > 1 {
				words = append(words, axis+"="+p.Axes[axis])
			}
		}
		if len(words) == 0 {
			return document.Cell{}
		}
		return document.Text(strings.Join(words, ", "))
	}
}

// repetitionSeconds is an estimate for one repetition, and for the broker that is started for it alone.
func repetitionSeconds(s study.Spec) float64 {
	seconds := study.EstimateSeconds(s)
	if starts(s) && lab.Shares(s) == "" {
		seconds += study.StartSeconds(s) + s.BrokerWarmup.Seconds()
	}
	return seconds
}

// summary counts what there is to do.
func summary(ctx context.Context, o checkOptions, p plan, refused map[string]string) (string, error) {
	done, err := stored(ctx, o, p)
	if err != nil {
		return "", err
	}
	seconds, have, shared, unknown := 0.0, 0, study.Started{}, false
	for _, r := range p.runs {
		if _, ok := done[r.Point.ID][r.Repetition]; ok && !o.again {
			have++
		} else if refused[r.Point.ID] == "" {
			spec := r.Point.Spec
			seconds += repetitionSeconds(spec)
			if key := lab.Shares(spec); key != "" {
				seconds += shared.Seconds(key, spec)
			}
			unknown = unknown || study.EstimateIsRough(spec)
		}
	}
	text := fmt.Sprintf("%s, %s", counted(len(p.points), "point"), counted(len(p.runs), "repetition"))
	if have > 0 {
		text += fmt.Sprintf(", %d of them stored already in %s", have, store.Printable(o.store))
	}
	if n := len(refused); n > 0 {
		text += fmt.Sprintf(", %s will be refused", counted(n, "point"))
	}
	text += fmt.Sprintf("; about %s, installations not counted.", span(time.Duration(seconds)*time.Second))
	if unknown {
		text += " Counts and backlogs end when they are done: their time is a guess by the broker's order of magnitude, and may be three times that or a third."
	}
	return text, nil
}

// stored asks the store what need not run again; a store that isn't there yet holds nothing.
func stored(ctx context.Context, o checkOptions, p plan) (map[string]map[int]store.Status, error) {
	st, err := store.OpenReadOnlyContext(ctx, o.store)
	if store.ProblemOf(err) == store.Missing {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer st.Close()
	var ids []string
	for _, point := range p.points {
		ids = append(ids, point.ID)
	}
	return st.Done(ctx, ids)
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
