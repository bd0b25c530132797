package lab

import (
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

func same(a, b *float64) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
