package lab

import (
	"testing"

	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func point(id, broker, size, delivery string) *store.Record {
	return &store.Record{
		PointID: id, Study: "s", Axes: map[string]string{"broker": broker, "size": size, "delivery": delivery},
		Spec: study.Spec{Broker: broker, MessageSize: study.Sizes{{Size: 100, Weight: 1}}}, Result: &store.Result{},
	}
}

func TestASearchBeginsAtItsNearestNeighboursRate(t *testing.T) {
	l := &lab{}
	if _, _, ok := l.neighbourOf(point("a", "nats", "100", "x")); ok {
		t.Error("nobody was there before")
	}
	l.remember(point("a", "nats", "100", "x"), search.Bounds{Low: 1000, High: 1050})
	l.remember(point("b", "nats", "1KiB", "y"), search.Bounds{Low: 500})
	l.remember(point("c", "kafka", "100", "y"), search.Bounds{Low: 70, High: 77})
	for _, c := range []struct {
		record   *store.Record
		low      float64
		same, ok bool
	}{
		{point("a", "nats", "100", "x"), 1000, true, true},    // another repetition
		{point("d", "nats", "100", "z"), 1000, false, true},   // one axis apart
		{point("e", "nats", "1KiB", "z"), 500, false, true},   // one axis apart from another
		{point("f", "nats", "9", "z"), 0, false, false},       // two
		{point("g", "rabbitmq", "100", "x"), 0, false, false}, // another broker says nothing
	} {
		n, same, ok := l.neighbourOf(c.record)
		if n.low != c.low || same != c.same || ok != c.ok {
			t.Errorf("%s: %+v, %v, %v", c.record.PointID, n, same, ok)
		}
	}
	other := point("a2", "nats", "100", "z")
	other.Study = "another"
	if n, _, ok := l.neighbourOf(other); ok {
		t.Errorf("a point of another study: %+v", n)
	}
	larger := point("d", "nats", "100", "z")
	larger.Spec.MessageSize[0].Size = 1000
	if n, _, ok := l.neighbourOf(larger); ok {
		t.Errorf("a point of ten times the size: %+v", n)
	}
	if n, _, _ := l.neighbourOf(point("b", "nats", "1KiB", "y")); n.high != 500 {
		t.Errorf("without an upper bound the lower one is all there is: %+v", n)
	}
}

func TestDifferingAxesAreCounted(t *testing.T) {
	for want, b := range map[int]map[string]string{
		0: {"x": "1", "y": "2"}, 1: {"x": "1", "y": "3"}, 2: {"x": "1", "z": "2"},
	} {
		if got := differingAxes(map[string]string{"x": "1", "y": "2"}, b); got != want {
			t.Errorf("%v: %d, want %d", b, got, want)
		}
	}
}
