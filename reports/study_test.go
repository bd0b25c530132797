package reports

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/studies"
)

const paperStudy = `name: paper
question: What do queues cost?
source: A paper, 2018
description: The paper ran three servers; here it is one machine.
base: {measure: peak, duration: 15s, broker: sim}
sweeps:
- name: rabbitmq-2
  axes:
    partitionsPerTopic: [1, 25, 50]
    mode:
    - {name: auto ack, set: {delivery: at-most-once}}
    - {name: manual ack, set: {delivery: at-least-once}}
    when:
    - {name: then, set: {seed: 2}}
    - {name: now, set: {seed: 3}}
published:
- file: published/a.csv
  experiment: rabbitmq-2
  axes: {partitionsPerTopic: queues}
  fixed: {mode: auto ack}
  metrics: {publish_rate: msg_per_s, e2e_p99_ns: {column: lat_p99, unit: ms}, broker_disk_write_bytes: {column: disk, unit: MB}}
exhibits:
- {title: Table A.1, place: page 61, note: Only one server was measured., experiment: rabbitmq-2, rows: partitionsPerTopic, series: mode, where: {mode: auto ack}, columns: [{metric: publish_rate, unit: msg/s}, {metric: e2e_p99_ns, unit: ms}]}
- {title: All columns, experiment: rabbitmq-2, rows: partitionsPerTopic, where: {mode: auto ack}, columns: [{metric: publish_rate, unit: msg/s}, {metric: e2e_p99_ns, unit: ms}, {metric: broker_disk_write_bytes, unit: MB}, receive_rate]}
`

const paperTable = `# origin: table A.1, page 61
queues,msg_per_s,lat_p99,disk
1,11194,226.06666,0
25,8582,5900,8
50,7589,11826.78,
`

const paperClaims = `claims:
- {id: 1, says: The rate falls with the number of queues, where: table A.1, published: "−32 %", note: one server was slower, experiment: rabbitmq-2, metric: publish_rate,
   select: {mode: auto ack}, slope: {along: partitionsPerTopic, sign: falling, change: {from: -45%, to: -25%}}}
- {id: 2, says: The rate rises with the number of queues, where: nowhere, published: "", experiment: rabbitmq-2, metric: publish_rate,
   select: {mode: auto ack}, slope: {along: partitionsPerTopic, sign: rising}}
- {id: 3, says: It costs nothing to add one, where: page 7, published: "–", undecidable: no cost was stated}
`

// paperFolder writes the folder of a made-up paper.
func paperFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "paper")
	for name, text := range map[string]string{"study.yaml": paperStudy, "claims.yaml": paperClaims, "published/a.csv": paperTable} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What comes along and stands for no publication has nothing to be set beside.
func TestTheStudyReportCoversEveryPublicationThatComesAlongAndNothingElse(t *testing.T) {
	report, err := Lookup("study")
	if err != nil {
		t.Fatal(err)
	}
	covered := 0
	for _, name := range studies.Names() {
		p, err := ReadPaper(name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := report.Build(results.Of([]store.Record{{Study: name, PointID: "p", Status: store.Aborted}}))
		if err != nil {
			t.Fatal(err)
		}
		publication := p.Claims != nil || p.Figures != nil || p.Study.Exhibits != nil
		first, _ := d.Blocks[0].(document.Paragraph)
		if silent := strings.HasPrefix(first.Text, "The records belong to no study with claims, tables or figures. Their studies: "+name+"."); silent == publication {
			t.Errorf("%s has %d claims, %d published records and %d exhibits; its report begins with %q", name, len(p.Claims), len(p.Figures), len(p.Study.Exhibits), first.Text)
		}
		if publication {
			covered++
		}
	}
	if covered < 5 || covered == len(studies.Names()) {
		t.Errorf("%d of %d studies stand for a publication", covered, len(studies.Names()))
	}
	if d, err := report.Build(results.Of([]store.Record{{Study: "of mine", PointID: "p", Status: store.Aborted}})); err != nil || len(d.Blocks) != 1 {
		t.Errorf("a study of somebody's own: %v, %v", d.Blocks, err)
	}
}

func TestTheClaimsAloneHaveNeitherTablesNorSetup(t *testing.T) {
	record := store.Record{Study: "raje-2019", PointID: "p", Status: store.Aborted, Axes: map[string]string{"when": "now"}}
	d := build(t, "claims", []store.Record{record})
	tables := d.Tables()
	if len(tables) != 1 || len(tables[0].Rows) < 10 {
		t.Fatalf("%d tables; want that of the claims", len(tables))
	}
	if text := fmt.Sprint(d.Blocks); !strings.Contains(text, "1 repetition of 1 point: 1 aborted.") {
		t.Errorf("how the repetitions ended isn't told: %s", text)
	}
	paper, err := ReadPaper("raje-2019")
	if err != nil {
		t.Fatal(err)
	}
	headings, said := sections(d)
	if !slices.Equal(headings[:1], []string{"raje-2019"}) || said[0] != paper.Study.Question+" "+paper.Study.Source {
		t.Errorf("it begins with %q and %q, want the study, its question and its source", headings, said[0])
	}
	record.Study = "ingestion" // has tables, and no claims
	if d := build(t, "claims", []store.Record{record}); len(d.Tables()) != 0 || len(d.Blocks) != 1 {
		t.Errorf("without claims: %v", d.Blocks)
	}
}

func TestAFolderThatIsNoPaperIsAnErrorThatSaysWhere(t *testing.T) {
	for file, c := range map[string]struct{ text, want string }{
		"study.yaml":      {"base: {measur: peak}", "paper/study.yaml:1: base.measur: unknown key"},
		"claims.yaml":     {"claims: 7", "paper/claims.yaml:1: claims: \"7\" is not a list"},
		"published/a.csv": {"", "published/a.csv: no header"},
	} {
		dir := paperFolder(t)
		if err := os.WriteFile(filepath.Join(dir, file), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadPaper(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", file, err, c.want)
		}
	}
	dir := paperFolder(t)
	grid := strings.Replace(paperStudy, "partitionsPerTopic: [1, 25, 50]", "partitionsPerTopic: [0, 25, 50]", 1)
	if err := os.WriteFile(filepath.Join(dir, "study.yaml"), []byte(grid), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPaper(dir); err == nil || !strings.Contains(err.Error(), "partitionsPerTopic") {
		t.Errorf("a grid with a point that is refused: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "study.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPaper(dir); err == nil {
		t.Error("a folder without a study")
	}
	bare := paperFolder(t)
	if err := os.Remove(filepath.Join(bare, "claims.yaml")); err != nil {
		t.Fatal(err)
	}
	if p, err := ReadPaper(bare); err != nil || p.Claims != nil {
		t.Errorf("a paper without claims: %v, %v", p.Claims, err)
	}
}

// A folder may come from an attacker: with a figure of a paper, nothing of this machine's other files is stored or published.
func TestAPaperReadsItsOwnFolderOnly(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	payload := func(name string) string {
		return strings.Replace(paperStudy, "base: {", "base: {payloadFile: '"+name+"', ", 1)
	}
	for name, c := range map[string]struct {
		files, links map[string]string
		want         string
	}{
		"a payload of its own":    {map[string]string{"study.yaml": payload("own"), "own": "0123456789"}, nil, ""},
		"an absolute payload":     {map[string]string{"study.yaml": payload(key)}, nil, "outside of the study's own folder"},
		"a payload above":         {map[string]string{"study.yaml": payload("../key")}, nil, "outside of the study's own folder"},
		"a payload that is not":   {map[string]string{"study.yaml": payload("own")}, nil, "no such file"},
		"a payload by a link":     {map[string]string{"study.yaml": payload("own")}, map[string]string{"own": key}, "path escapes"},
		"claims by a link":        {nil, map[string]string{"claims.yaml": key}, "path escapes"},
		"a document without end":  {nil, map[string]string{"study.yaml": "/dev/zero"}, "path escapes"},
		"claims that are a pipe":  {map[string]string{"claims.yaml": ""}, nil, bounded.ErrNoFile.Error()},
		"a table by a link":       {nil, map[string]string{"published": filepath.Dir(key)}, "path escapes"},
		"a description by a link": {nil, map[string]string{"README.md": key}, ""}, // which no report reads
	} {
		t.Run(name, func(t *testing.T) {
			dir := paperFolder(t)
			var errs []error
			for file, text := range c.files {
				errs = append(errs, os.RemoveAll(filepath.Join(dir, file)))
				if text == "" {
					errs = append(errs, syscall.Mkfifo(filepath.Join(dir, file), 0o600))
				} else {
					errs = append(errs, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
				}
			}
			for link, to := range c.links {
				errs = append(errs, os.RemoveAll(filepath.Join(dir, link)), os.Symlink(to, filepath.Join(dir, link)))
			}
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			_, err := ReadPaper(dir)
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestALongListIsToldByItsEnds(t *testing.T) {
	for value, want := range map[string]string{
		"[1,2,3,4,5]": "[1,2,3,4,5]", "[1,2,3,4,5,6]": "6 values, 1 to 6", "[a]": "[a]", "": "", "1,2,3,4,5,6,7": "1,2,3,4,5,6,7", `["a,b","c"]`: `["a,b","c"]`,
		`[{"at":1,"do":"pause","for":2},{"at":5,"do":"kill","for":2}]`: `[{"at":1,"do":"pause","for":2},{"at":5,"do":"kill","for":2}]`,
	} {
		if got := shortList(value); got != want {
			t.Errorf("%q is told as %q, want %q", value, got, want)
		}
	}
}

func TestRatesOfAnExhibitAreWholeAsThePapersPrintThem(t *testing.T) {
	p, err := ReadPaper(paperFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	x := p.fillExhibit(p.Study.Exhibits[1], results.Of(rerun(t, p, map[string]map[string][]float64{"now": {"1": {1000}}})))
	for i, want := range map[string]unit.Unit{"publish_rate": unit.Count, "e2e_p99_ns": unit.None, "broker_disk_write_bytes": unit.None, "receive_rate": unit.PerSecond} {
		at := slices.IndexFunc(x.columns, func(c exhibitColumn) bool { return c.metric.Key == i })
		if at < 0 {
			t.Fatalf("no column of %s", i)
		}
		if c := x.columns[at].column(); c.Unit != want {
			t.Errorf("%s is shown in %v, want %v", i, c.Unit, want)
		}
	}
}

// rerun makes records of the paper's points that were measured for a shorter time; rates go by queues, then and now.
func rerun(t *testing.T, p Paper, rates map[string]map[string][]float64) []store.Record {
	t.Helper()
	var out []store.Record
	for _, g := range p.Grid {
		for i, rate := range rates[g.Axes["when"]][g.Axes["partitionsPerTopic"]] {
			spec := g.Spec
			spec.Duration = study.Duration(3e9)
			out = append(out, store.Record{
				ID: int64(len(out) + 1), Study: "paper", PointID: spec.ID(), Axes: g.Axes, Repetition: i + 1, Status: store.OK, Spec: spec,
				Versions: store.Versions{Broker: "1." + g.Axes["when"], Client: "client@v1"}, Host: store.Host{CPU: "a CPU", Cores: 2, MemoryBytes: 8 << 30},
				Result: &store.Result{Measurement: store.Measurement{PublishRate: rate, ReceiveRate: rate}},
			})
		}
	}
	return out
}

func column(d document.Document, table int, key string) (texts []string) {
	t := d.Tables()[table]
	for _, row := range t.Rows {
		texts = append(texts, row[key].Text)
	}
	return texts
}

func TestAStudyReportSetsClaimsAndTablesBesideWhatWasMeasured(t *testing.T) {
	p, err := ReadPaper(paperFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	set := results.Of(rerun(t, p, map[string]map[string][]float64{
		"then": {"1": {1000, 1100}, "50": {700, 690}, "25": {800, 810}},
		"now":  {"1": {1000, 2000}, "50": {1500, 1400}, "25": {1600, 1600}},
	}))
	d := Study(set, p)
	for key, want := range map[string][]string{
		"claim":       {"1", "2", "3"},
		"answer_then": {"undecided", "undecided", "undecided"},
		"answer_now":  {"undecided", "undecided", "undecided"},
		"published":   {"−32 %", "", "–"},
	} {
		if got := column(d, 0, key); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	for side, want := range map[string]string{"then": "0 of 3 claims are reproduced, 0 are not, 3 are undecided, with 1 pointing to reproduced and 1 to not reproduced.", "now": "0 of 3 claims are reproduced, 0 are not, 3 are undecided."} {
		finds := func(b document.Block) bool {
			v, ok := b.(document.Verdict)
			return ok && v.About == sideNames[side] && v.Finding == want
		}
		if !slices.ContainsFunc(d.Blocks, finds) {
			t.Errorf("%s: no verdict says %q", side, want)
		}
	}
	if got := column(d, 0, "measured_then")[0]; got != "−33.8 % [−67.0 % to 33.0 %] along partitionsPerTopic, R² 0.95 (n=2)" {
		t.Errorf("measured then: %q", got)
	}
	if _, texts := sections(d); !slices.Contains(texts, "Only one server was measured.") {
		t.Errorf("the note on table A.1 is missing: %q", texts)
	}
	notes := d.Notes()
	said := d.Tables()[0].Rows[1]["says"]
	if len(said.Marks) != 1 || !strings.HasPrefix(notes[said.Marks[0]], "the paper's own tables contradict it: ") {
		t.Errorf("the paper against itself: %+v %v", said, notes)
	}
	beside := d.Tables()[1]
	if len(beside.Rows) != 3 {
		t.Fatalf("%d rows", len(beside.Rows))
	}
	row := beside.Rows[2]
	if row["publish_rate_published"].Number != 7589 || row["publish_rate_then"].Number != 695 || row["e2e_p99_ms_published"].Number != 11826.78 {
		t.Errorf("row of 50 queues: %+v", row)
	}
	long := d.Tables()[2]
	if len(long.Rows) != 9 || long.Rows[3]["of"].Text != "published" || long.Rows[3]["broker_disk_write_mb"].Number != 8 || long.Rows[6]["broker_disk_write_mb"].Kind != document.Blank {
		t.Errorf("a row for each side: %+v", long.Rows)
	}
	for i, side := range []string{"then", "now"} {
		row := d.Tables()[3].Rows[i]
		if row["side"].Text != side || row["repetitions"].Number != 12 || row["brokers"].Text != "sim 1."+side || row["clients"].Text != "client@v1" || !strings.HasPrefix(row["machine"].Text, "a CPU") {
			t.Errorf("what was measured with: %+v", row)
		}
	}
	differ := d.Tables()[4]
	if len(differ.Rows) != 1 || differ.Rows[0]["setting"].Text != "duration" || differ.Rows[0]["paper"].Text != "15s" || differ.Rows[0]["here"].Text != "3s" || differ.Rows[0]["points"].Number != 12 {
		t.Errorf("what differs: %+v", differ.Rows)
	}
}

func TestAFigureOfTheExhibitIsInThePapersUnitWithItsSpread(t *testing.T) {
	p, err := ReadPaper(paperFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	measured := rerun(t, p, map[string]map[string][]float64{"now": {"1": {1000, 1000}}})
	for i := range measured {
		measured[i].Result.Cost = store.Cost{BrokerKnown: true, BrokerDiskWriteBytes: int64(3+i%2*2) * 1e6}
	}
	x := p.fillExhibit(p.Study.Exhibits[1], results.Of(append(measured, p.Figures...)))
	mb := slices.IndexFunc(x.columns, func(c exhibitColumn) bool { return c.metric.Key == results.KeyBrokerDiskWrite })
	if len(x.rows) != 1 || mb < 0 {
		t.Fatalf("%d rows, columns %v", len(x.rows), x.columns)
	}
	if c := x.columns[mb].cell(x.rows[0], "now"); c.Number != 4 || c.Low != 3 || c.High != 5 {
		t.Errorf("3 and 5 MB are %+v", c)
	}
}

// Whatever the order in which the points come: 25 queues before 50 of each mode, or each mode of 25 queues.
func TestRowsOfAnExhibitGoBySeriesAndThenByTheirValues(t *testing.T) {
	p, err := ReadPaper(paperFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	set := results.Of(rerun(t, p, map[string]map[string][]float64{"now": {"1": {1000}, "25": {900}, "50": {800}}}))
	for _, e := range []study.Exhibit{
		{Experiment: "rabbitmq-2", Rows: "partitionsPerTopic", Series: "mode"}, {Experiment: "rabbitmq-2", Rows: "mode", Series: "partitionsPerTopic"},
	} {
		var got []string
		for _, r := range p.fillExhibit(e, set).rows {
			got = append(got, r.series+" "+r.value)
		}
		want := []string{"auto ack 1", "auto ack 25", "auto ack 50", "manual ack 1", "manual ack 25", "manual ack 50"}
		if e.Rows == "mode" {
			want = []string{"1 auto ack", "1 manual ack", "25 auto ack", "25 manual ack", "50 auto ack", "50 manual ack"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s by %s: %q, want %q", e.Series, e.Rows, got, want)
		}
	}
}

func TestPublishedFiguresStandInAStudyReportAlsoWhenTheyWereImported(t *testing.T) {
	p, err := ReadPaper(paperFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	measured := rerun(t, p, map[string]map[string][]float64{"now": {"1": {1000}, "25": {900}, "50": {700}}})
	without, with := Study(results.Of(measured), p), Study(results.Of(append(p.Figures, measured...)), p)
	if a, b := len(without.Tables()[1].Rows), len(with.Tables()[1].Rows); a != b || a != 3 {
		t.Errorf("%d rows without, %d with them in the store", a, b)
	}
	if note := without.Tables()[0].Rows[0]["answer_now"]; len(note.Marks) != 1 || !strings.HasPrefix(without.Notes()[note.Marks[0]], "one run decides nothing; points to: ") {
		t.Errorf("one repetition: %+v", note)
	}
}

func TestNothingIsConcludedFromPublishedFigures(t *testing.T) {
	p, err := ReadPaper(paperFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	set := results.Of(p.Figures)
	for _, name := range Names() {
		r, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := r.Build(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range d.Blocks {
			if v, ok := b.(document.Verdict); ok && v.Finding != "No conclusion." {
				t.Errorf("%s concludes %q", name, v.Text())
			}
		}
		for _, table := range d.Tables() {
			for _, row := range table.Rows {
				if c, ok := row["publish_rate"]; ok && c.Kind != document.Blank && !c.Unused {
					t.Errorf("%s uses %+v", name, c)
				}
			}
		}
	}
}

func TestCompareSetsPublishedFiguresBesideMeasuredOnesAndTestsNothing(t *testing.T) {
	p, err := ReadPaper(paperFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	measured := rerun(t, p, map[string]map[string][]float64{"now": {"1": {1000, 1100, 1050, 1020, 1010, 1030}}})
	d := Compare(Side{"published", results.Of(p.Figures)}, Side{"now", results.Of(measured)}, "when")
	tables := d.Tables()
	if len(tables) != 1 {
		t.Fatalf("%d tables: %+v", len(tables), d)
	}
	row := tables[0].Rows[0]
	if len(tables[0].Rows) != 1 {
		t.Errorf("one figure is known of both, the table has %+v", tables[0].Rows)
	}
	if row["metric"].Text != "published" || row["first"].Number != 11194 || row["second"].Number != 1025 || row["second_n"].Number != 6 {
		t.Errorf("%+v", row)
	}
	for _, b := range d.Blocks {
		if v, ok := b.(document.Verdict); ok {
			t.Errorf("a verdict: %s", v.Text())
		}
	}
	if last, ok := d.Blocks[len(d.Blocks)-1].(document.Paragraph); !ok || !strings.HasSuffix(last.Text, "Ratio: one figure divided by the other.") {
		t.Errorf("the statistics are those of a test: %+v", last)
	}
}
