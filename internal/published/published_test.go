package published_test

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/brokermark/brokermark/internal/published"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

const document = `name: paper
source: A paper, 2018
base: {measure: peak, broker: sim}
sweeps:
- name: e
  axes:
    partitionsPerTopic: [1, 25]
    messageSize: [100, 10kB]
    when: [{name: then, set: {seed: 2}}, {name: now, set: {seed: 3}}]
published:
- file: published/a.csv
  experiment: e
  where: {kind: lazy}
  axes: {partitionsPerTopic: queues, messageSize: size}
  metrics: {publish_rate: rate, e2e_p99_ns: {column: p99, unit: ms}, broker_disk_write_bytes: {column: disk, unit: MB}}
`

const table = `# from the appendix
# origin: table A.1, page 61
kind,queues,size,rate,p99,disk
lazy,1,100B,11194,226.5,0
other,7,100B,1,1,1
lazy,25,10000, 8582 ,,16
`

func records(t *testing.T, document, table string) ([]store.Record, error) {
	t.Helper()
	s, err := study.Parse("paper/study.yaml", []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return published.Records(fstest.MapFS{"published/a.csv": {Data: []byte(table)}}, s)
}

func TestATableBecomesRecordsOfTheGridsPoints(t *testing.T) {
	got, err := records(t, document, table)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 {
		t.Fatalf("%d records: %+v", len(got), got)
	}
	first := got[0]
	if first.Kind != store.KindPublished || first.Status != store.Published || first.Source != "table A.1, page 61" || first.Study != "paper" ||
		!strings.HasPrefix(first.PointID, "published-") || first.Reason != "figures of a publication: A paper, 2018" {
		t.Errorf("%+v", first)
	}
	if want := map[string]string{"sweep": "e", "partitionsPerTopic": "1", "messageSize": "100", "when": "published"}; !maps.Equal(first.Axes, want) {
		t.Errorf("axes %v, want %v", first.Axes, want)
	}
	if first.Spec.Seed != 2 || first.Spec.PartitionsPerTopic != 1 {
		t.Errorf("not the spec of the paper's version: %+v", first.Spec)
	}
	for i, want := range []map[string]float64{
		{"publish_rate": 11194, "e2e_p99_ns": 226.5e6, "broker_disk_write_bytes": 0},
		{"publish_rate": 8582, "broker_disk_write_bytes": 16e6},
	} {
		if !maps.Equal(got[i].Result.Given, want) {
			t.Errorf("row %d gives %v, want %v", i+1, got[i].Result.Given, want)
		}
	}
	for _, m := range results.Metrics {
		v, given := m.Of(got[0]), got[0].Result.Given
		if want, ok := given[m.Key]; ok && v != want || !ok && v == v {
			t.Errorf("%s of a published record is %v", m.Key, v)
		}
	}
}

func TestMetricsThatDoNotExistTakeNoLongTimeToSay(t *testing.T) {
	columns := strings.Repeat("nosuchmetric, ", 9_000)
	s, err := study.Parse("f.yaml", []byte("sweeps: [{name: s, axes: {topics: [1, 2]}}]\nexhibits:\n"+
		strings.Repeat("- {title: t, experiment: s, rows: topics, columns: ["+columns+"]}\n", 10)))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := published.Check(s); err == nil || !strings.Contains(err.Error(), "unknown metric") {
		t.Errorf("%.200v", err)
	}
	if took := time.Since(began); took > 10*time.Second { // minutes where each is compared with all metrics
		t.Errorf("it took %s", took)
	}
}

func TestAColumnThatATableHasTwiceIsRefused(t *testing.T) {
	_, err := records(t, document, "rate,kind,queues,size,rate,p99,disk\n1,lazy,1,100B,2,3,4\n")
	if err == nil || !strings.Contains(err.Error(), `two columns "rate"`) {
		t.Errorf("got %v", err)
	}
}

// As spreadsheets and people write it: with a byte order mark, and with blanks around the columns.
func TestAHeaderIsReadWithoutItsBlanksAndMark(t *testing.T) {
	want, err := records(t, document, table)
	if err != nil {
		t.Fatal(err)
	}
	spaced := "\ufeff" + strings.Replace(table, "queues,size", "queues , size ", 1)
	if spaced == "\ufeff"+table {
		t.Fatal("the header has no such column")
	}
	if got, err := records(t, document, spaced); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTablesOfTheSamePointMakeOneRecord(t *testing.T) {
	s, err := study.Parse("paper/study.yaml", []byte(document+`- file: published/b.csv
  experiment: e
  axes: {partitionsPerTopic: queues}
  fixed: {messageSize: 100}
  metrics: {receive_rate: rate}
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := published.Records(fstest.MapFS{
		"published/a.csv": {Data: []byte(table)}, "published/b.csv": {Data: []byte("# origin: table B\nqueues,rate\n1,5\n")},
	}, s)
	if err != nil || len(got) != 2 || got[0].Result.Given["receive_rate"] != 5 || got[0].Source != "table A.1, page 61; table B" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTwoRowsThatDisagreeAboutAFigureAreAnError(t *testing.T) {
	row := "lazy,1,100B,11194,226.5,0\n"
	if got, err := records(t, document, strings.Replace(table, row, row+row, 1)); err != nil || len(got) != 2 {
		t.Errorf("the same row twice: %+v, %v", got, err)
	}
	_, err := records(t, document, strings.Replace(table, row, row+"lazy,1,100B,11195,,\n", 1))
	if want := "published/a.csv:5: publish_rate of this point is 11195 here and 11194 in an earlier row"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestAnOriginIsKeptThoughAnotherOneBeginsWithIt(t *testing.T) {
	s, err := study.Parse("paper/study.yaml", []byte(document+`- file: published/b.csv
  experiment: e
  axes: {partitionsPerTopic: queues}
  fixed: {messageSize: 100}
  metrics: {receive_rate: rate}
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := published.Records(fstest.MapFS{
		"published/a.csv": {Data: []byte(table)}, "published/b.csv": {Data: []byte("# origin: table A\nqueues,rate\n1,5\n")},
	}, s)
	if err != nil || got[0].Source != "table A.1, page 61; table A" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhatIsWrongWithATableIsSaidWithItsLine(t *testing.T) {
	for _, test := range []struct{ name, from, to, want string }{
		{"no such point", "lazy,1,", "lazy,9,", "published/a.csv:4: no point of e has messageSize=100B, partitionsPerTopic=9"},
		{"no number", "11194", "Namnruta", `published/a.csv:4: rate: "Namnruta" is no number; allowed: a decimal number, or nothing if the figure isn't known`},
		{"no such column", "p99,disk", "p98,disk", `published/a.csv has no column "p99"; it has kind, queues, size, rate, p98, disk`},
		{"no row left", "lazy,", "busy,", "published/a.csv: no row has kind=lazy"},
		{"a row too short", "lazy,1,100B,11194,226.5,0", "lazy,1", "published/a.csv: record on line 4: wrong number of fields"},
	} {
		_, err := records(t, document, strings.ReplaceAll(table, test.from, test.to))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
	_, err := records(t, strings.ReplaceAll(document, "unit: ms", "unit: MB"), table)
	if want := `published/a.csv:4: p99: "MB" is no unit of it; allowed: ms, ns, s, us, µs`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = records(t, strings.ReplaceAll(document, ", messageSize: size}", "}"), table)
	if want := "published/a.csv:4: 2 points of e have partitionsPerTopic=1: the table's axes don't tell them apart"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestAStudyWithoutTablesHasNoRecords(t *testing.T) {
	if got, err := records(t, "measure: peak\n", table); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// What a paper leaves out of a table is told by its file; comments further down are about rows.
func TestTheOriginOfATableIsWhatItsFirstCommentsSay(t *testing.T) {
	for name, c := range map[string]struct{ table, want string }{
		"the first of two":  {"# origin: one\n# origin: two\n" + table, "one"},
		"behind the header": {strings.Replace(strings.Replace(table, "# origin: table A.1, page 61\n", "", 1), "disk\n", "disk\n# origin: of a row\n", 1), "published/a.csv"},
		"none":              {strings.Replace(table, "# origin: table A.1, page 61\n", "", 1), "published/a.csv"},
	} {
		got, err := records(t, document, c.table)
		if err != nil || len(got) != 2 || got[0].Source != c.want {
			t.Errorf("%s: %+v, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestARowWithoutFiguresMakesNoRecord(t *testing.T) {
	got, err := records(t, document, strings.Replace(table, "11194,226.5,0", ",,", 1))
	if err != nil || len(got) != 1 || got[0].Axes["partitionsPerTopic"] != "25" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAGridWithoutVersionsHasItsOnlyPoints(t *testing.T) {
	got, err := records(t, strings.Replace(document, "    when: [{name: then, set: {seed: 2}}, {name: now, set: {seed: 3}}]\n", "", 1), table)
	if err != nil || len(got) != 2 || got[0].Axes["when"] != "published" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestATableThatCannotBeReadIsAnError(t *testing.T) {
	for name, c := range map[string]struct{ document, table, want string }{
		"nothing but a header": {document, "kind,queues,size,rate,p99,disk\n", "published/a.csv: it has no rows"},
		"empty":                {document, "", "published/a.csv: no header: EOF"},
		"another file":         {strings.Replace(document, "a.csv", "b.csv", 1), table, "open published/b.csv: file does not exist"},
		"infinite":             {document, strings.Replace(table, "11194", "Inf", 1), `published/a.csv:4: rate: "Inf" is no number; allowed: a decimal number, or nothing if the figure isn't known`},
	} {
		if got, err := records(t, c.document, c.table); err == nil || err.Error() != c.want {
			t.Errorf("%s: %+v, %v; want %s", name, got, err, c.want)
		}
	}
	comment := "# " + strings.Repeat("x", 512<<10-1000) + "\n"
	for times, fits := range map[int]bool{1: true, 2: true, 3: false} {
		if _, err := records(t, document, strings.Repeat(comment, times)+table); (err == nil) != fits {
			t.Errorf("a table of %d times 511 KiB: %v", times, err)
		}
	}
	_, err := records(t, document, "kind,queues,size,rate,p98,disk\nlazy,1,100B,11194,226.5,0\n")
	if want := `published/a.csv has no column "p99"; it has kind, queues, size, rate, p98, disk`; err == nil || err.Error() != want {
		t.Errorf("a single row: %v, want %s", err, want)
	}
	if got, err := records(t, strings.Replace(document, "partitionsPerTopic: [1, 25]", "partitionsPerTopic: [0, 25]", 1), table); got != nil || err == nil || !strings.Contains(err.Error(), "partitionsPerTopic") {
		t.Errorf("a grid that is refused: %+v, %v", got, err)
	}
	_, err = records(t, strings.Replace(document, "publish_rate: rate", "publish_rat: rate", 1), table)
	if err == nil || !strings.HasPrefix(err.Error(), `published/a.csv:4: unknown metric "publish_rat"`) {
		t.Errorf("an unknown metric: %v", err)
	}
}

func TestATableIsOfItsOwnExperimentAlone(t *testing.T) {
	two := strings.Replace(document, "published:\n", `- name: f
  axes:
    partitionsPerTopic: [1, 25]
    messageSize: [100, 10kB]
    topics: [4]
published:
`, 1)
	got, err := records(t, two, table)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, r := range got {
		if r.Axes["sweep"] != "e" || r.Repetition != 1 {
			t.Errorf("%+v", r)
		}
	}
}

func TestOfSeveralMissingColumnsTheSameIsNamedEveryTime(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		_, err := records(t, document, "kind,queues,size\nlazy,1,100B\n")
		if err == nil {
			t.Fatal("a table without its columns is read")
		}
		seen[err.Error()] = true
	}
	if len(seen) > 1 {
		t.Errorf("different complaints: %v", seen)
	}
}

// The grid of a study is looked through once, not for each row.
func TestAsManyRowsAsPointsAreReadInProportion(t *testing.T) {
	const queues = 2500 // of 10,000 points
	large := strings.Replace(document, "partitionsPerTopic: [1, 25]", fmt.Sprintf("partitionsPerTopic: {from: 1, to: %d, step: 1}", queues), 1)
	rows := "kind,queues,size,rate,p99,disk\n"
	for i := range queues {
		rows += fmt.Sprintf("lazy,%d,100B,%d,226.5,0\n", i+1, i+1)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := records(t, large, rows)
	runtime.ReadMemStats(&after)
	if err != nil || len(got) != queues {
		t.Fatal(len(got), err)
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 1000 { // with a copy of the grid for each row: 35 GB
		t.Errorf("%d MB", took)
	}
}
