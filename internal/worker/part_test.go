package worker

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/testkit"
)

// laidOut returns a plan of topics with each producers per topic and one consumer. Topics share connections, if connections is not 0.
func laidOut(topics, each, connections int) Plan {
	p := Plan{Clients: connections * each, Topology: driver.Topology{Subscriptions: []string{"s"}}}
	for t := range topics {
		p.Topology.Topics = append(p.Topology.Topics, driver.Topic{Name: fmt.Sprint(t)})
		for range each {
			p.Producers = append(p.Producers, Producer{ID: len(p.Producers), Topic: t})
		}
	}
	if connections == 0 {
		connections = topics
	}
	for first := range min(connections, topics) {
		c := driver.ConsumerConfig{Of: 1, Topic: first}
		for t := first + connections; t < topics; t += connections {
			c.Also = append(c.Also, t)
		}
		p.Consumers = append(p.Consumers, c)
	}
	return p
}

// arrivalsOf returns when each producer of a plan sends before end, by its ID.
func arrivalsOf(p *Plan, s schedule.Schedule, end int64) map[int][]int64 {
	out := map[int][]int64{}
	for i := range p.clients() {
		l := p.newSegment(s, i, 0, nil)
		var mine []Producer
		for k := i; k < len(p.Producers); k += p.clients() {
			mine = append(mine, p.Producers[k])
		}
		for n := int64(0); l.at(n) < end; n++ {
			id := mine[l.turns.Of(n)].ID
			out[id] = append(out[id], l.at(n))
		}
	}
	return out
}

func TestPartsOfAPlanSendWhatThePlanWouldHaveSent(t *testing.T) {
	poisson, err := schedule.Poisson(97, 5)
	if err != nil {
		t.Fatal(err)
	}
	schedules := []schedule.Schedule{constant(t, 97), poisson}
	testkit.Check(t, func(t *rapid.T) {
		topics := rapid.IntRange(1, 12).Draw(t, "topics")
		each := rapid.IntRange(1, 3).Draw(t, "producers")
		connections := rapid.IntRange(0, topics).Draw(t, "connections")
		whole := laidOut(topics, each, connections)
		units := topics
		if connections > 0 {
			units = connections
		}
		n := rapid.IntRange(1, units+1).Draw(t, "parts")
		parts, err := whole.Split(n)
		if n > units {
			if err == nil {
				t.Fatalf("%d parts of %d", n, units)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		const end = int64(time.Second)
		for _, s := range schedules {
			want := arrivalsOf(&whole, s, end)
			var due, total int64
			for k := range parts {
				p := &parts[k]
				due += p.counter(s).Count(end)
				for _, limit := range p.limits(s, 50) {
					total += limit
				}
				got := arrivalsOf(p, s, end)
				for _, one := range p.Producers {
					if !slices.Equal(got[one.ID], want[one.ID]) {
						t.Fatalf("producer %d of part %d sends at %v; want %v", one.ID, k, got[one.ID], want[one.ID])
					}
					delete(want, one.ID)
				}
			}
			if len(want) > 0 || due != whole.counter(s).Count(end) || total != 50 {
				t.Fatalf("producers %v are missing; %d due, %d of 50 dealt", want, due, total)
			}
		}
		received := map[string]int{}
		for _, p := range parts {
			for _, c := range p.Consumers {
				for _, topic := range c.Topics() {
					received[p.Topology.Topics[topic].Name]++
				}
			}
			for _, one := range p.Producers {
				if name := p.Topology.Topics[one.Topic].Name; name != fmt.Sprint(one.ID/each) {
					t.Fatalf("producer %d sends to topic %s", one.ID, name)
				}
			}
		}
		for topic := range topics {
			if received[fmt.Sprint(topic)] != 1 {
				t.Fatalf("topic %d is received %d times", topic, received[fmt.Sprint(topic)])
			}
		}
	})
}

// Each producer sends when it would have sent in the undivided plan, and each consumer is in one part.
func TestWorkersThatShareAPlanSendWhatThePlanWouldHaveSent(t *testing.T) {
	poisson, err := schedule.Poisson(97, 5)
	if err != nil {
		t.Fatal(err)
	}
	schedules := []schedule.Schedule{constant(t, 97), poisson}
	testkit.Check(t, func(t *rapid.T) {
		topics, each := rapid.IntRange(1, 6).Draw(t, "topics"), rapid.IntRange(1, 3).Draw(t, "producers")
		whole := laidOut(topics, each, rapid.IntRange(0, topics).Draw(t, "connections"))
		n := rapid.IntRange(1, 9).Draw(t, "parts")
		var producing, consuming []int
		if rapid.Bool().Draw(t, "named") && n > 1 {
			producing, consuming = []int{0, n - 1, 0}, []int{n - 1}
			n = 2
			producing[1], consuming[0] = 1, 1
		}
		parts, err := whole.Spread(n, producing, consuming)
		if things := whole.clients() + len(whole.Consumers); n > things {
			if err == nil {
				t.Fatalf("%d parts of %d things", n, things)
			}
			return
		} else if err != nil {
			t.Fatal(err)
		}
		consumers := 0
		for k, p := range parts {
			consumers += len(p.Consumers)
			if made := !p.Topology.Existing; n > 1 && (made != (k == 0) || p.Peers.Producers != len(whole.Producers)) {
				t.Fatalf("part %d makes topics: %t; %+v", k, made, p.Peers)
			}
			if topics > 1 || n < 2 || producing != nil {
				continue
			}
			if len(p.Producers) > 0 && len(p.Consumers) > 0 && each < n {
				t.Fatalf("part %d of %d has producers and consumers of the one topic, and another one has room", k, n)
			}
		}
		if consumers != len(whole.Consumers) {
			t.Fatalf("%d consumers of %d", consumers, len(whole.Consumers))
		}
		for _, s := range schedules {
			want := arrivalsOf(&whole, s, int64(time.Second))
			var due, total int64
			for k := range parts {
				p := &parts[k]
				if len(p.Producers) == 0 {
					continue
				}
				due += p.counter(s).Count(int64(time.Second))
				for _, limit := range p.limits(s, 50) {
					total += limit
				}
				got := arrivalsOf(p, s, int64(time.Second))
				for _, one := range p.Producers {
					if !slices.Equal(got[one.ID], want[one.ID]) {
						t.Fatalf("producer %d of part %d sends at %v; want %v", one.ID, k, got[one.ID], want[one.ID])
					}
					delete(want, one.ID)
				}
			}
			if len(want) > 0 || due != whole.counter(s).Count(int64(time.Second)) || total != 50 {
				t.Fatalf("producers %v are missing; %d due, %d of 50 dealt", want, due, total)
			}
		}
	})
}

func TestMovedOutcomesMoveEveryTime(t *testing.T) {
	o := Outcome{
		Start: 1, From: 2, Until: 3, FirstSent: 4, LastSent: 5, LastReceived: 6, LastAcked: 0, Backlog: BacklogDrain{FilledAt: 7, From: 8, To: 9, Received: 10},
		Pauses: Pauses{Stops: []Interval{{11, 12}}}, DeliverySilences: []Interval{{13, 14}}, ConfirmationSilences: []Interval{{15, 16}}, Samples: []Sample{{At: 17}},
	}
	got := o.Moved(100)
	if got.Start != 101 || got.From != 102 || got.Until != 103 || got.FirstSent != 104 || got.LastSent != 105 || got.LastReceived != 106 || got.LastAcked != 0 ||
		got.Backlog != (BacklogDrain{FilledAt: 107, From: 108, To: 109, Received: 10}) || got.Pauses.Stops[0] != (Interval{111, 112}) ||
		got.DeliverySilences[0] != (Interval{113, 114}) || got.ConfirmationSilences[0] != (Interval{115, 116}) || got.Samples[0].At != 117 {
		t.Errorf("%+v", got)
	}
	if o.Samples[0].At != 17 || o.Pauses.Stops[0].From != 11 {
		t.Error("the outcome itself was moved")
	}
}
