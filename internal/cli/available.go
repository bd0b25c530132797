package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// product is a broker in one version.
type product struct{ broker, version string }

func productOf(s study.Spec) product { return product{s.Broker, s.Version} }

// install installs the brokers of the runs that are still to do, before the first point: installations take minutes and would
// spoil every estimate of time. It returns those that could not be installed. A version that doesn't exist isn't among them: that
// is a refusal, which the results have to show.
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
	for b, err := range missing {
		view.say("leaving out %s: %s", b.broker, firstLine(err.Error()))
	}
	gone := func(point study.Point) bool { return starts(point.Spec) && missing[productOf(point.Spec)] != nil }
	p.points = slices.DeleteFunc(slices.Clone(p.points), gone)
	p.runs = slices.DeleteFunc(slices.Clone(p.runs), func(r study.Run) bool { return gone(r.Point) })
	if len(p.runs) == 0 {
		return p, &failure{
			code: exitBroker, err: errors.New("none of the brokers can be started on this machine"), hint: "brokermark doctor says what is missing",
		}
	}
	return p, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
