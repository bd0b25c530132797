package reports

import (
	"slices"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// A broker that was only measured at a fixed rate costs less for each message than one at its limit.
func TestCostsAtUnlikeLoadsNameTheirLoadsAndShareNoChart(t *testing.T) {
	all := slices.DeleteFunc(demo(1), func(r store.Record) bool {
		return r.Spec.MessageSize.Mean() != 100 || r.Spec.Delivery != "at-least-once" || r.Spec.Broker == "nats"
	})
	unlike := slices.DeleteFunc(slices.Clone(all), func(r store.Record) bool { return r.Spec.Broker == "kafka" && r.Spec.Measure != "rate" })
	for name, c := range map[string]struct {
		records []store.Record
		kafka   string
		charted bool
	}{
		"all at the sustainable rate": {all, "sustainable rate", true},
		"kafka at a fixed rate":       {unlike, "20k/s", false},
	} {
		table := comparisonTable(contendersOf(results.Of(c.records).Points), layout{}, &footnotes{})
		column := func(key string) document.Column {
			return table.Columns[slices.IndexFunc(table.Columns, func(c document.Column) bool { return c.Key == key })]
		}
		if charted := column("broker_cpu_s_per_million").Chart.Title != ""; charted != c.charted || column("cost_load").MachinesOnly != c.charted {
			t.Errorf("%s: charted %t, want %t; the load is shown: %t", name, charted, c.charted, !column("cost_load").MachinesOnly)
		}
		for _, row := range table.Rows {
			want := "sustainable rate"
			if row["broker"].Text == "kafka" {
				want = c.kafka
			}
			if got := row["cost_load"].Text; got != want {
				t.Errorf("%s: the costs of %s are at %q, want %q", name, row["broker"].Text, got, want)
			}
		}
	}
}

func TestASideHasTheClientModeThatAllItsPointsShare(t *testing.T) {
	for want, modes := range map[string][]string{"stock": {"stock", "stock"}, "": {"stock", "tuned"}} {
		var records []store.Record
		for i, mode := range modes {
			r := both(int64(i), float64(1000*(i+1)), 1e6, 1e6, store.OK)
			r.Settings.Client = map[string]any{"mode": mode}
			records = append(records, altered([]store.Record{r}, mode, func(*store.Record) {})...)
		}
		if got := clientMode(contendersOf(results.Of(records).Points)[0].points...); got != want {
			t.Errorf("modes %v: %q, want %q", modes, got, want)
		}
	}
}

func TestALoadWithoutCostsIsNoBasisOfThem(t *testing.T) {
	withCosts, without := atRate("kafka", 1), altered(atRate("rabbitmq", 1), "", func(r *store.Record) {
		r.Spec.Load.Rate, r.Result.Cost = 2000, store.Cost{}
	})
	table := build(t, "headtohead", slices.Concat(withCosts, without)).Tables()[0]
	for _, c := range table.Columns {
		if c.Key == "cost_load" && !c.MachinesOnly {
			t.Error("readers see a column that says at which load costs are, though all are at one load")
		}
	}
	if loads := cellsOf(t, table, "cost_load"); loads["kafka"].Text != "1k/s" || loads["rabbitmq"].Kind != document.Blank {
		t.Errorf("costs are at %+v", loads)
	}
}

// Nothing was searched before a curve of given rates: the costs of its record are those of its last rate.
func TestTheCostsOfACurveOfGivenRatesAreAtItsHighestRate(t *testing.T) {
	r := curved(1)
	r.Result.Sustainable = nil
	for i := range r.Result.Curve {
		r.Result.Curve[i].Fraction = 0
	}
	for want, record := range map[string]store.Record{"9k/s": r, "sustainable rate": curved(1)} {
		if got := cellsOf(t, build(t, "headtohead", []store.Record{record}).Tables()[0], "cost_load")[r.Spec.Broker].Text; got != want {
			t.Errorf("costs are at %q, want %q", got, want)
		}
	}
}

func TestThePeakOfAFaultTrialIsNoFigureOfAHeadToHead(t *testing.T) {
	faulty := altered(atRate("kafka", 1), "", func(r *store.Record) {
		r.Spec.Measure, r.Spec.Load, r.Spec.Faults = "peak", study.Load{}, []study.Fault{{Do: "pause"}}
	})
	table := build(t, "headtohead", faulty).Tables()[0]
	for _, key := range []string{"peak_rate", "cost_load", "broker_cpu_s_per_million"} {
		if got := cellsOf(t, table, key)["kafka"]; got.Kind != document.Blank {
			t.Errorf("%s is %+v", key, got)
		}
	}
}
