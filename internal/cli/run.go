package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/studies/proof"
)

// defaultStore is in the folder the user works in, beside the studies.
const defaultStore = "brokermark.db"

const storeDoc = "`file` that keeps the results, or postgres://user@host/database"

type runOptions struct {
	workload  *workload
	store     string
	format    string
	log       string
	again     bool
	keep      bool
	available bool
	gates     gates
	watching  watching
	agents    agents
	profiles  string   // the folder for what profilers find in repetitions that leave no record; "": there are none
	question  question // chooses repetitions, and prints an answer instead of the summary; nil: all run, and the summary is printed
}

// question is a command that runs repetitions to find an answer: advise, tune, or run --explain.
type question interface {
	// begin is called when the store is open and all is installed that can be; missing are the others.
	begin(st *store.Store, missing map[product]error, say func(format string, args ...any))
	// enough reports whether a repetition can be left out.
	enough(ctx context.Context, run study.Run) bool
	// further returns what is to run after all that was given; none: it ends.
	further(ctx context.Context) ([]study.Run, error)
	// finish prints the answer, and returns the error with which the command ends.
	finish(s *shell) error
}

// next says where the same command begins after a run that didn't come to its end.
func (o *runOptions) next() string {
	if o.again {
		return "because of --again, the same command begins anew"
	}
	return "the same command goes on from there"
}

func (s *shell) runCommand() *cobra.Command {
	o := runOptions{}
	c := &cobra.Command{
		Use:   "run [STUDY | FILE | -]...",
		Short: "Measure: a study, a spec or an OpenMessaging Benchmark workload",
		Long: `Run measures every point of a study: one that comes with the program
(brokermark list studies), a spec file, an OpenMessaging Benchmark workload
file as it is, or - for standard input. Without arguments and settings it is a
short first run on nats, which needs no installation. A flag that takes a list
makes a point of each value; several lists make all their combinations. Flags
override what a study says; a setting that two of them give is refused. What
the store holds already is not run again, unless it failed or was void, or you
say --again.

--explain then repeats a single point with and without a change of what was its
limit, such as twice the window, and says whether the rate moves. Neither that
nor a repetition with profilers, for flame graphs, counts among its results.

--format jsonl prints one flat object per repetition on stdout and nothing
else, also for what was stored before. The first Ctrl-C records what is under
way as aborted and cleans up; the second leaves at once.`,
		Annotations: exitCodes(),
		Example: "  brokermark run\n" +
			"  brokermark run --broker kafka,rabbitmq --size 100,1KiB --rate 1000 --duration 10s --repeat 3\n" +
			"  brokermark run head-to-head --quick --available --watch 8080 --fail-if 'lost>0'",
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkCompanions(c.Flags()); err != nil {
				return err
			}
			return s.run(c.Context(), o, args)
		},
	}
	o.workload = s.workload(c)
	f := c.Flags()
	f.StringVar(&o.store, "store", defaultStore, storeDoc)
	formatFlag(f, &o.format, "table", "jsonl")
	f.BoolVar(&o.again, "again", false, "run what is stored already, too")
	f.BoolVar(&o.available, "available", false, "leave out brokers that can't be installed here")
	f.BoolVar(&o.keep, "keep", false, "leave the brokers' directories behind")
	o.gates.flags(f, "e2e_p99 > 50ms")
	o.watching.flags(f)
	o.agents.flags(f)
	f.StringVar(&o.log, "log", "", "`file` for the client libraries' own messages (default: brokermark.log in the work directory)")
	return c
}

// companions are flags of run that say something about another flag, and those of which one has to be there.
var companions = map[string][]string{
	"control": {"agents"}, "token-file": {"agents"}, "token-env": {"agents"}, "agents-wait": {"agents"},
	"watch-token-env": {"watch", "metrics"},
}

// checkCompanions refuses a flag that would have no effect, because what it is about wasn't asked for.
func checkCompanions(f *pflag.FlagSet) error {
	for _, flag := range slices.Sorted(maps.Keys(companions)) {
		if f.Changed(flag) && !slices.ContainsFunc(companions[flag], f.Changed) {
			return badInput("--%s: only used with --%s", flag, strings.Join(companions[flag], " or --"))
		}
	}
	return nil
}

func (s *shell) run(ctx context.Context, o runOptions, args []string) error {
	if err := checkFormat(o.format, "table", "jsonl"); err != nil {
		return err
	}
	if err := o.workload.explainsHere(o.agents); err != nil {
		return err
	}
	if err := o.gates.open(gate.Parse); err != nil {
		return err
	}
	defer o.gates.close()
	p, err := o.workload.load(args)
	if err != nil {
		return err
	}
	o.available = o.available || slices.Contains(args, proof.Name) // that study is over whatever there is
	err = s.carryOut(ctx, o, p)
	if !o.workload.explain || err != nil && codeOf(err) != exitGate {
		return err
	}
	return cmp.Or(s.explainRun(ctx, o, p), err)
}

// carryOut runs a plan.
func (s *shell) carryOut(ctx context.Context, o runOptions, p plan) error {
	refused, err := refusals(p.points)
	if err != nil {
		return err
	}
	if err := cmp.Or(o.gates.answerable(p.points, refused), o.agents.check(p.points)); err != nil {
		return err
	}
	view := newProgress(s.err)
	view.several = len(p.studies) > 1
	defer view.close()
	if err := o.watching.open(&view.now, view.say); err != nil {
		return err
	}
	defer o.watching.close()
	host, err := provision.NewHost(provision.DefaultDir(), view.note)
	if err != nil {
		return brokerFailed(err)
	}
	log, err := openLog(o.log, host.Dir)
	if err != nil {
		return err
	}
	defer log.Close()
	st, err := store.OpenContext(ctx, o.store) // which makes one: bad input leaves none behind
	if err != nil {
		return err
	}
	defer st.Close()
	withdraw := o.watching.announce(ctx, st)
	defer withdraw()
	for _, line := range p.notes() {
		view.say("%s", line)
	}
	missing, err := install(ctx, host, st, p.unrefused(refused), o.again, view)
	if err != nil {
		return err
	}
	if o.available {
		if p, err = p.without(missing, view); err != nil {
			return err
		}
	}
	outbox := st.Outbox(view.say, view, unstoredIn(o.store), host.Dir)
	r := &running{
		sh: s, options: &o, store: st, view: view, under: s.underWay(o, host.Dir),
		stored: map[store.Status]int{}, bad: map[store.Status]*store.Record{}, asked: p.objectives(),
	}
	precision := closeEnough{store: st, until: p.until, said: map[string]bool{}, say: view.say}
	how := lab.Options{
		Enough: precision.reached, // unless a question decides
		Host:   host, Store: st, Append: r.under.keeps(outbox.Append), Again: o.again, Keep: o.keep, Tool: toolVersion(), Log: log,
		Watch: func(e lab.Event) { r.event(ctx, e) },
	}
	if o.profiles != "" {
		view.quiet = true
		how.Profiles, how.Append = o.profiles, r.under.keeps(func(context.Context, store.Record) error { return nil })
	}
	if o.question != nil {
		o.question.begin(st, missing, view.say)
		how.Enough = o.question.enough
	}
	defer o.agents.close()
	if err := o.agents.gather(ctx, host, &how, view.say); err != nil {
		return errors.Join(err, outbox.Close(ctx))
	}
	tally, err := runAll(ctx, &p, o.question, how)
	unstored := outbox.Close(ctx)
	view.close()
	withdraw()
	o.watching.close()
	return r.finish(p, tally, err, unstored)
}

// runAll runs the repetitions of a plan, and those that a question asks for after them, which become part of the plan.
func runAll(ctx context.Context, p *plan, q question, how lab.Options) (lab.Tally, error) {
	tally, err := lab.Run(ctx, p.runs, how)
	for q != nil && err == nil {
		var more []study.Run
		if more, err = q.further(ctx); err != nil || len(more) == 0 {
			break
		}
		var added lab.Tally
		added, err = lab.Run(ctx, more, how)
		p.runs = append(p.runs, more...)
		tally.Add(added)
	}
	return tally, err
}

// unstoredIn returns the folder for records that the store doesn't take: that of its file, or the working directory for a server.
func unstoredIn(path string) string {
	if store.IsURL(path) && !strings.HasPrefix(path, "sqlite:") {
		return "."
	}
	return filepath.Dir(strings.TrimPrefix(strings.TrimPrefix(path, "sqlite:"), "//"))
}

// running is a run under way.
type running struct {
	sh      *shell
	options *runOptions
	store   *store.Store
	view    *progress
	under   *underWay
	records []store.Record                 // for the gates: of all repetitions, also those that ran before and are skipped
	stored  map[store.Status]int           // how many of the skipped repetitions had ended so
	bad     map[store.Status]*store.Record // of the repetitions that did not end ok, the first of each status
	outErr  error                          // the first of writing to stdout
	asked   map[string]study.Objectives    // by point; those of now, not of when a record was stored
}

// event is called by the lab from one goroutine.
func (r *running) event(ctx context.Context, e lab.Event) {
	if q, ok := r.options.question.(interface{ left() time.Duration }); ok {
		e.Left = min(e.Left, q.left())
	}
	if e.Kind == lab.Skipped {
		e.Record = r.lookUp(ctx, e.Run)
	}
	if e.Record != nil {
		e.Record.Spec.Objectives = r.asked[e.Record.PointID]
	}
	r.under.event(e)
	r.view.event(e)
	r.options.watching.event(e)
	if e.Record == nil {
		return
	}
	if e.Kind == lab.Skipped {
		r.stored[e.Record.Status]++
	}
	if r.options.gates.wanted() || len(r.asked) > 0 {
		r.records = append(r.records, *e.Record)
	}
	if e.Record.Status != store.OK && r.bad[e.Record.Status] == nil {
		r.bad[e.Record.Status] = e.Record
	}
	if r.options.format == "jsonl" && r.outErr == nil {
		r.outErr = writeFlat(r.sh.out, func(yield func(store.Record, error) bool) { yield(*e.Record, nil) }, results.LatencyKind{})
	}
}

// lookUp returns the stored record because of which a repetition was skipped, or nil.
func (r *running) lookUp(ctx context.Context, run study.Run) *store.Record {
	records, err := r.store.Records(ctx, store.Filter{
		PointIDs: []string{run.Point.ID}, Statuses: []store.Status{store.OK, store.Failed, store.Void, store.Refused},
	})
	if err != nil {
		return nil
	}
	for _, rec := range slices.Backward(records) {
		if rec.Repetition == run.Repetition {
			return &rec
		}
	}
	return nil
}

// finish shows the results and returns the error that the run ends with.
func (r *running) finish(p plan, t lab.Tally, err, unstored error) error {
	if err == nil && unstored != nil {
		return unstored
	}
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		if unstored != nil {
			fmt.Fprintf(r.sh.err, "brokermark: %s\n", secret.Redact(unstored.Error()))
		}
		fmt.Fprintf(r.sh.err, "brokermark: interrupted; %d of %d repetitions are done and stored in %s; %s\n",
			t.OK+t.Failed+t.Refused+t.Skipped+t.Spared, len(p.runs), r.store.Name(), r.options.next())
		_ = r.options.gates.judge(r.sh.err, results.Of(r.records)) // being interrupted is what the exit code says
		return &failure{code: exitInterrupted}
	case err != nil:
		return err
	case r.outErr != nil:
		return fmt.Errorf("write to stdout: %w", r.outErr)
	}
	if r.options.question != nil && (t.OK+t.Skipped > 0 || len(p.runs) == 0 || r.options.profiles != "") {
		return r.options.question.finish(r.sh)
	}
	if r.options.format == "table" && !foundNoBroker(p, t) { // else the lines above have said all there is
		if err := r.summary(p); err != nil {
			return err
		}
	}
	judged := r.options.gates.judge(r.sh.err, results.Of(r.records))
	t.OK += r.stored[store.OK]
	t.Failed += r.stored[store.Failed]
	t.Void += r.stored[store.Void]
	t.Refused += r.stored[store.Refused]
	if code := codeOfTally(t); code != exitFine {
		return r.failed(p, t, code)
	}
	return judged
}

// foundNoBroker reports whether no repetition at all found a broker, so that there is nothing to report on.
func foundNoBroker(p plan, t lab.Tally) bool { return t.Unstarted > 0 && t.Unstarted == len(p.runs) }

// failed returns the error with which a run of that exit code ends. The reasons of single points have been printed.
func (r *running) failed(p plan, t lab.Tally, code int) error {
	total := unit.Counted(t.OK+t.Failed+t.Void+t.Refused+t.Aborted, "repetition")
	var what, hint string
	var first *store.Record
	switch code {
	case exitBroker:
		what, hint, first = fmt.Sprintf("%d of %s found no broker", t.Unstarted, total), "brokermark doctor says what is missing", r.bad[store.Failed]
	case exitFailed:
		what, hint, first = fmt.Sprintf("%d of %s failed", t.Failed+t.Lost, total), "failed repetitions run again next time; their records stay", r.bad[store.Failed]
	case exitVoid:
		what, first = fmt.Sprintf("%d of %s void: the generator limited what they found", t.Void, total), r.bad[store.Void]
		hint = "a quieter machine, more cores, a lower rate, or a larger inFlight window; void repetitions run again next time"
	case exitInput:
		what, first = "nothing was measured: every point was refused", r.bad[store.Refused]
		if known, err := refusals(p.points); err == nil && len(known) > 0 { // else only the broker itself could tell
			hint = "brokermark check shows the refusals without running anything"
		}
	}
	if brokerLost := t.Failed == 0 && t.Lost > 0; brokerLost && (code == exitBroker || code == exitFailed) {
		first = r.bad[store.Aborted]
	}
	if first != nil && code == exitBroker && len(first.Spec.Attach) > 0 {
		hint = "is the broker running at that address, and does it expect this protocol, TLS and login?"
	}
	if first != nil && len(p.runs) > 1 && !foundNoBroker(p, t) { // else the lines above say why
		what += fmt.Sprintf("; the first: %s: %s", first.Label, firstLine(first.Reason))
	}
	return &failure{code: code, err: errors.New(what), hint: hint}
}

// shellWords quotes arguments for a shell.
func shellWords(list []string) string { return strings.Join(lists.Map(list, shellWord), " ") }

// shellWord quotes an argument for a shell, so that users can copy commands that are shown.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
