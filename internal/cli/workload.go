package cli

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/exchange"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/studies"
	"github.com/brokermark/brokermark/studies/proof"
)

// axisFlag is a flag that sets what a spec has at path. With several values it makes an axis: --size 100,1KiB measures at two
// values of messageSize.
type axisFlag struct{ name, path, doc string }

var axisFlags = []axisFlag{
	{"broker", "broker", "brokers, or broker@version"},
	{"size", "messageSize", "payload sizes, such as 100,1KiB"},
	{"measure", "measure", "what is measured: rate, peak, sustainable, curve, count, backlog, read"},
	{"rate", "load.rate", "messages per second over all producers"},
	{"delivery", "delivery", "guarantees: at-most-once, at-least-once, exactly-once"},
	{"persistence", "persistence", "what an ack stands for: memory, log, fsync"},
	{"replicas", "replicas", "copies of each message"},
	{"nodes", "nodes", "servers in the cluster"},
	{"tls", "tls", "encryption of the clients' connections: off, on, mutual"},
	{"topic", "topicName", "attached brokers: a topic that is there, to use instead of making one"},
	{"topic-prefix", "topicPrefix", "what the names of all that is made begin with, such as mine."},
	{"topics", "topics", "topics, queues or subjects"},
	{"partitions", "partitionsPerTopic", "partitions per topic"},
	{"producers", "producersPerTopic", "producers per topic"},
	{"subscriptions", "subscriptionsPerTopic", "subscriptions per topic; each receives every message"},
	{"consumers", "consumerPerSubscription", "consumers that share a subscription; 3+2: three of the first, two of the second"},
	{"generator", "generator", "what sends and receives: brokermark, or tools of the broker's maker such as perf-test"},
	{"relays", "relays", "processes that consume every message and produce it to a further topic, which the consumers read"},
	{"duration", "duration", "length of the measured phase, such as 30s"},
	{"latency", "sustainable.latency", "searches: bound of the end-to-end latency, such as 20ms"},
	{"quantile", "sustainable.quantile", "searches: quantile that --latency bounds, such as 0.99"},
	{"budget", "sustainable.budget", "searches: begin no trial that would end later, such as 30s"},
	{"soak", "sustainable.soak", "searches: also hold the rate that was found for this long, such as 10m"},
	{"seed", "seed", "seed of payloads, arrivals, keys and the order of points"},
}

// once is the value of a flag that gives a setting, and which isn't given again with another value. The same value may
// come again: completion parses its words twice.
type once string

func (o *once) String() string { return string(*o) }
func (*once) Type() string     { return "string" }

func (o *once) Set(value string) error {
	if *o != "" && string(*o) != value {
		return fmt.Errorf("given twice: it is %s already", shellWord(string(*o)))
	}
	*o = once(value)
	return nil
}

// list is the value of an axis flag: values with commas between them, which the study takes apart.
type list struct{ once }

func (*list) Type() string { return "list" }

// addAxisFlags adds axis flags, which keep their values themselves.
func addAxisFlags(c *cobra.Command, flags []axisFlag) {
	c.Flags().SortFlags = false
	for _, a := range flags {
		c.Flags().Var(new(list), a.name, a.doc)
	}
}

// workload are the flags that say what to run. The commands run and check share them; the parts of a pipeline use some.
type workload struct {
	sh      *shell
	flags   *pflag.FlagSet // among them axisFlags and loginFlags
	sets    []string
	more    []string // axes, such as inFlight.messages=100,1000
	repeat  once
	quick   bool
	explain bool
	scale   string
	only    []string
	attach  []string
	trust   bool

	driver   string // the name of a driver file of the OpenMessaging Benchmark; empty without one
	ofDriver exchange.OMBDriver
}

func (s *shell) workload(c *cobra.Command) *workload {
	c.ValidArgsFunction = studyNamesAndFiles
	f := c.Flags()
	w := &workload{sh: s, flags: f}
	addAxisFlags(c, axisFlags)
	addLoginFlags(f)
	f.StringArrayVar(&w.sets, "set", nil, "override a setting by `path=value`, such as client.linger.ms=5; repeatable")
	f.StringArrayVar(&w.more, "axis", nil, "vary a setting by `path=list`, such as inFlight.messages=100,1000; repeatable")
	f.Var(&w.repeat, "repeat", "`number` of repetitions of every point, or 'until 5%': as many as make the interval so narrow, at most 20")
	f.BoolVar(&w.quick, "quick", false, "a few seconds per point, for a first look")
	f.BoolVar(&w.explain, "explain", false, "of one point: then change what may be its limit, and show whether the rate moves")
	f.StringVar(&w.scale, "scale", "", "`size` of a study: full, or one that its document names, such as quick")
	f.StringSliceVar(&w.only, "only", nil, "`names` of the study's experiments; the others are left out")
	f.BoolVar(&w.trust, "trust-spec", false, "let a study file choose passwords, keys and files to send, and any server setting")
	f.StringSliceVar(&w.attach, "attach", nil, "`addresses` of a running broker, to measure that instead of starting one")
	return w
}

func studyNamesAndFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return append(studies.Names(), proof.Names(provable())...), cobra.ShellCompDirectiveDefault // and files
}

// plan is all that a command was asked to run: two sizes, three brokers and --repeat 5 are 6 points and 30 runs.
type plan struct {
	studies []*study.Study
	points  []study.Point      // of all studies; one that several studies have stands once for each, with what each says of it
	runs    []study.Run        // each repetition once
	until   map[string]float64 // of points that are repeated until they are known so closely; see closeEnough
}

// pointIDs returns the IDs of all points.
func (p plan) pointIDs() []string {
	return lists.Map(p.points, func(point study.Point) string { return point.ID })
}

// different returns each point once, as the first study has it.
func (p plan) different() []study.Point {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(p.points), func(point study.Point) bool {
		again := seen[point.ID]
		seen[point.ID] = true
		return again
	})
}

// load reads the studies that args name and lets the flags override their settings.
func (w *workload) load(args []string) (plan, error) {
	type repetition struct {
		point  string
		number int
	}
	w.sh.idle.Store(true)
	defer w.sh.idle.Store(false)
	p, planned := plan{until: map[string]float64{}}, map[repetition]bool{}
	found, err := w.studies(args)
	if err != nil {
		return p, err
	}
	if found, err = w.sized(found); err != nil {
		return p, err
	}
	var byStudy [][]study.Point
	budget := new(study.Budget)
	for _, s := range found {
		if err := w.override(s); err != nil {
			return p, err
		}
		points, err := s.PointsWithin(budget)
		if err != nil {
			return p, err
		}
		p.studies, byStudy = append(p.studies, s), append(byStudy, points)
	}
	p.points = slices.Concat(byStudy...) // to which the runs refer
	from := 0
	for i, s := range found {
		points := p.points[from:][:len(byStudy[i])]
		from += len(points)
		seed := cmp.Or(s.Seed, rand.Int64())
		for _, r := range study.Order(points, s.Repeats, seed, lab.SharedBroker) {
			if key := (repetition{r.Point.ID, r.Repetition}); !planned[key] {
				planned[key] = true
				p.runs = append(p.runs, r)
			}
		}
		for _, point := range points {
			if s.Until > 0 {
				p.until[point.ID] = s.Until
			}
		}
	}
	return p, w.explainable(p)
}

// objectives returns, by point ID, what points should reach. Points without objectives are left out.
func (p plan) objectives() map[string]study.Objectives {
	asked := map[string]study.Objectives{}
	for _, point := range p.points {
		if len(point.Spec.Objectives) > 0 {
			asked[point.ID] = point.Spec.Objectives
		}
	}
	return asked
}

// untouched reports whether no flag says what to run.
func (w *workload) untouched() bool {
	names := lists.Map(axisFlags, func(a axisFlag) string { return a.name })
	return !slices.ContainsFunc(append(names, "set", "axis", "attach"), w.flags.Changed)
}

// notes returns lines that say at which scale each study with several is run, and which secrets would cross the network as plain text.
func (p plan) notes() (out []string) {
	for _, s := range p.studies {
		out = append(out, s.Notes...)
		if there := s.Scales(); len(there) > 1 {
			out = append(out, fmt.Sprintf("%s at scale %s (--scale: %s)", s.Name, s.AtScale(), strings.Join(there, ", ")))
		}
	}
	for _, point := range p.points {
		out = lists.AddNew(out, lab.Overheard(point.Spec)...)
	}
	return out
}

// sized brings each study to the scale asked for, or its usual one, and leaves only the experiments asked for. Each
// experiment must be of one of the studies, and each study must have one of them.
func (w *workload) sized(found []*study.Study) ([]*study.Study, error) {
	for _, s := range found {
		name := w.scale
		if !w.flags.Changed("scale") {
			name = s.UsualScale()
		}
		if err := s.Scale(name); err != nil {
			return nil, err
		}
	}
	if !w.flags.Changed("only") {
		return found, nil
	}
	ofAny := map[string]bool{}
	for _, s := range found {
		for _, name := range s.Experiments() {
			ofAny[name] = true
		}
	}
	for _, s := range found {
		others := func(name string) bool { return ofAny[name] && !slices.Contains(s.Experiments(), name) }
		own := slices.DeleteFunc(slices.Clone(w.only), others)
		if len(own) == 0 {
			own = w.only // which the study refuses
		}
		if err := s.Only(own); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// override has the flags override a study's settings.
func (w *workload) override(s *study.Study) (err error) {
	set := func(flag, path string, values ...string) {
		if err == nil {
			err = s.SetAxis(flag, path, values)
		}
	}
	for _, a := range w.ofDriver.Settings {
		if err == nil {
			err = s.SetFrom(w.driver, a.Path, a.Value)
		}
	}
	for _, a := range slices.Concat(axisFlags, loginFlags) {
		if !w.flags.Changed(a.name) {
			continue
		}
		value := w.flags.Lookup(a.name).Value
		typed := []string{value.String()}
		if _, isList := value.(*list); isList {
			typed = strings.Split(value.String(), ",")
		}
		if a.path == "topicName" || a.path == "topicPrefix" { // mine: would be a mapping in YAML
			typed = lists.Map(typed, strconv.Quote)
		}
		set("--"+a.name+" "+shellWord(value.String()), a.path, typed...)
	}
	for _, axis := range w.more {
		path, values, ok := strings.Cut(axis, "=")
		if err == nil && !ok {
			err = badInput("--axis '%s': not an axis; allowed: path=value,value, such as load.rate=1000,20000", axis)
		}
		set("--axis '"+axis+"'", strings.TrimSpace(path), strings.Split(values, ",")...)
	}
	for _, setting := range w.sets {
		if err == nil {
			err = s.Set(setting)
		}
	}
	if w.flags.Changed("attach") {
		// Without quotes [::1]:4222 would be a list in YAML.
		quoted := lists.Map(w.attach, func(a string) string { return strconv.Quote(strings.TrimSpace(a)) })
		set("--attach "+strings.Join(w.attach, ", "), "attach", "["+strings.Join(quoted, ", ")+"]")
	}
	if w.flags.Changed("repeat") {
		set("--repeat "+shellWord(w.repeat.String()), "repeats", w.repeat.String())
	}
	if w.quick {
		s.Quick()
	}
	s.Notes = append(s.Notes, w.ofDriver.Notes...)
	return err
}

// loginFlags let the clients log in to a broker that they attach to. None of them is a password, which everybody would see who
// lists processes.
var loginFlags = []axisFlag{
	{"login", "login", "with --attach: what to show instead of user and password: " + strings.Join(study.Logins, ", ")},
	{"user", "user", "with --attach: user to connect as"},
	{"password-env", "passwordEnv", "with --attach: environment `variable` that holds the password, or what --login needs instead"},
	{"password-file", "passwordFile", "with --attach: `file` that holds it"},
	{"oauth-url", "oauth.url", "with --login oauth: `endpoint` that gives tokens; --set oauth.scope=… and oauth.audience=… say for what"},
	{"ca-file", "caFile", "with --attach: authorities to trust, a PEM `file` (default: the system's)"},
	{"cert-file", "certFile", "with --attach and --tls mutual: the client's certificate, a PEM `file`"},
	{"key-file", "keyFile", "with --attach and --tls mutual: its key, a PEM `file`"},
}

// openSecrets refuses arguments with a password or a token in them, whatever they are for.
func openSecrets(args []string) error {
	for i, arg := range args {
		if i > 0 && args[i-1] == "--attach" { // its value has no name of its own
			arg = "--attach=" + arg
		}
		if secret.In(arg) {
			return hinted(badInput("argument %q holds a secret, which every user of this machine can see in the list of processes", secret.Redact(arg)),
				"a store's password comes from PGPASSWORD or ~/.pgpass, a broker's from --user with --password-env, or with --password-file")
		}
	}
	return nil
}

// addLoginFlags adds loginFlags, which keep their values themselves.
func addLoginFlags(f *pflag.FlagSet) {
	for _, l := range loginFlags {
		f.Var(new(once), l.name, l.doc)
	}
}
