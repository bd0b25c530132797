package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/store"
)

// paperFolder is the folder of a study with a published table and a claim.
func paperFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "paper")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"study.yaml": "name: paper\nbase: {broker: sim, measure: count, count.messages: 200, drain: 5s}\nsweeps:\n- {name: e, axes: {topics: [1, 2]}}\n" +
			"published:\n- {file: table.csv, experiment: e, axes: {topics: queues}, metrics: {publish_rate: rate}}\n" +
			"exhibits:\n- {title: Table 1, experiment: e, rows: topics, columns: [{metric: publish_rate, unit: msg/s}]}\n",
		"table.csv":   "# origin: table 1, page 9\nqueues,rate\n1,4711\n2,4242\n",
		"claims.yaml": "claims:\n- {id: 1, says: It sends at all, where: page 1, experiment: e, metric: publish_rate, threshold: {expect: {from: 1}}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPublishedTablesAreImportedOnceAndStandBesideWhatWasMeasured(t *testing.T) {
	dir, db := paperFolder(t), filepath.Join(t.TempDir(), "p.db")
	brokermark(t, "run", dir, "--store", db).want(t, 0)
	before := brokermark(t, "report", "study", "--study", dir, "--store", db).want(t, 0)
	for _, want := range []string{"It sends at all", "reproduced", "4711", "Table 1"} {
		if !strings.Contains(before.out, want) {
			t.Errorf("the report doesn't say %q:\n%s", want, before.out)
		}
	}
	for _, want := range []string{"published figures of 2 points stored", "those of 2 were there already"} {
		if out := brokermark(t, "import", "--study", dir, "--store", db).want(t, 0).out; !strings.Contains(out, want) {
			t.Errorf("%q, want %q", out, want)
		}
	}
	corrected := paperFolder(t)
	table := "# origin: table 1, page 9\nqueues,rate\n1,4711\n2,4343\n"
	if err := os.WriteFile(filepath.Join(corrected, "table.csv"), []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
	refused := brokermark(t, "import", "--study", corrected, "--store", db).want(t, 2)
	if !strings.Contains(refused.err, "the store has other figures of published points (1)") {
		t.Errorf("a corrected table: %s", refused.err)
	}
	if after := brokermark(t, "report", "study", "--study", dir, "--store", db).want(t, 0); after.out != before.out {
		t.Errorf("the report differs once the figures are imported:\n%s\n%s", before.out, after.out)
	}
	out := brokermark(t, "compare", "status=published", "status=ok", "--store", db).want(t, 0).out
	if !strings.Contains(out, "4.71k/s") || strings.Contains(out, "Mann") && strings.Contains(out, "no difference shown") {
		t.Errorf("%s", out)
	}
	gated := brokermark(t, "report", "--store", db, "--fail-if", "publish_rate < 1").want(t, 0)
	if !strings.Contains(gated.err, "no gate judges them") {
		t.Errorf("the gate says nothing of published figures:\n%s", gated.err)
	}
	for _, format := range []string{"html", "md", "csv", "jsonl", "xlsx"} {
		brokermark(t, "report", "study", "--study", dir, "--store", db, "-o", filepath.Join(t.TempDir(), "r."+format)).want(t, 0)
	}
	brokermark(t, "run", dir, "--store", db).want(t, 0) // everything is done: published figures count for nothing
	st, err := store.OpenReadOnlyContext(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if all, err := st.Records(t.Context(), store.Filter{}); err != nil || len(all) != 4 {
		t.Errorf("%d records, %v", len(all), err)
	}
}

func TestAMetricThatAStudyMisnamesIsRefusedWithItsPlace(t *testing.T) {
	for wrong, want := range map[string][]string{
		"published:\n- {file: a.csv, experiment: e, metrics: {\n    publish_rat: n}}":            {`y.yaml:3: published[0].metrics.publish_rat: unknown metric "publish_rat"; closest: publish_rate, `},
		"published:\n- {file: a.csv, experiment: e, metrics: {lost: {column: n, unit: parsec}}}": {`y.yaml:2: published[0].metrics.lost: "parsec" is no unit of it; allowed: `},
		"exhibits:\n- {title: t, experiment: e, rows: topics, columns: [lost,\n    los]}":        {`y.yaml:3: exhibits[0].columns[1]: unknown metric "los"; closest: lost, `},
	} {
		doc := file(t, "y.yaml", wrong+"\nsweeps: [{name: e, set: {broker: sim}, axes: {topics: [1, 2]}}]\n")
		r := brokermark(t, "check", doc).want(t, 2)
		for _, words := range want {
			if !strings.Contains(r.err, words) {
				t.Errorf("%s, want %q", r.err, words)
			}
		}
	}
}

func TestWhatCannotBeImportedOrReportedOfAStudyIsSaid(t *testing.T) {
	dir := paperFolder(t)
	for args, want := range map[string]string{
		"import":                                   "requires at least 1 arg",
		"import --study head-to-head":              "head-to-head publishes no table",
		"import --study defautls":                  `no study or folder "defautls"; studies: chen-2024, defaults, dyjach-2024, head-to-head, ingestion, nilsson-pregen-2020, proof, rabiee-2018, raje-2019, replicated, several-queues; did you mean "defaults"?`,
		"import --study proof":                     "proof is of no publication",
		"report study --study proof/nats":          "proof/nats is of no publication",
		"import a.json --study " + dir:             "--study takes the tables of a study's folder",
		"report summary --study " + dir:            "--study belongs to the report study, not to summary",
		"report study --study " + dir + "/nowhere": "no study",
	} {
		if r := brokermark(t, strings.Fields(args)...).want(t, 2); !strings.Contains(r.err, want) {
			t.Errorf("%s: %s, want %q", args, r.err, want)
		}
	}
}
