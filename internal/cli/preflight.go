package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
)

// refusals returns, by point ID, why a broker is known to refuse a point before anything is started. It returns an error, bad
// input, for an unknown broker or version, a setting of the wrong type, and a setting that no broker of the points knows: with
// kafka and nats, client.linger.ms refuses the points of nats only, and client.lingr.ms is an error. So is an objective that no point
// measures, and a point that is another one's work in other words.
func refusals(points []study.Point) (map[string]string, error) {
	refused := map[string]string{}
	unknown, known := map[string]error{}, map[string]bool{} // settings, by their path
	for _, p := range points {
		if _, err := gate.Objectives(p.Spec); err != nil {
			return nil, badInput("%s", placed(p, err))
		}
		if err := askPowers(p.Spec); err != nil {
			unsupported, isUnsupported := errors.AsType[*driver.ErrUnsupported](err)
			unobtainable, isUnobtainable := errors.AsType[*provision.ErrRefused](err)
			if !isUnsupported && !(isUnobtainable && unobtainable.Path != "version") {
				return nil, badInput("%s", placed(p, err))
			}
			refused[p.ID] = placed(p, err)
			if isUnsupported && unsupported.Unknown {
				unknown[unsupported.Path] = badInput("%s", placed(p, err))
				continue
			}
		}
		for name := range p.Spec.Client {
			known["client."+name] = true
		}
		for name := range p.Spec.Topic {
			known["topicConfig."+name] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(unknown)) {
		if !known[path] {
			return nil, unknown[path]
		}
	}
	if p, err := gate.Unmeasured(points); err != nil {
		return nil, badInput("%s", placed(p, err))
	}
	if p, err := sameWork(points); err != nil {
		return nil, badInput("%s", placed(p, err))
	}
	return refused, nil
}

// sameWork returns an error about a point, and the point, whose settings of client and topic mean the same to the broker's driver as
// those of an earlier one of its study: 0s and 0ms. As texts they differ, and so do the points' IDs; each would be measured.
func sameWork(points []study.Point) (study.Point, error) {
	type work struct{ study, id string }
	first := map[work]study.Point{}
	for _, p := range points {
		read, ok := asRead(p.Spec)
		if !ok {
			continue
		}
		w := work{p.Study, read.ID()}
		earlier, there := first[w]
		if !there {
			first[w] = p
			continue
		}
		if path, value, other := otherWords(p.Spec, earlier.Spec); path != "" {
			return p, &driver.ErrSetting{Path: path, Err: fmt.Errorf("%s: %v means the same as %v, so that two points would be the same work; "+
				"allowed: each value once", path, value, other)}
		}
	}
	return study.Point{}, nil
}

// asRead returns a spec with the values of client and topic that it gives as its driver reads them. ok is false if it gives none, or the
// driver can't read them.
func asRead(s study.Spec) (_ study.Spec, ok bool) {
	kind, err := driver.Lookup(s.Broker)
	if err != nil || len(s.Client)+len(s.Topic) == 0 {
		return s, false
	}
	for scope, given := range map[driver.Scope]*map[string]any{driver.ClientScope: &s.Client, driver.TopicScope: &s.Topic} {
		values, err := driver.Decode(kind.Settings, scope, *given)
		if err != nil {
			return s, false
		}
		maps.DeleteFunc(values, func(name string, _ any) bool { _, isGiven := (*given)[name]; return !isGiven })
		*given = values
	}
	return s, true
}

// otherWords names the first setting of client or topic that two specs give in different words.
func otherWords(a, b study.Spec) (path string, ofA, ofB any) {
	for _, group := range []struct {
		prefix string
		a, b   map[string]any
	}{{"client.", a.Client, b.Client}, {"topicConfig.", a.Topic, b.Topic}} {
		for _, name := range slices.Sorted(maps.Keys(group.a)) {
			if ofA, ofB := group.a[name], group.b[name]; fmt.Sprint(ofA) != fmt.Sprint(ofB) {
				return group.prefix + name, ofA, ofB
			}
		}
	}
	return "", nil, nil
}

// placed returns an error's text after the place where the setting that it is about was written, such as "study.yaml:7".
func placed(p study.Point, err error) string {
	var about interface{ SettingPath() string }
	if errors.As(err, &about) {
		if where := p.Where(about.SettingPath()); where != "" {
			return where + ": " + err.Error()
		}
	}
	return err.Error()
}

// askPowers returns why a broker doesn't support a spec, as far as that is known without starting it.
func askPowers(s study.Spec) error {
	if _, err := driver.Lookup(s.Broker); err != nil {
		return &driver.ErrSetting{Path: "broker", Err: fmt.Errorf("%w%s", err, suggest.DidYouMean(s.Broker, driver.Names()))}
	}
	return lab.Possible(s)
}

// starts reports whether a broker is started for the spec.
func starts(s study.Spec) bool {
	_, ok := catalog.Started(s.Broker)
	return ok && len(s.Attach) == 0
}

// product is a broker in one version.
type product struct{ broker, version string }

func productOf(s study.Spec) product { return product{s.Broker, s.Version} }

// install installs the brokers of the runs that are still to do, before the first point: installations take minutes and would
// spoil every estimate of time. It returns those that could not be installed. A version that doesn't exist isn't among them: that
// is a refusal, which the results have to show. A file that is not the known one ends the run.
func install(ctx context.Context, host *provision.Host, st *store.Store, p plan, again bool, view *progress) (map[product]error, error) {
	done, err := st.Done(ctx, p.pointIDs())
	if err != nil {
		return nil, err
	}
	tried, missing := map[product]bool{}, map[product]error{}
	for _, r := range p.runs {
		s := r.Point.Spec
		if _, stored := done[r.Point.ID][r.Repetition]; stored && !again || tried[productOf(s)] || !starts(s) {
			continue
		}
		tried[productOf(s)] = true
		if len(host.Installed(s.Broker, s.Version)) > 0 {
			view.say("installing %s", strings.TrimSuffix(s.Broker+"@"+s.Version, "@"))
		}
		_, err := host.Install(ctx, s.Broker, s.Version)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if is[*provision.ErrAltered](err) {
			return nil, brokerFailed(err)
		}
		if err != nil && !is[*provision.ErrRefused](err) {
			missing[productOf(s)] = err
		}
	}
	return missing, nil
}

// unrefused returns the plan without the points that are known to be refused, for which nothing needs to be installed.
func (p plan) unrefused(refused map[string]string) plan {
	p.runs = slices.DeleteFunc(slices.Clone(p.runs), func(r study.Run) bool { return refused[r.Point.ID] != "" })
	return p
}

// without returns the plan without the points of missing brokers, and says why they are left out.
func (p plan) without(missing map[product]error, view *progress) (plan, error) {
	var lines []string
	for b, err := range missing {
		lines = append(lines, fmt.Sprintf("leaving out %s: %s", b.broker, firstLine(err.Error())))
	}
	for _, line := range slices.Sorted(slices.Values(lines)) {
		view.say("%s", line)
	}
	gone := func(point study.Point) bool { return starts(point.Spec) && missing[productOf(point.Spec)] != nil }
	p.points = slices.DeleteFunc(slices.Clone(p.points), gone)
	p.runs = slices.DeleteFunc(slices.Clone(p.runs), func(r study.Run) bool { return gone(*r.Point) })
	if len(p.runs) == 0 {
		return p, &failure{
			code: exitBroker, err: errors.New("none of the brokers can be started on this machine"), hint: "brokermark doctor says what is missing",
		}
	}
	return p, nil
}

// firstLine is that of a text; where it announces others ("its log ends:"), with the last of them.
func firstLine(text string) string {
	line, others, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.HasSuffix(line, ":") {
		line += " " + strings.TrimSpace(others[strings.LastIndexByte(others, '\n')+1:])
	}
	return line
}
