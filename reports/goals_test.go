package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// asked is a search that was asked for three goals at once: the second was left open in the second repetition, the
// third in both.
func asked(repetition int) store.Record {
	r := products[0].record(100, "at-least-once", 0, repetition)
	s := *r.Result.Sustainable
	result := *r.Result
	s.Goals = []store.GoalResult{
		{Low: s.Low, High: s.High, Conditional: s.Low * 0.999},
		{LatencyNs: 10e6, Quantile: 0.99, Low: s.Low / 2, High: s.Low * 0.52, Conditional: s.Low * 0.498},
		{LatencyNs: 1e6, Quantile: 0.5, High: 1000, Undecided: "no rate passed"},
	}
	if repetition == 2 {
		s.Goals[1].High, s.Goals[1].Undecided = 0, "stopped after 40 trials before any rate failed"
	}
	for i := range s.Trials {
		if s.Trials[i].Kind != "probe" {
			s.Trials[i].Others = []string{"void", "fail"}
		}
	}
	result.Sustainable, r.Result = &s, &result
	return r
}

func TestEveryGoalOfASearchIsShown(t *testing.T) {
	records := []store.Record{asked(1), asked(2)}
	for file, format := range map[string]string{"goals.txt": "terminal", "goals.md": "markdown", "goals.csv": "csv", "goals.jsonl": "jsonl"} {
		golden(t, file, rendered(t, build(t, "summary", records), format, 100))
	}
	golden(t, "goals-trials.txt", rendered(t, build(t, "trials", records[1:]), "terminal", 100))
}

func TestGoalsOfAFailedSearchStandInParentheses(t *testing.T) {
	r := asked(1)
	r.Status, r.Reason = store.Failed, "no rate passed"
	points := results.Of([]store.Record{r}).Points
	row := goalsTable(points, layout{}, &footnotes{}).Rows[0]
	if rate, conditional := row["sustainable"], row["conditional_throughput"]; !rate.Unused || !conditional.Unused {
		t.Errorf("%+v, %+v stand as if conclusions could be drawn", rate, conditional)
	}
}

func TestRecordsOfBeforeGoalsHaveNoTableOfThem(t *testing.T) {
	text := string(rendered(t, build(t, "summary", demo(1)), "terminal", 100))
	if strings.Contains(text, "Goals") {
		t.Errorf("a table of no goals:\n%s", text)
	}
}

func TestTheOnlyGoalOfASearchHasARow(t *testing.T) {
	r := demo(1)[0]
	r.Result.Sustainable.Goals = []store.GoalResult{{LatencyNs: 2e6, Quantile: 0.99, Low: 500, High: 520, Conditional: 490}}
	tables := build(t, "summary", []store.Record{r}).Tables()
	i := slices.IndexFunc(tables, func(t document.Table) bool { return t.Title == "Goals of the searches" })
	if i < 0 || len(tables[i].Rows) != 1 || cellsOf(t, tables[i], "goal")["kafka"].Text != "p99 ≤ 2ms" {
		t.Errorf("%d tables, at %d", len(tables), i)
	}
}
