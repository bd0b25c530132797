package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/reports"
)

func (s *shell) adviseCommand() *cobra.Command {
	var w wishes
	var a advised
	c := &cobra.Command{
		Use:   "advise [FILE]",
		Short: "Which broker to take for a workload, and why",
		Long: `Advise says which broker to take for a workload. It measures the contenders
that can keep the guarantee, each with its client as the client's documentation
uses it: first at the rate and the peak that are asked for, in repetitions that
take turns; a contender whose latency is shown to be above --p99 leaves. Those
that are left are killed under load, if messages are to be kept, and the highest
rate that they sustain is searched for. It ends when the answer stands or the
time is up. Of the contenders that fit, the one that costs the least processor
time of the broker is taken.

FILE is YAML with the same wishes: rate: 5k. Without any wish, advise asks for
them in a terminal. Everything is stored: the same command goes on, and what
this machine and version have measured already counts. -o writes the answer as
a record of the decision. If no contender fits, or the answer is undecided, the
exit code is 7.`,
		Annotations: exitCodes(),
		Example: "  brokermark advise --rate 5k --peak 3x --size 1KiB --p99 20ms\n" +
			"  brokermark advise --rate 500 --delivery at-most-once --brokers nats,redis --time 10m -o decision.html\n" +
			"  brokermark advise --rate 2k --brokers kafka --attach rabbitmq=rabbit-1:5672",
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.complete(c.Flags()); err != nil {
				return err
			}
			s.idle.Store(true)
			switch {
			case len(args) == 1:
				if err := w.read(args[0]); err != nil {
					return err
				}
			case !w.said() && isTerminal(s.in):
				if err := w.ask(s.in, s.err); err != nil {
					return err
				}
			}
			s.idle.Store(false)
			return s.advise(c.Context(), &w, &a)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	w.addFlags(f)
	a.flags(f)
	return c
}

func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// advised is what run needs to know of advise: which repetitions are worth their time, and how it ends.
type advised struct {
	asking
	question *advise.Case
	points   []study.Point
	skip     int  // the repetitions of other machines have numbers up to this one
	late     bool // the time is up
}

// asking is what advise and tune have in common.
type asking struct {
	here   advise.Origin
	store  string
	out    output
	isPage bool // a format was asked for
	limit  time.Duration

	open  *store.Store
	say   func(format string, args ...any)
	began time.Time
	gone  map[string]bool // those that have left
}

func (a *asking) flags(f *pflag.FlagSet) {
	f.StringVar(&a.store, "store", defaultStore, storeDoc)
	a.out.flags(f)
}

// complete checks the flags.
func (a *asking) complete(f *pflag.FlagSet) error {
	a.isPage = f.Changed("format")
	return a.out.complete(f)
}

// left returns how long repetitions may still run: all of the limit before the first.
func (a *asking) left() time.Duration {
	if a.began.IsZero() {
		return a.limit
	}
	return max(0, a.limit-time.Since(a.began))
}

// leaves tells the user once why a contender or a candidate dropped out.
func (a *asking) leaves(name, why string) {
	if !a.gone[name] {
		a.gone[name] = true
		a.say("%s leaves: %s", name, why)
	}
}

func (s *shell) advise(ctx context.Context, w *wishes, a *advised) error {
	wish, limit, err := w.wish()
	if err != nil {
		return err
	}
	st, err := wish.Study(cmp.Or(w.file, "advise"))
	if err != nil {
		return err
	}
	st.Distrusted = len(w.own) > 0
	points, err := st.Points()
	if err != nil {
		return err
	}
	refused, err := refusals(points)
	if err != nil {
		return err
	}
	p := plan{studies: []*study.Study{st}, points: points, runs: advise.Order(points, st.Seed, lab.SharedBroker)}
	a.question, a.limit, a.points = advise.CaseOf(points), limit, points
	a.here = advise.Origin{Host: lab.HostFacts(), Tool: toolVersion()}
	records, err := storedIn(ctx, a.store, store.Filter{PointIDs: p.pointIDs()})
	if err != nil {
		return err
	}
	if err := a.enoughTime(&p, refused, records); err != nil {
		return err
	}
	return s.carryOut(ctx, runOptions{store: a.store, format: "table", available: true, question: a}, p)
}

// storedIn reads records. A store that isn't there yet has none.
func storedIn(ctx context.Context, path string, filter store.Filter) ([]store.Record, error) {
	records, err := inStore(ctx, path, func(st *store.Store) ([]store.Record, error) { return st.Records(ctx, filter) })
	return records, unlessMissing(err)
}

// inStore opens a store and returns what is read from it.
func inStore[T any](ctx context.Context, path string, read func(*store.Store) (T, error)) (there T, err error) {
	st, err := store.OpenReadOnlyContext(ctx, path)
	if err != nil {
		return there, err
	}
	defer st.Close()
	return read(st)
}

// unlessMissing drops the error of a store that isn't there.
func unlessMissing(err error) error {
	if store.ProblemOf(err) == store.Missing {
		return nil
	}
	return err
}

// enoughTime refuses a time in which no answer can be found, and a plan of which every contender is refused. It gives the plan's repetitions
// numbers that those of other machines don't have.
func (a *advised) enoughTime(p *plan, refused map[string]string, records []store.Record) error {
	done := map[string]map[int]bool{}
	for _, r := range records {
		switch {
		case !a.here.Made(r):
			a.skip = max(a.skip, r.Repetition)
		case r.Status == store.OK:
			if done[r.PointID] == nil {
				done[r.PointID] = map[int]bool{}
			}
			done[r.PointID][r.Repetition] = true
		}
	}
	var seconds, search float64
	var contenders, reasons []string
	for i := range p.runs {
		p.runs[i].Repetition += a.skip
		run := p.runs[i]
		spec, part := run.Point.Spec, run.Point.Axes["sweep"]
		if why := refused[run.Point.ID]; why != "" {
			if part == advise.Load && !slices.Contains(reasons, why) {
				reasons = append(reasons, why)
			}
			continue
		}
		switch name := run.Point.Axes[advise.ContenderAxis]; {
		case done[run.Point.ID][run.Repetition]:
		case part == advise.Load && run.Repetition <= a.skip+advise.Looks[0]:
			seconds += repetitionSeconds(spec)
			contenders = lists.AddNew(contenders, name)
		case part == advise.Headroom && run.Repetition == a.skip+1:
			search = max(search, repetitionSeconds(spec))
		}
	}
	if !slices.ContainsFunc(p.runs, func(r study.Run) bool { return r.Point.Axes["sweep"] == advise.Load && refused[r.Point.ID] == "" }) {
		return hinted(badInput("no contender can keep what is asked for:\n%s", strings.Join(reasons, "\n")),
			"brokermark list guarantees shows what each broker can keep")
	}
	if needed := time.Duration((seconds + search) * float64(time.Second)); needed > a.limit {
		return hinted(badInput("--time %s: too little for %s of %s and a search, which take about %s",
			study.Duration(a.limit), unit.Counted(advise.Looks[0], "repetition"), unit.Counted(len(contenders), "contender"), span(needed)),
			"--time %s, fewer --brokers, or a shorter --hold", span(needed+needed/2))
	}
	return nil
}

// begin is called when the store is open and all is installed that can be; missing are the others.
func (a *advised) begin(st *store.Store, missing map[product]error, say func(format string, args ...any)) {
	a.open, a.say, a.gone, a.question.Absent = st, say, map[string]bool{}, map[string]string{}
	for _, p := range a.points {
		if why := missing[productOf(p.Spec)]; why != nil && starts(p.Spec) {
			a.question.Absent[p.Axes[advise.ContenderAxis]] = firstLine(why.Error())
		}
	}
}

// further implements question: the plan has all.
func (a *advised) further(context.Context) ([]study.Run, error) { return nil, nil }

// enough reports whether a repetition can be left out.
func (a *advised) enough(ctx context.Context, run study.Run) bool {
	if a.began.IsZero() { // what had to be installed is
		a.began = time.Now()
	}
	records, _, err := a.records(ctx)
	if err != nil {
		return false // as if nothing were known; appending to the store will say what is wrong with it
	}
	records = slices.DeleteFunc(records, func(r store.Record) bool { // a broker that wasn't started last time may be now
		return r.Status == store.Failed && r.Result == nil && r.Began.Before(a.began)
	})
	if !a.question.Wants(records, run.Point.ID, run.Repetition-a.skip) {
		a.tell(records, run.Point.Axes[advise.ContenderAxis])
		return true
	}
	ends := time.Since(a.began) + time.Duration(repetitionSeconds(run.Point.Spec)*float64(time.Second))
	if !a.late && ends > a.limit {
		a.late = true
		a.say("the time of %s is up", study.Duration(a.limit))
	}
	return a.late // a shorter repetition that still fits in would not be the one that matters most
}

// tell says why a contender has left, once.
func (a *advised) tell(records []store.Record, name string) {
	for _, c := range a.question.Decide(records).Contenders {
		if c.Name == name && (c.Standing == advise.Misses || c.Standing == advise.Out) {
			a.leaves(name, c.Why)
		}
	}
}

// records are those of this machine and version, and the others.
func (a *advised) records(ctx context.Context) (here, elsewhere []store.Record, err error) {
	all, err := a.open.Records(ctx, store.Filter{PointIDs: plan{points: a.points}.pointIDs()})
	here, elsewhere = a.here.Split(all)
	return here, elsewhere, err
}

// finish prints the answer, and returns an error unless a contender is to be taken.
func (a *advised) finish(s *shell) error {
	here, elsewhere, err := a.records(context.Background())
	if err != nil {
		return err
	}
	answer := a.question.Decide(here)
	full, err := reports.Decision(answer, here, elsewhere)
	if err != nil {
		return err
	}
	if err := s.answer(a.out, a.isPage, reports.Advice(answer), full, source(results.Of(here), a.store, "", a.out, "advise")); err != nil {
		return err
	}
	switch answer.Answer {
	case advise.Take, advise.Either:
		return nil
	case advise.Undecided:
		undecided := &failure{code: exitGate, err: errors.New("the answer is undecided")}
		if !answer.Exhausted() {
			undecided.hint = "the same command goes on from there; --time counts anew"
		}
		return undecided
	}
	return &failure{code: exitGate, err: errors.New("no contender is shown to fit")}
}
