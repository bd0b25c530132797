package worker

import (
	"testing"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// The same 5 deliveries are overdue to both workers. One of them returned no shard, so there are no books of both.
func TestAnOutcomeWithoutAJoinedLedgerKeepsWhatTheWorkersAgreeOn(t *testing.T) {
	parts := []Outcome{
		{Overdue: 5, Early: measure.Early{Deliveries: 2, By: 30}, Shard: &measure.Shard{}},
		{Overdue: 5, Early: measure.Early{Deliveries: 1, By: 70}},
	}
	out := Plan{}.Joined(Load{}, parts, make([]clock.Line, 2))
	if want := (measure.Early{Deliveries: 3, By: 70}); out.Err == nil || out.Overdue != 5 || out.Early != want {
		t.Errorf("%v, %d overdue, %+v; want an error, 5 and %+v", out.Err, out.Overdue, out.Early, want)
	}
}
