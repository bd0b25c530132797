package study

import (
	"reflect"
	"strings"
	"testing"
)

const withTables = `
axes: {partitions: [1, 2], mode: [{name: loose, set: {delivery: at-most-once}}]}
sweeps: [{name: queues, set: {broker: rabbitmq, measure: peak}}]
published:
- file: published/a.csv
  experiment: queues
  where: {size: lazy}
  axes: {partitions: queue}
  fixed: {mode: loose}
  metrics: {publish_rate: msg_per_s, e2e_mean_ns: {column: avg, unit: ms}}
exhibits:
- title: Figure 1
  place: page 3
  note: no numbers in the text
  experiment: queues
  rows: partitions
  series: mode
  where: {mode: loose}
  columns: [publish_rate, {metric: e2e_mean_ns, unit: ms}]
`

func TestTablesAndFiguresOfAPaperAreRead(t *testing.T) {
	s, err := Parse("a.yaml", []byte(withTables))
	if err != nil {
		t.Fatal(err)
	}
	tables := []Published{{
		File: "published/a.csv", Experiment: "queues", Where: map[string]string{"size": "lazy"},
		Axes: map[string]string{"partitionsPerTopic": "queue"}, Fixed: map[string]string{"mode": "loose"},
		Metrics: map[string]Column{"publish_rate": {Name: "msg_per_s"}, "e2e_mean_ns": {"avg", "ms"}},
	}}
	figures := []Exhibit{{
		Title: "Figure 1", Place: "page 3", Note: "no numbers in the text", Experiment: "queues", Rows: "partitionsPerTopic",
		Series: "mode", Columns: []Column{{Name: "publish_rate"}, {"e2e_mean_ns", "ms"}}, Where: map[string]string{"mode": "loose"},
	}}
	if !reflect.DeepEqual(s.Published, tables) {
		t.Errorf("tables %+v", s.Published)
	}
	if !reflect.DeepEqual(s.Exhibits, figures) {
		t.Errorf("figures %+v", s.Exhibits)
	}
}

func TestATableLiesWithinTheFolderOfItsStudy(t *testing.T) {
	for file, allowed := range map[string]bool{
		"published/a.csv": true, "a.csv": true, "a/b/c.csv": true,
		`""`: false, "../a.csv": false, "published/../a.csv": false, "published/../../a.csv": false, "/etc/passwd": false, "./a.csv": false, "published//a.csv": false, "..": false,
	} {
		_, err := Parse("a.yaml", []byte(strings.Replace(withTables, "file: published/a.csv", "file: "+file, 1)))
		if refused := err != nil && strings.Contains(err.Error(), "is no file of the study's folder"); refused == allowed {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestTablesAndFiguresThatFitNoExperimentAreRefused(t *testing.T) {
	for from, c := range map[string]struct{ to, want string }{
		"experiment: queues\n  where: {size": {"experiment: queue\n  where: {size", `published[0].experiment: no experiment "queue"; allowed: queues`},
		"axes: {partitions: queue}":          {"axes: {topics: queue}", `the experiment "queues" has no axis "topics"; it has partitionsPerTopic, mode`},
		"rows: partitions":                   {"rows: batch", `the experiment "queues" has no axis "batch"`},
		"file: published/a.csv":              {"file: ../a.csv", `"../a.csv" is no file of the study's folder`},
		"  metrics: {publish_rate":           {"  metric: {publish_rate", `unknown key "metric"; allowed: axes, experiment, file, fixed, metrics, where; did you mean "metrics"?`},
		"[publish_rate, {metric":             {"[publish_rate, {column", `unknown key "column"`},
		"title: Figure 1":                    {"note: none", `given twice`},
		"published:\n":                       {"published:\n- 5\n- {file: a.csv, experiment: queue, metrics: {lost: l}}\n", `a.yaml:6: published[1].experiment: no experiment "queue"; allowed: queues`},
		"exhibits:\n":                        {"exhibits:\n- 5\n- {title: t, experiment: queues, rows: batch, columns: [lost]}\n", `a.yaml:13: exhibits[1]: the experiment "queues" has no axis "batch"`},
		"rows: partitions\n  series":         {"rows: load.rate\n  series", `a.yaml:12: exhibits[0]: the experiment "queues" has no axis "load.rate"`},
		"  axes: {partitions: queue":         {"  axes: {partitions: queue, partitionsPerTopic: q", `a.yaml:5: published[0].axes.partitionsPerTopic: given twice: "partitions" means the same`},
		"  where: {mode: loose}":             {"  where: {partitions: 1, partitionsPerTopic: 2}", `a.yaml:12: exhibits[0].where.partitionsPerTopic: given twice: "partitions" means the same`},
	} {
		_, err := Parse("a.yaml", []byte(strings.Replace(withTables, from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.to, err, c.want)
		}
	}
}
