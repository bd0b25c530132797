package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/tune"
	"github.com/brokermark/brokermark/internal/unit"
)

func (s *shell) tuneCommand() *cobra.Command {
	own := pflag.NewFlagSet("tune", pflag.ContinueOnError)
	var t tuned
	var o tuneOptions
	c := &cobra.Command{
		Use:   "tune SPEC",
		Short: "Which settings are better than the defaults, and which matter",
		Long: `Tune looks for settings of one broker that are better than its defaults for
the load of SPEC: those of the client and its topics that brokermark list
settings BROKER has values for, and those of --try or of an axis in SPEC, whose
first value is the one to be improved upon. The guarantee stays as it is, and so
does every other setting that SPEC gives.

The default and a sample of all combinations race in blocks that take turns; a
candidate that is shown to be behind leaves. Then the best races with those that
differ from it in one setting. At last it is confirmed against the default in
six to twelve fresh repetitions each, which alone decide whether it is better.
Everything is stored: the same command goes on from there.`,
		Annotations: exitCodes(),
		Example: "  brokermark tune spec.yaml --goal sustainable --subject-to 'e2e_p99 < 20ms' --budget 60m\n" +
			"  brokermark tune spec.yaml --set broker=kafka --try client.linger.ms=0,5,20\n" +
			"  brokermark tune spec.yaml --goal broker_cpu_s_per_million --subject-to 'e2e_p99 < 50ms' -o tuning.html",
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := t.complete(c.Flags()); err != nil {
				return err
			}
			return s.tune(c.Context(), &workload{sh: s, flags: own, sets: o.sets, attach: o.attach, trust: o.trust}, &o, &t, args)
		},
	}
	c.ValidArgsFunction = studyNamesAndFiles
	f := c.Flags()
	f.SortFlags, own.SortFlags = false, false
	f.StringVar(&o.goal, "goal", "", "`metric` to improve: sustainable, e2e_p99, broker_cpu_s_per_million, … (default: what SPEC measures)")
	f.StringArrayVar(&o.bounds, "subject-to", nil, "`bound` that has to be kept, such as 'e2e_p99 < 20ms'; repeatable")
	f.StringArrayVar(&o.try, "try", nil, "`path=list` of values to try, such as client.linger.ms=0,5, instead of the broker's; repeatable")
	f.DurationVar(&t.limit, "budget", time.Hour, "end after this long, installations not counted")
	f.Int64Var(&o.seed, "seed", 1, "of the sample; another one is another search")
	own.StringArrayVar(&o.sets, "set", nil, "override a setting of SPEC by `path=value`, such as broker=kafka; repeatable")
	own.StringSliceVar(&o.attach, "attach", nil, "`addresses` of a running broker, to measure that instead of starting one")
	addLoginFlags(own)
	own.BoolVar(&o.trust, "trust-spec", false, "let SPEC choose passwords, keys and files to send, and any server setting")
	f.AddFlagSet(own)
	t.flags(f)
	return c
}

type tuneOptions struct {
	goal              string
	bounds, try, sets []string
	attach            []string
	trust             bool
	seed              int64
}

// tuned is what run needs to know of tune: which repetitions come next, and how it ends.
type tuned struct {
	asking
	question *tune.Case
	base     *study.Study
	where    map[string]string // by the path of a setting: where its values were written
	written  map[string]bool   // settings that are axes of SPEC
	bounds   study.Objectives
	least    float64 // seconds that a repetition is estimated to take
	ran      int     // repetitions since it began
	about    string  // what the repetitions that come next are for
}

func (s *shell) tune(ctx context.Context, w *workload, o *tuneOptions, t *tuned, args []string) error {
	found, err := w.studies(args)
	if err != nil {
		return err
	}
	if found, err = w.sized(found); err != nil {
		return err
	}
	if err := w.override(found[0]); err != nil {
		return err
	}
	if err := t.ask(o, found[0]); err != nil {
		return err
	}
	t.here = advise.Origin{Host: lab.HostFacts(), Tool: toolVersion()}
	all, err := storedIn(ctx, t.store, store.Filter{Study: t.question.Study})
	if err != nil {
		return err
	}
	records, others := t.here.Split(all)
	t.began = time.Now() // which begin sets again
	records = t.usable(records)
	for _, r := range others {
		t.question.Skip = max(t.question.Skip, tune.After(r.Repetition))
	}
	runs, err := t.next(records)
	if err != nil {
		return err
	}
	answer := t.question.Decide(records).Verdict
	needed := max(2, 2*tune.LeastConfirmations+tune.LeastRace-len(records))
	if isOpen := answer == tune.Unknown || answer == tune.Open; isOpen && (needed > t.affordable() || len(runs) == 0) {
		each := time.Duration(t.least * float64(time.Second))
		least := time.Duration(needed) * each
		return hinted(badInput("--budget %s: too little for a race of two candidates and %d confirmations of each, %s of about %s; allowed: "+
			"%s or more", study.Duration(t.limit), tune.LeastConfirmations, unit.Counted(needed, "repetition"), span(each), span(least+least/10)),
			"shorter repetitions, such as --set duration=10s or --set sustainable.budget=30s, take less; several times as long finds more")
	}
	usual, err := t.point(tune.Step{Candidate: make(tune.Candidate, len(t.question.Knobs)), Part: tune.Race})
	if err != nil {
		return err
	}
	p := plan{studies: found, points: []study.Point{usual}, runs: runs}
	return s.carryOut(ctx, runOptions{store: t.store, format: "table", question: t}, p)
}

// mostTried bounds the values that are tried: each is first checked by itself, among all the others.
const mostTried = 1000

// ask makes the question of a study of one load.
func (t *tuned) ask(o *tuneOptions, base *study.Study) (err error) {
	c := &tune.Case{Study: tune.StudyPrefix, Seed: o.seed, Allowed: t.allowed}
	t.question, t.base, t.where, t.written = c, base, map[string]string{}, map[string]bool{}
	for _, axis := range base.Axes() {
		if !tunable(axis.Name) {
			continue
		}
		t.written[axis.Name], t.where[axis.Name] = true, base.File+": axes"
		c.Knobs = append(c.Knobs, tune.Knob{Path: axis.Name, Values: axis.Values})
	}
	points, err := t.points(make(tune.Candidate, len(c.Knobs)))
	if err != nil {
		return err
	}
	if len(points) > 1 {
		return badInput("%s: %d points; allowed: one, of which client, topicConfig and server settings may be axes", base.File, len(points))
	}
	if t.bounds, err = o.objectives(base, points[0].Spec); err != nil {
		return err
	}
	if err := t.tries(o.try, points[0]); err != nil {
		return err
	}
	usual, err := t.point(tune.Step{Candidate: make(tune.Candidate, len(c.Knobs)), Part: tune.Race})
	if err != nil {
		return err
	}
	if err := t.aim(o.goal, usual.Spec); err != nil {
		return err
	}
	refused, err := refusals([]study.Point{usual})
	if err != nil {
		return err
	}
	if why := refused[usual.ID]; why != "" {
		return badInput("%s", why)
	}
	values := 0
	for _, knob := range c.Knobs {
		values += len(knob.Values)
	}
	if values > mostTried {
		return badInput("%d values to try; allowed: up to %d", values, mostTried)
	}
	for k, knob := range c.Knobs { // each value by itself, so that a complaint names it
		for i := range knob.Values {
			x := make(tune.Candidate, len(c.Knobs))
			x[k] = i
			p, err := t.point(tune.Step{Candidate: x, Part: tune.Race})
			if err != nil {
				return err
			}
			unsupported, other := errors.AsType[*driver.ErrUnsupported](askPowers(p.Spec))
			if err := askPowers(p.Spec); err != nil && (!other || unsupported.Unknown) {
				return badInput("%s", placed(p, err))
			}
		}
	}
	c.Bounds, _ = gate.Objectives(usual.Spec)
	sum := sha256.Sum256(fmt.Append(nil, c.Goal.Key, t.bounds, c.Knobs, usual.ID, o.seed))
	c.Study += fmt.Sprintf("%x", sum[:4])
	c.Seed = int64(binary.BigEndian.Uint64(sum[:]) >> 12)
	t.least = repetitionSeconds(usual.Spec)
	return nil
}

// tunable reports whether a setting is one of client, topic or server.
func tunable(path string) bool {
	group, _, isBelow := strings.Cut(path, ".")
	return isBelow && slices.Contains([]string{"client", "topicConfig", "server"}, group)
}

// objectives are the spec's with those of --subject-to. What a search can hold itself is set as its bound.
func (o *tuneOptions) objectives(base *study.Study, spec study.Spec) (study.Objectives, error) {
	all := study.Objectives{}
	maps.Copy(all, spec.Objectives)
	for _, text := range o.bounds {
		flag := "--subject-to '" + text + "'"
		at := strings.IndexAny(text, "<>")
		if at < 0 {
			return nil, badInput("%s: no bound; allowed: METRIC < VALUE, with one of < <= > >=, such as 'e2e_p99 < 20ms'", flag)
		}
		name, bound := strings.TrimSpace(text[:at]), text[at:]
		c, err := gate.ParseObjective(name, bound)
		if err != nil {
			return nil, badInput("%s: %w", flag, err)
		}
		m, limit, _ := c.Bound()
		switch {
		case all[name] != nil:
			return nil, badInput("%s: SPEC has an objective of %s, too: %v; allowed: one of them", flag, name, all[name])
		case spec.Measure == study.MeasureSustainable && m.Latency() && strings.HasPrefix(m.Key, "e2e_p") && strings.HasPrefix(bound, "<"):
			err := base.SetAxis(flag, "sustainable.latency", []string{time.Duration(limit).String()})
			if err == nil {
				err = base.SetAxis(flag, "sustainable.quantile", []string{fmt.Sprint(m.Quantile())})
			}
			if err != nil {
				return nil, err
			}
		default:
			all[name] = bound
		}
	}
	return all, nil
}

// aim sets the goal.
func (t *tuned) aim(name string, spec study.Spec) (err error) {
	c := t.question
	if headline, ok := results.Headline(spec.Measure); name == "" && ok {
		name = headline.Key
	}
	if c.Goal, err = results.MetricNamed(name); err != nil {
		return hinted(badInput("--goal %s: %w", shellWord(name), err), "brokermark list metrics shows all")
	}
	switch why := c.Goal.NotMeasured(spec); {
	case spec.Measure == study.MeasureCurve:
		return badInput("--goal %s: measure: curve measures several rates; allowed: rate, peak, sustainable and others with one figure", name)
	case why != "":
		return badInput("--goal %s: %s", name, why)
	case c.Goal.Better == results.Neither:
		return badInput("--goal %s: neither more nor less of it is better", name)
	case c.Goal.Counts():
		return badInput("--goal %s: a count of messages has no interval; --subject-to can bound it", name)
	}
	return nil
}

// tries gathers the settings and their values: those of --try, then those that come with the broker, where the spec says nothing.
func (t *tuned) tries(given []string, usual study.Point) error {
	add := func(where, path string, values []string) {
		first := cmp.Or(study.UsualValue(usual.Spec, path), "unset")
		values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == first })
		t.where[path] = where
		t.question.Knobs = append(t.question.Knobs, tune.Knob{Path: path, Values: slices.Insert(values, 0, first)})
	}
	for _, text := range given {
		flag := "--try '" + text + "'"
		path, list, ok := strings.Cut(text, "=")
		path = study.AxisName(strings.TrimSpace(path))
		values := lists.Map(strings.Split(list, ","), strings.TrimSpace)
		other := t.where[path]
		if written := usual.Where(path); written != "" {
			other = cmp.Or(other, written)
		}
		switch {
		case !ok || slices.Contains(values, "") || strings.ContainsAny(list, " \t\n"):
			return badInput("%s: no values to try; allowed: path=value,value, such as client.linger.ms=0,5,20", flag)
		case !tunable(path):
			return badInput("%s: %s is no setting of broker or client; allowed: client.NAME, topicConfig.NAME and server.NAME", flag, path)
		case other != "":
			return badInput("%s: %s is given twice: also by %s; allowed: one of them", flag, path, other)
		case len(slices.Compact(slices.Sorted(slices.Values(values)))) < len(values):
			return badInput("%s: a value is given twice; allowed: each once", flag)
		}
		add(flag, path, values)
		if knobs := t.question.Knobs; len(knobs[len(knobs)-1].Values) < 2 {
			return badInput("%s: that is the default; allowed: at least one other value", flag)
		}
	}
	kind, err := driver.Lookup(usual.Spec.Broker)
	if err != nil {
		return badInput("%s", placed(usual, askPowers(usual.Spec)))
	}
	for _, s := range kind.Settings {
		if path := s.Path(); len(s.Tries) > 0 && usual.Where(path) == "" && t.where[path] == "" {
			add("the values of "+usual.Spec.Broker, path, s.Tries)
		}
	}
	if len(t.question.Knobs) == 0 {
		return hinted(badInput("%s comes with no values to try, or SPEC gives all those settings; allowed: --try path=value,value",
			usual.Spec.Broker), "brokermark list settings %s shows what there is", usual.Spec.Broker)
	}
	return nil
}
