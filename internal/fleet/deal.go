package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/worker"
)

// dealt are the parts of a plan for agents.
func dealt(p agent.Plan, hands []*remote) ([]worker.Plan, error) {
	if !p.Place.Apart() {
		return p.Worker.Split(len(hands))
	}
	numbers := func(names []string) (list []int, err error) {
		for _, name := range names {
			i := slices.IndexFunc(hands, func(r *remote) bool { return r.info.Name == name })
			if i < 0 {
				return nil, fmt.Errorf("place: no agent of this run is called %s; there are %s", name, called(hands))
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
	return p.Worker.Shared(len(hands), producing, consuming)
}

func called(hands []*remote) string {
	var names []string
	for _, r := range hands {
		names = append(names, r.info.Name)
	}
	return strings.Join(names, ", ")
}
