package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
)

// available installs what the plan needs and leaves out the points of brokers for which that fails, saying why.
func (s *shell) available(ctx context.Context, host *provision.Host, p plan, view *progress) (plan, error) {
	type product struct{ broker, version string }
	missing := map[product]bool{}
	for _, point := range p.points {
		b := product{point.Spec.Broker, point.Spec.Version}
		if _, known := missing[b]; known || !starts(point.Spec) {
			continue
		}
		_, err := host.Install(ctx, b.broker, b.version)
		if ctx.Err() != nil {
			return p, ctx.Err()
		}
		// A version that doesn't exist is a refusal that the results must show.
		missing[b] = err != nil && !is[*provision.ErrRefused](err)
		if missing[b] {
			view.say("leaving out %s: %s", b.broker, firstLine(err))
		}
	}
	gone := func(point study.Point) bool {
		return starts(point.Spec) && missing[product{point.Spec.Broker, point.Spec.Version}]
	}
	p.points = slices.DeleteFunc(slices.Clone(p.points), gone)
	p.runs = slices.DeleteFunc(slices.Clone(p.runs), func(r study.Run) bool { return gone(r.Point) })
	if len(p.runs) == 0 {
		return p, &failure{code: exitBroker, err: fmt.Errorf("none of the brokers can be started on this machine"), hint: "brokermark doctor says what is missing"}
	}
	view.total(len(p.runs))
	return p, nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
