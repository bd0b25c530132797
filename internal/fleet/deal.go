package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/worker"
)

// dealt splits a plan into one part for each agent.
func dealt(p agent.Plan, agents []*remote) ([]worker.Plan, error) {
	if !p.Place.SplitsTopics() {
		return p.Worker.Split(len(agents))
	}
	numbers := func(names []string) (list []int, err error) {
		for _, name := range names {
			i := slices.IndexFunc(agents, func(r *remote) bool { return r.info.Name == name })
			if i < 0 {
				return nil, fmt.Errorf("place: no agent of this run is called %s; there are %s", name, called(agents))
			}
			list = append(list, i)
		}
		return list, nil
	}
	producing, err := numbers(p.Place.Producers)
	if err != nil {
		return nil, err
	}
	consuming, err := numbers(p.Place.Consumers)
	if err != nil {
		return nil, err
	}
	return p.Worker.Spread(len(agents), producing, consuming)
}

func called(agents []*remote) string {
	var names []string
	for _, r := range agents {
		names = append(names, r.info.Name)
	}
	return strings.Join(names, ", ")
}
