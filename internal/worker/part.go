package worker

import (
	"slices"

	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/schedule"
)

// Part says which clients of a whole plan a plan has. A fleet divides a plan into one part for each agent (Plan.Split,
// Plan.Spread).
//
// A client of a part sends exactly what it would send in the whole plan. For example, 4 clients with one producer each send 100
// messages/s: client 0 at 0, 40, 80 ms, client 1 at 10, 50, 90 ms, and so on. A part with the clients 1 and 3 sends at 10, 30,
// 50, 70, 90 ms.
type Part struct {
	Clients []int         // by client of the part: its number in the whole plan; ascending
	Whole   schedule.Deal // how the whole plan deals its schedule out
}

// clientInWhole returns the number that client i of this plan has in the whole plan.
func (p *Plan) clientInWhole(i int) int {
	if p.Part == nil {
		return i
	}
	return p.Part.Clients[i]
}

// deal returns how the whole plan deals a schedule out to clients and producers.
func (p *Plan) deal() schedule.Deal {
	if p.Part != nil {
		return p.Part.Whole
	}
	return schedule.Deal{Clients: p.clients(), Producers: len(p.Producers)}
}

// counter returns a counter of those messages of s that this plan sends, which in a part are not all.
func (p *Plan) counter(s schedule.Schedule) schedule.Counter {
	if p.Part == nil {
		return p.deal().Counter(s)
	}
	var sum counterSum
	for _, client := range p.Part.Clients {
		sum = append(sum, schedule.Sequential(p.deal().Share(s, client)))
	}
	return sum
}

// counterSum adds up several counters.
type counterSum []schedule.Counter

// Count implements schedule.Counter.
func (c counterSum) Count(d int64) (n int64) {
	for _, counter := range c {
		n += counter.Count(d)
	}
	return n
}

// limits returns how many messages each client sends if the whole plan sends the first total messages of s. With 4 clients that
// share a constant rate, the first 10 messages are 3, 3, 2 and 2.
func (p *Plan) limits(s schedule.Schedule, total int64) []int64 {
	whole := p.deal().Limits(s, total)
	own := make([]int64, p.clients())
	for i := range own {
		own[i] = whole[p.clientInWhole(i)]
	}
	return own
}

// share returns which share of the whole plan's messages this worker handles, from 0 to 1. It is 1 if workers share streams,
// because the consumers of one may receive all messages.
func (p *Plan) share() float64 {
	if p.Part == nil || p.Peers != nil {
		return 1
	}
	return float64(len(p.Producers)) / float64(p.Part.Whole.Producers)
}

// ownStreams removes the streams of other parts' producers from a list, which it overwrites.
func (p *Plan) ownStreams(streams []measure.StreamBooks) []measure.StreamBooks {
	if p.Part == nil {
		return streams
	}
	own := map[int]bool{}
	for _, producer := range p.Producers {
		own[producer.ID] = true
	}
	return slices.DeleteFunc(streams, func(s measure.StreamBooks) bool { return !own[s.Producer] })
}
