package page

import (
	"testing"

	"github.com/brokermark/brokermark/internal/store"
)

// A stall must not vanish between two dots, whichever line shows it.
func TestAThinnedCourseKeepsTheLargestValueOfEveryLineButRates(t *testing.T) {
	r := store.Record{Result: &store.Result{}}
	for i := range 40 {
		tick := store.Tick{OffsetNs: int64(i) * 1e9, Phase: "measure", PublishRate: float64(i % 4), Backlog: 1, EndToEndP99: 1, BrokerCPU: 1, Sides: &store.SidesTick{}}
		if i%4 == 1 { // the second of four that are joined
			tick.Backlog, tick.EndToEndP99, tick.BrokerCPU = 9, 9, 9
			tick.Sides.Producing.User, tick.Sides.Consuming.RSSBytes = 9, 9
		}
		r.Result.Series = append(r.Result.Series, tick)
	}
	var list runList
	list.add(candidate{record: r}, 10)
	c := list.Runs[0]
	if len(c.Seconds) != 10 || c.Seconds[0] != 3 || c.Seconds[9] != 39 {
		t.Errorf("at %v s, want the last of four ticks each", c.Seconds)
	}
	want := map[string]number{"published": 1.5, "backlog": 9, "e2e p99": 9, "broker CPU": 9, "producing CPU": 9, "consuming memory": 9}
	for _, p := range c.Panels {
		for i, name := range list.Panels[p.Panel].Lines {
			for _, v := range p.Values[i] {
				if wanted, ok := want[name]; ok && v != wanted {
					t.Errorf("%s: %v, want %v", name, v, wanted)
				}
			}
			delete(want, name)
		}
	}
	if len(want) > 0 {
		t.Errorf("no line of %v", want)
	}
}
