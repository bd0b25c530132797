package results

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
)

// The machine is up to three times as slow in some repetitions, for both: what is between the two is told by what each repetition shows.
func TestRecordsOfRepetitionsInTurnsAreComparedInPairs(t *testing.T) {
	rates := []float64{1000, 3000, 1500, 2200, 1100}
	side := func(times float64, turn int) (records []store.Record) {
		for i, rate := range rates {
			records = append(records, store.Record{
				Status: store.OK, Seed: int64(i + 1), Began: time.Unix(int64(100*i+turn), 0),
				Result: &store.Result{Measurement: store.Measurement{PublishRate: times * rate * (1 + 0.01*float64(i%2)), Seconds: 1}},
			})
		}
		return records
	}
	m := MustMetric(KeyPublishRate)
	first, second := side(1, 0), side(1.3, 50)
	if d := DifferenceOf(m, first, second); d.Answer != Differs {
		t.Errorf("in turns: %s, %s", d.Answer, d.Why())
	}
	if d := DifferenceOf(m, first, side(1.3, 1e6)); d.Answer != Undecided {
		t.Errorf("one after the other: %s, %s", d.Answer, d.Why())
	}
	ranking := Rank(m, []Contender{NewContender("a", m, first), NewContender("b", m, second)})
	if len(ranking.Behind()) != 1 {
		t.Errorf("a ranking: %s", ranking.Basis())
	}
}
