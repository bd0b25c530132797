package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/reports"
)

type checkOptions struct {
	agents   agents
	workload *workload
	gates    gates
	store    string
	format   string
	again    bool
	all      bool
}

func (s *shell) checkCommand() *cobra.Command {
	o := checkOptions{}
	c := &cobra.Command{
		Use:   "check [STUDY | FILE | -]...",
		Short: "Validate the arguments of run, show the plan and estimate the time",
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
	f.BoolVar(&o.again, "again", false, "count repetitions that are already stored, too")
	f.BoolVar(&o.all, "all", false, fmt.Sprintf("show all points, not only the first %d", shownPoints))
	o.gates.thresholds(f, "refuse a `threshold` that no point could be judged by, as run does; repeatable")
	f.StringVar(&o.agents.count, "agents", "", "refuse what `n` agents, or those on ssh:HOST,HOST, can't run, as run does; auto: those that one agent can't run")
	formatFlag(f, &o.format, documentFormats...)
	return c
}

// identities returns a sentence per broker about where messages with payloads from files carry their identity.
func identities(points []study.Point, refused map[string]string) []string {
	accepted := lists.Filter(points, func(p study.Point) bool { return refused[p.ID] == "" })
	notes := lists.Map(accepted, func(p study.Point) string { return lab.IdentityNote(p.Spec) })
	return lists.AddNew(nil, lists.Filter(notes, func(note string) bool { return note != "" })...)
}

const shownPoints = 40

func (s *shell) check(ctx context.Context, o checkOptions, args []string) error {
	if err := o.workload.explainsHere(o.agents); err != nil {
		return err
	}
	if err := o.gates.open(gate.Parse); err != nil {
		return err
	}
	p, err := o.workload.load(args)
	if err != nil {
		return err
	}
	s.idle.Store(true)
	defer s.idle.Store(false)
	if o.workload.flags.Changed("store") {
		if err := store.Appendable(o.store); err != nil {
			return err
		}
	}
	refused, err := refusals(p.points)
	if err != nil {
		return err
	}
	if err := o.gates.answerable(p.points, refused); err != nil {
		return err
	}
	if err := o.agents.check(p.points); err != nil {
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
	for _, line := range p.notes() {
		d.Say(line + ".")
	}
	points := p.different()
	shown := points
	if len(shown) > shownPoints && !o.all {
		shown = shown[:shownPoints]
	}
	var notes document.Footnotes
	same, table := pointTable(shown, refused, &notes)
	d.Say(same)
	d.Say(askedByAll(points))
	d.Add(table)
	if n := len(points) - len(shown); n > 0 {
		d.Say(fmt.Sprintf("… and %d more points; --all shows them.", n))
	}
	sum, err := summary(ctx, o, p, refused)
	if err != nil {
		return err
	}
	d.Say(sum)
	d.Say(o.workload.explainPlan(p))
	for _, line := range slices.Concat(identities(points, refused), shows(p)) {
		d.Say(line)
	}
	d.Add(notes.Blocks()...)
	if err := s.write(d, o.format); err != nil {
		return err
	}
	if len(refused) == len(points) {
		return &failure{code: exitInput, err: fmt.Errorf("every point would be refused; the first: %s", refused[points[0].ID])}
	}
	return nil
}

// pointTable makes a table with a row for each point. What all points have in common is in the sentence same instead of a column.
func pointTable(points []study.Point, refused map[string]string, notes *document.Footnotes) (same string, t document.Table) {
	t.Columns = []document.Column{
		{Key: "number", Name: "#", Unit: unit.Count, Identifies: true},
		{Key: "point", Name: "point", Spare: true},
		{Key: "broker", Name: "broker"},
		{Key: "measure", Name: "measure"},
		{Key: "delivery", Name: "delivery"},
		{Key: "size", Name: "size"},
	}
	const workload = 2 // the column where what may be the same for all begins
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
			verdict = document.Text("refused").Marked(notes.Mark(s.Broker, remark.Of("%s: %s", s.Broker, strings.TrimPrefix(reason, s.Broker+": "))))
		}
		row := document.Row{
			"number":     document.Number(i + 1),
			"point":      document.Text(p.ID),
			"broker":     document.Text(broker),
			"measure":    document.Text(measure),
			"delivery":   document.Text(s.Delivery),
			"size":       document.Text(s.MessageSize.Summary()),
			"estimate_s": document.Number(repetitionSeconds(s)),
			"refused":    verdict,
		}
		apart.name(row, p)
		t.Rows = append(t.Rows, row)
	}
	var words []string
	for i, c := range t.Columns[workload:] {
		value := t.Rows[0][c.Key].Text
		other := func(row document.Row) bool { return row[c.Key].Text != value }
		if len(points) > 1 && !slices.ContainsFunc(t.Rows, other) {
			t.Columns[workload+i].MachinesOnly = true
			words = append(words, value)
		}
	}
	if words != nil {
		same = "All points: " + strings.Join(words, ", ") + "."
	}
	t.Columns = slices.Concat(t.Columns, apart.columns(), []document.Column{
		{Key: "estimate_s", Name: "about", Unit: unit.Seconds},
		{Key: "refused", Name: "refused"},
	})
	return same, t
}

// askedByAll describes the settings of all points that are no defaults, and their objectives.
func askedByAll(points []study.Point) string {
	var asked, objectives []string
	for i, p := range points {
		own := lists.Map(p.Spec.Asked(), p.Spec.InWords)
		conditions, _ := gate.Objectives(p.Spec) // refusals have said what can't be read
		bounds := lists.Map(conditions, func(c gate.Condition) string { return c.Text })
		if i == 0 {
			asked, objectives = own, bounds
		}
		asked = lists.Filter(asked, func(w string) bool { return slices.Contains(own, w) })
		objectives = lists.Filter(objectives, func(w string) bool { return slices.Contains(bounds, w) })
		if len(asked)+len(objectives) == 0 {
			break
		}
	}
	var sentences []string
	if len(asked) > 0 {
		sentences = append(sentences, "Asked for: "+strings.Join(asked, ", ")+".")
	}
	if len(objectives) > 0 {
		sentences = append(sentences, "Objectives: "+strings.Join(objectives, ", ")+".")
	}
	return strings.Join(sentences, " ")
}

// shownAxes are the axes that always have a column.
var shownAxes = []string{"broker", "version", "measure", "delivery", "messageSize", "load.rate", "sweep"}

// mostAxes is the largest number of axes that have a column each. More share one column.
const mostAxes = 5

// apart is what sets points apart, beside the axes that always have a column: two studies that vary a client's linger time have the
// groups "study" and the axes "client.linger.ms".
type apart struct {
	groups []string // "study" and "sweep", if there are several of them
	axes   []string
}

func settingApart(points []study.Point) apart {
	differ := func(name string) bool {
		return slices.ContainsFunc(points, func(p study.Point) bool { return placeOf(p, name) != placeOf(points[0], name) })
	}
	axes := lists.AddNew(nil, lists.Flat(points, func(p study.Point) []string { return slices.Collect(maps.Keys(p.Axes)) })...)
	axes = lists.Filter(axes, func(axis string) bool { return !slices.Contains(shownAxes, axis) && differ(axis) })
	slices.Sort(axes)
	return apart{groups: lists.Filter([]string{"study", "sweep"}, differ), axes: axes}
}

// placeOf is a point's study, or its value on an axis.
func placeOf(p study.Point, name string) string {
	if name == "study" {
		return p.Study
	}
	return p.Axes[name]
}

// hasColumns reports whether each group and axis has a column of its own.
func (a apart) hasColumns() bool { return len(a.axes) <= mostAxes }

// columns returns a column that says in a line what sets a point apart, for readers if there are many axes and else for machines
// only, and the columns of groups and axes.
func (a apart) columns() []document.Column {
	columns := []document.Column{{Key: "apart", Name: "and", Wide: true, MachinesOnly: a.hasColumns()}}
	if !a.hasColumns() {
		return columns
	}
	for _, group := range a.groups {
		columns = append(columns, document.Column{Key: group, Name: group})
	}
	for _, axis := range a.axes {
		c := reports.AxisColumn(axis)
		c.Identifies = false // rows are distinguished by their numbers
		columns = append(columns, c)
	}
	return columns
}

// name fills in the cells of a row for columns.
func (a apart) name(row document.Row, p study.Point) {
	var words []string
	cells := document.Row{}
	for _, group := range a.groups {
		words = append(words, placeOf(p, group)) // "" in some: only one of several studies has sweeps
		cells[group] = document.Text(placeOf(p, group))
	}
	for _, axis := range a.axes {
		value, has := p.Axes[axis]
		if has {
			words = append(words, axis+"="+value)
		}
		cells[reports.AxisColumn(axis).Key] = document.Text(value)
	}
	if a.hasColumns() {
		maps.Copy(row, cells)
	}
	row["apart"] = document.Text(lists.Join(", ", words...))
}

// repetitionSeconds estimates how long a repetition takes, with the start of a broker that is for it alone.
func repetitionSeconds(s study.Spec) float64 {
	seconds := study.EstimateSeconds(s)
	if starts(s) && lab.SharedBroker(s) == "" {
		seconds += study.StartSeconds(s) + s.BrokerWarmup.Seconds()
	}
	return seconds
}

// summary says how many points and repetitions there are and how long they take.
func summary(ctx context.Context, o checkOptions, p plan, refused map[string]string) (string, error) {
	done, err := stored(ctx, o, p)
	if err != nil {
		return "", err
	}
	type estimate struct {
		seconds float64
		broker  int // its place among those that points share; 0: none
	}
	estimates, brokers := map[*study.Point]estimate{}, map[string]int{}
	seconds, have, shared, unknown := 0.0, 0, study.Started{}, false
	for _, r := range p.runs {
		_, isStored := done[r.Point.ID][r.Repetition]
		if isStored && !o.again {
			have++
			continue
		}
		if refused[r.Point.ID] != "" {
			continue
		}
		e, known := estimates[r.Point]
		if !known {
			e.seconds = repetitionSeconds(r.Point.Spec)
			if name := lab.SharedBroker(r.Point.Spec); name != "" {
				e.broker = cmp.Or(brokers[name], len(brokers)+1)
				brokers[name] = e.broker
			}
			estimates[r.Point] = e
			unknown = unknown || study.EstimateIsRough(r.Point.Spec)
		}
		seconds += e.seconds
		if e.broker > 0 {
			seconds += shared.Seconds(fmt.Sprint(r.Repetition, " ", e.broker), r.Point.Spec)
		}
	}
	text := fmt.Sprintf("%s, %s", unit.Counted(len(p.different()), "point"), unit.Counted(len(p.runs), "repetition"))
	if have > 0 {
		text += fmt.Sprintf(", %d of them stored already in %s", have, store.Printable(o.store))
	}
	if n := len(refused); n > 0 {
		text += fmt.Sprintf(", %s will be refused", unit.Counted(n, "point"))
	}
	text += fmt.Sprintf("; about %s, installations not counted.", span(time.Duration(seconds*float64(time.Second))))
	if unknown {
		text += " Counts and backlogs end when they are done: their time is a guess by the broker's order of magnitude, and may be three times that or a third."
	}
	return text, nil
}

// stored returns the repetitions that need not run again. A store that isn't there yet has none.
func stored(ctx context.Context, o checkOptions, p plan) (map[string]map[int]store.Status, error) {
	o.workload.sh.idle.Store(false) // what SQLite makes beside a file is removed when it is closed
	defer o.workload.sh.idle.Store(true)
	done, err := inStore(ctx, o.store, func(st *store.Store) (map[string]map[int]store.Status, error) { return st.Done(ctx, p.pointIDs()) })
	return done, unlessMissing(err)
}
