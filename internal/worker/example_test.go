package worker

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
)

func ExampleThinned() {
	t := NewThinned[int](4)
	for i := 1; i <= 9; i++ {
		t.Add(i)
		if i == 4 || i == 5 || i == 9 {
			fmt.Println(t.Values())
		}
	}
	// Output:
	// [1 2 3 4]
	// [1 3 5]
	// [1 5 9]
}

func ExamplePauses_Union() {
	a := Pauses{Stops: []Interval{{From: 10, To: 20}, {From: 50, To: 60}}}
	b := Pauses{Stops: []Interval{{From: 15, To: 25}}}
	fmt.Println(a.Union(b).Stops, a.Intersect(b), a.StoodStill(0, 55))
	// Output: [{10 25} {50 60}] [{15 20}] 15
}

// Four topics with a producer each, for two agents. Consumers of the topics 0 and 2 share a connection, so these topics stay together.
func ExamplePlan_Split() {
	plan := Plan{Consumers: []driver.ConsumerConfig{{Topic: 0, Also: []int{2}}, {Topic: 1}, {Topic: 3}}}
	for i, name := range []string{"a", "b", "c", "d"} {
		plan.Topology.Topics = append(plan.Topology.Topics, driver.Topic{Name: name})
		plan.Producers = append(plan.Producers, Producer{ID: i, Topic: i})
	}
	parts, err := plan.Split(2)
	if err != nil {
		fmt.Println(err)
	}
	for _, part := range parts {
		for _, p := range part.Producers {
			fmt.Printf("producer %d sends to %s; ", p.ID, part.Topology.Topics[p.Topic].Name)
		}
		fmt.Println("clients", part.Part.Clients)
	}
	_, err = plan.Split(4)
	fmt.Println(err)
	// Output:
	// producer 0 sends to a; producer 2 sends to c; producer 3 sends to d; clients [0 2 3]
	// producer 1 sends to b; clients [1]
	// 4 agents, but all streams of a topic, and topics that share connections, run on one agent, and there are 3 of these
}

func ExamplePlan_Spread() {
	plan := Plan{Producers: []Producer{{ID: 0}, {ID: 1}, {ID: 2}}, Consumers: []driver.ConsumerConfig{{}}}
	parts, err := plan.Spread(4, nil, nil)
	if err != nil {
		fmt.Println(err)
	}
	for i, part := range parts {
		fmt.Printf("part %d: producers %v, %d consumers\n", i, part.Producers, len(part.Consumers))
	}
	// Output:
	// part 0: producers [{0 0}], 0 consumers
	// part 1: producers [{1 0}], 0 consumers
	// part 2: producers [{2 0}], 0 consumers
	// part 3: producers [], 1 consumers
}
