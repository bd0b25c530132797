package cli_test

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/figure"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
)

//go:embed testdata/omb.json
var ombResult []byte

// demoStore is a store of every kind of record.
func demoStore(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "demo.db")
	st, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for _, r := range storetest.Demo() {
		if _, err := st.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestWhatCannotBeDrawnOrExportedIsAnsweredWithASentence(t *testing.T) {
	db := demoStore(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"figure", 2, "accepts 1 arg"},
		{"figure percentile -o " + in("a.svg"), 2, `did you mean "percentiles"?`},
		{"figure percentiles", 2, "hint: brokermark figure percentiles -o percentiles.svg"},
		{"figure percentiles -o " + in("a.gif"), 2, "the ending doesn't name a format; allowed: .svg, .png, .pdf"},
		{"figure percentiles -o " + in("a.svg") + " --latency e3e", 2, "unknown latency"},
		{"figure heatmap -o " + in("a.svg") + " --metric beauty", 2, "unknown metric"},
		{"figure heatmap -o " + in("a.svg") + " --width 16", 2, "allowed: 4cm to 200cm"},
		{"figure cost -o " + in("a.svg") + " --row broker", 2, "--row: not used by cost, only by heatmap, multiples"},
		{"figure percentiles -o " + in("a.svg") + " --col messageSize", 2, "--col: not used by percentiles, only by heatmap, multiples"},
		{"figure sustainable -o " + in("a.svg") + " --metric e2e_p99", 2, "--metric: not used by sustainable, only by heatmap, multiples"},
		{"figure timeseries -o " + in("a.svg") + " --latency publish", 2, "--latency: not used by timeseries, only by latency-throughput, percentiles"},
		{"figure heatmap -o " + in("a.svg") + " --linear", 2, "--linear: not used by heatmap, only by latency-throughput, percentiles, multiples"},
		{"figure raje-2019/99 -o " + in("a.svg"), 2, `raje-2019 has no exhibit "99"; allowed: 1 to 16, in the order of its report`},
		{"figure head-to-head/1 -o " + in("a.svg"), 2, "head-to-head has no exhibits"},
		{"figure dyjach-2042/1 -o " + in("a.svg"), 2, `no study or folder "dyjach-2042"`},
		{"figure raje-2019/1 -o " + in("a.svg"), 2, "raje-2019/1: neither published nor measured figures are known"},
		{"figure raje-2019/1 --metric e2e_p99 -o " + in("a.svg"), 2, "--metric: not used by raje-2019/1, only by heatmap, multiples"},
		{"export --format csv --latency publish", 2, "--latency: not used by the format csv, only by hlog, hgrm"},
		{"export --latency publish", 2, "--latency: not used by the format jsonl, only by hlog, hgrm"},
		{"figure percentiles -o " + in("a.svg"), 2, "narrow it with --where"},
		{"figure percentiles --where broker=pulsar -o " + in("a.svg"), 2, "no record has broker=pulsar"},
		{"figure sustainable -o " + in("no/such/a.svg"), 2, "can't be written: no such file or directory"},
		{"figure sustainable --store " + in("none.db") + " -o " + in("a.svg"), 6, "does not exist"},
		{"export --format xlsx", 2, "hint: brokermark export --format xlsx -o results.xlsx"},
		{"export --format parquet", 2, "unknown format"},
		{"export --format hgrm", 2, "a file of the format hgrm holds one"},
		{"export --format omb -o " + in("a.json"), 2, "name an existing directory with -o"},
		{"export --format hlog --latency e3e", 2, "unknown latency"},
		{"export --format hlog --where status=refused", 2, "nothing to export"},
		{"export --format omb --where status=refused", 2, "none of the records holds a result"},
		{"bundle head-to-head", 2, "hint: brokermark bundle head-to-head -o head-to-head.zip"},
		{"bundle head-to-head -o " + in("a.db"), 2, "a.db: a bundle is a zip; allowed: a file that ends with .zip"},
		{"bundle head-to-haed -o " + in("a.zip"), 2, `did you mean "head-to-head"?`},
		{"bundle raje-2019 -o " + in("a.zip"), 2, "no record has study=raje-2019; there are: head-to-head"},
		{"import", 2, "requires at least 1 arg"},
		{"import " + in("none.json"), 2, "can't be read: no such file or directory"},
		{"import " + dir, 2, "can't be read: is a directory"},
		{"import /dev/zero", 2, "can't be read: not an ordinary file"},
		{"import " + file(t, "r.json", string(ombResult)) + " --like kafka-100-sus", 2, "messageSize is 1024 in the file and 100"},
		{"import " + file(t, "r.json", string(ombResult)) + " --like kafka-1", 2, "several points begin so"},
	} {
		args := strings.Fields(c.args)
		if !strings.Contains(c.args, "--store") {
			args = append(args, "--store", db)
		}
		if r := brokermark(t, args...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: exit code %d, want %d; stderr %q, want %q", c.args, r.code, c.code, r.err, c.want)
		}
	}
	if left, _ := filepath.Glob(in("*")); len(left) > 0 {
		t.Errorf("files were left behind: %q", left)
	}
}

func TestEveryFigureIsDrawnFromAStore(t *testing.T) {
	db := demoStore(t)
	for _, name := range figure.Names() {
		where := "load.rate=20000"
		if name == "sustainable" || name == "heatmap" || name == "multiples" {
			where = "measure=sustainable"
		}
		path := filepath.Join(t.TempDir(), name+".svg")
		brokermark(t, "figure", name, "--store", db, "--where", where, "-o", path, "--width", "14cm").want(t, 0)
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(data, []byte("</svg>")) {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	brokermark(t, "figure", "heatmap", "--store", db, "--where", "measure=sustainable", "-o", filepath.Join(t.TempDir(), "a.svg"), "--row", "size").want(t, 0)
}

func TestExportsHoldEveryRecord(t *testing.T) {
	db, dir := demoStore(t), t.TempDir()
	all := storetest.Demo()
	n, unmeasured := 0, 0 // loads: of a curve every rate
	for _, r := range all {
		switch n++; {
		case r.Result == nil:
			unmeasured++
		case r.Result.Curve != nil:
			n += len(r.Result.Curve) - 1
		}
	}
	for format, want := range map[string]int{"jsonl": len(all), "flat": n} {
		if got := brokermark(t, "export", "--store", db, "--format", format).want(t, 0).objects(t); len(got) != want || want < 60 {
			t.Errorf("%s: %d lines, want %d", format, len(got), want)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(brokermark(t, "export", "--store", db, "--format", "csv").want(t, 0).out)).ReadAll()
	if err != nil || len(rows) != n+1 || rows[0][0] != "study" {
		t.Errorf("csv: %d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		for _, field := range row {
			if strings.HasPrefix(field, "=") {
				t.Errorf("csv: a spreadsheet would take %q for a formula", field)
			}
		}
	}
	xlsx := filepath.Join(dir, "r.xlsx")
	brokermark(t, "export", "--store", db, "--format", "xlsx", "-o", xlsx).want(t, 0)
	book, err := excelize.OpenFile(xlsx)
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	if rows, err := book.GetRows("Repetitions"); err != nil || len(rows) != n+1 {
		t.Errorf("xlsx: %d rows, %v", len(rows), err)
	}
	for format, ending := range map[string]string{"hgrm": "*.hgrm", "omb": "*.json"} {
		brokermark(t, "export", "--store", db, "--format", format, "-o", dir).want(t, 0)
		if files, _ := filepath.Glob(filepath.Join(dir, ending)); len(files) < 20 {
			t.Errorf("%s: files %q", format, files)
		}
	}
	out := brokermark(t, "export", "--store", db, "--format", "hgrm", "--where", "point=kafka-100-rate").want(t, 0).out
	if both := brokermark(t, "export", "--store", db, "--format", "hgrm", "--where", "point=kafka-100-rate", "--where", "broker=kafka").want(t, 0).out; both != out {
		t.Errorf("with a second --where:\n%s\nwant\n%s", both, out)
	}
	if !strings.Contains(out, "Percentile") || !strings.Contains(out, "point kafka-100-rate; repetitions: 3; milliseconds") {
		t.Errorf("hgrm:\n%s", out)
	}
	if log := brokermark(t, "export", "--store", db, "--format", "hlog").want(t, 0).out; strings.Count(log, "HISTF") != n-unmeasured {
		t.Errorf("hlog holds %d intervals", strings.Count(log, "HISTF"))
	}
}

func TestAFileWithAByteOrderMarkIsImportedAsOneWithout(t *testing.T) {
	db, marked := demoStore(t), "\ufeff"
	brokermark(t, "import", file(t, "r.json", string(ombResult)), "--store", db).want(t, 0)
	if again := brokermark(t, "import", file(t, "r.json", marked+string(ombResult)), "--store", db).want(t, 0); !strings.Contains(again.out, "is in the store already") {
		t.Errorf("says %q", again.out)
	}
	lines := brokermark(t, "export", "--store", db).want(t, 0).out
	if again := brokermark(t, "import", file(t, "r.jsonl", marked+lines), "--store", db).want(t, 0); !strings.Contains(again.out, ": 0 records stored, ") {
		t.Errorf("says %q", again.out)
	}
}

func TestAnImportIsStoredOnceAndComparedWithWhatWasMeasured(t *testing.T) {
	db := demoStore(t)
	path := file(t, "r.json", string(ombResult))
	first := brokermark(t, "import", path, "--store", db, "--like", "kafka-1024-sus").want(t, 0)
	if !strings.Contains(first.out, "omb:kafka, point omb-") || !strings.Contains(first.out, "repetition 1") {
		t.Errorf("says %q", first.out)
	}
	if again := brokermark(t, "import", path, "--store", db, "--like", "kafka-1024-sus").want(t, 0); !strings.Contains(again.out, "is in the store already") {
		t.Errorf("says %q", again.out)
	}
	// Such results know latencies from the actual send only.
	if out := brokermark(t, "report", "--store", db, "--where", "broker=omb:kafka").want(t, 0).out; !strings.Contains(out, "e2e from send, p99") || !strings.Contains(out, "from the actual send only") {
		t.Errorf("the report shows no latency of an imported result:\n%s", out)
	}
	if out := brokermark(t, "report", "--store", db, "--where", "broker=kafka").want(t, 0).out; strings.Contains(out, "from send") {
		t.Errorf("the report shows columns nobody needs:\n%s", out)
	}
	var another map[string]any
	if err := json.Unmarshal(ombResult, &another); err != nil {
		t.Fatal(err)
	}
	another["aggregatedPublishLatencyMax"] = 999.0
	data, err := json.Marshal(another)
	if err != nil {
		t.Fatal(err)
	}
	if next := brokermark(t, "import", file(t, "s.json", string(data)), "--store", db, "--like", "kafka-1024-sus").want(t, 0); !strings.Contains(next.out, "repetition 2") {
		t.Errorf("says %q", next.out)
	}
	records := brokermark(t, "export", "--store", db, "--where", "broker=omb:kafka").want(t, 0).objects(t)
	if len(records) != 2 {
		t.Fatalf("%d records, want 2", len(records))
	}
	out := brokermark(t, "compare", "omb:kafka", "kafka", "--store", db).want(t, 0).out
	if strings.Contains(out, "Nothing to compare") || !strings.Contains(out, "throughput") {
		t.Errorf("the comparison says:\n%s", out)
	}
	if out := brokermark(t, "report", "--store", db).want(t, 0).out; !strings.Contains(out, "counted from the actual send") {
		t.Errorf("the report doesn't show the doubts:\n%s", out)
	}
}

// Two workloads of which a file says the same but the name are two points, and a reader can tell their rows apart.
func TestImportsOfTwoWorkloadsHaveDifferentNames(t *testing.T) {
	for _, like := range [][]string{nil, {"--like", "kafka-1024-sus"}} {
		db := demoStore(t)
		for _, workload := range []string{"1 topic / 1kb", "1 topic / 1kb, 50k msg/s"} {
			path := file(t, "r.json", strings.Replace(string(ombResult), "1 topic / 1kb", workload, 1))
			brokermark(t, append([]string{"import", path, "--store", db}, like...)...).want(t, 0)
		}
		rows := brokermark(t, "report", "--store", db, "--where", "broker=omb:kafka", "--format", "jsonl").want(t, 0).objects(t)
		var names []any
		for _, row := range rows {
			if _, isPoint := row["publish_rate"]; isPoint {
				names = append(names, row["broker"])
			}
		}
		if len(names) != 2 || names[0] == names[1] {
			t.Errorf("with %v the rows are named %q, want two names", like, names)
		}
	}
}
