package lab

import (
	"context"
	"errors"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
)

func TestRatesOfAQueueAreTakenBetweenTwoLooks(t *testing.T) {
	type look struct {
		at int64
		q  driver.Queue
	}
	const second = int64(1e9)
	unknown := driver.Unknown
	looks := []look{
		{1 * second, driver.Queue{Waiting: 7, Unacked: 2, Published: 100, Delivered: 90}},
		{3 * second, driver.Queue{Waiting: 40, Unacked: unknown, Published: 300, Delivered: 190}},
		{4 * second, driver.Queue{Waiting: 5, Unacked: 0, Published: 10, Delivered: 200}}, // its counter of what came in began anew
		{5 * second, driver.Queue{Waiting: unknown, Unacked: unknown, Published: unknown, Delivered: 200}},
		{6 * second, driver.Queue{Waiting: 3, Unacked: 1, Published: 20, Delivered: 230}},
	}
	known := func(n float64) *float64 { return &n }
	want := []struct{ published, delivered *float64 }{{}, {known(100), known(50)}, {nil, known(10)}, {nil, known(0)}, {nil, known(30)}}
	var w queueWatch
	for i, l := range looks {
		var tick store.PipelineTick
		w.add(&tick, queueSample{at: l.at, queue: l.q})
		if !same(tick.PublishedRate, want[i].published) || !same(tick.DeliveredRate, want[i].delivered) {
			t.Errorf("look %d: %v in, %v out; want %v and %v", i, tick.PublishedRate, tick.DeliveredRate, want[i].published, want[i].delivered)
		}
		if (tick.Queue == nil) != (l.q.Waiting == unknown) || (tick.Unacked == nil) != (l.q.Unacked == unknown) {
			t.Errorf("look %d: %v waiting, %v unacknowledged", i, tick.Queue, tick.Unacked)
		}
	}
	if w.longest == nil || *w.longest != 40 {
		t.Errorf("the longest queue is %v", w.longest)
	}
}

func TestRatesOfCountersThatMoveOnceASecondDoNotAlternate(t *testing.T) {
	var w queueWatch
	for look := range int64(12) {
		var tick store.PipelineTick
		w.add(&tick, queueSample{at: 1e9 + look*5e8, queue: driver.Queue{Published: 300 * (look / 2), Delivered: driver.Unknown}})
		if known := tick.PublishedRate != nil; known != (look >= 2) || known && *tick.PublishedRate != 300 || tick.DeliveredRate != nil {
			t.Errorf("look %d: %v in, %v out", look, tick.PublishedRate, tick.DeliveredRate)
		}
	}
}

// counting is a broker that has counted the memory of its queue at the third look, and then loses its connection.
type counting struct{ looks int }

func (c *counting) Queue(context.Context, int, int) (driver.Queue, error) {
	c.looks++
	memory := map[int]int64{3: 34_608, 4: 9e6}[c.looks]
	if c.looks > 4 {
		return driver.Queue{Waiting: 1e6}, errors.New("no connection")
	}
	return driver.Queue{Waiting: 10 * int64(c.looks), Memory: &memory, Capacity: new(0.5 + 0.1*float64(c.looks))}, nil
}

func TestTheMemoryOfAQueueIsThatBeforeTheLoad(t *testing.T) {
	c := &counting{}
	w := queueWatch{gauge: c}
	w.rest(t.Context())
	w.look(t.Context())
	w.look(t.Context())
	if w.atRest == nil || *w.atRest != 34_608 || w.longest == nil || *w.longest != 40 || w.capacity == nil || *w.capacity != 0.6 {
		t.Errorf("after %d looks: %v bytes, %v messages, a capacity of %v", c.looks, w.atRest, w.longest, w.capacity)
	}
	silent := queueWatch{gauge: &counting{looks: 4}}
	if silent.rest(t.Context()); silent.atRest != nil || silent.longest != nil {
		t.Errorf("without an answer: %v bytes, %v messages", silent.atRest, silent.longest)
	}
}

func same(a, b *float64) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
