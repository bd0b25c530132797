package reports

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

func TestWithOneRunEachTheAnswersSayThatNoSpreadStandsBehindThem(t *testing.T) {
	p, err := ReadPaper(paperFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	once := map[string][]float64{"1": {1000}, "25": {800}, "50": {690}}
	twice := map[string][]float64{"1": {1000, 1100}, "25": {800, 810}, "50": {700, 690}}
	for name, c := range map[string]struct {
		now  map[string][]float64
		want string
	}{
		"one run":  {once, "0 of 3 claims are reproduced, 0 are not, 3 are undecided, with 1 pointing to reproduced and 1 to not reproduced."},
		"two runs": {twice, "0 of 3 claims are reproduced, 0 are not, 3 are undecided, with 1 pointing to reproduced and 1 to not reproduced."},
	} {
		d := Study(results.Of(rerun(t, p, map[string]map[string][]float64{"now": c.now})), p)
		said := ""
		for _, b := range d.Blocks {
			if v, ok := b.(document.Verdict); ok && v.About == sideNames["now"] {
				said = v.Finding
			}
		}
		if said != c.want {
			t.Errorf("%s: %q, want %q", name, said, c.want)
		}
		marked := ""
		for _, mark := range d.Tables()[0].Rows[0]["answer_now"].Marks {
			marked += d.Notes()[mark]
		}
		if strings.Contains(marked, "one run decides nothing; points to: ") != (name == "one run") {
			t.Errorf("%s: the verdict is marked %q", name, marked)
		}
	}
}

// With --only a part of the claims has nothing to be answered by, which is no doubt about the broker.
func TestClaimsOfWhatWasNotRunAreNotUndecided(t *testing.T) {
	dir := paperFolder(t)
	claims := strings.Replace(paperClaims, "where: nowhere, published: \"\", experiment: rabbitmq-2", "where: nowhere, published: \"\", experiment: rabbitmq-3", 1)
	study := strings.Replace(paperStudy, "published:", "- name: rabbitmq-3\n  axes: {topics: [1, 2]}\npublished:", 1)
	for name, text := range map[string]string{"claims.yaml": claims, "study.yaml": study} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := ReadPaper(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := Study(results.Of(rerun(t, p, map[string]map[string][]float64{"now": {"1": {1000}, "25": {800}, "50": {690}}})), p)
	if got := column(d, 0, "answer_now"); !slices.Equal(got, []string{"undecided", "not run", "undecided"}) {
		t.Errorf("%q", got)
	}
	counts := func(b document.Block) bool {
		v, ok := b.(document.Verdict)
		return ok && v.Finding == "0 of 2 claims are reproduced, 0 are not, 2 are undecided, with 1 pointing to reproduced and 0 to not reproduced; 1 more was not run."
	}
	if !slices.ContainsFunc(d.Blocks, counts) {
		t.Errorf("no verdict counts it: %+v", d.Blocks[:3])
	}
}

// A study of our own has nothing published beside it, and no then.
func TestAStudyWithoutAPublicationSpeaksOfNoPaper(t *testing.T) {
	dir := paperFolder(t)
	for _, name := range []string{"claims.yaml", "published/a.csv"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	own := strings.Replace(paperStudy, "source: A paper, 2018\ndescription: The paper ran three servers; here it is one machine.\n", "", 1)
	own = own[:strings.Index(own, "published:")] + own[strings.Index(own, "exhibits:"):]
	own = strings.Replace(own, "    - {name: then, set: {seed: 2}}\n", "", 1)
	if err := os.WriteFile(filepath.Join(dir, "study.yaml"), []byte(own), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := ReadPaper(dir)
	if err != nil {
		t.Fatal(err)
	}
	records := rerun(t, p, map[string]map[string][]float64{"now": {"1": {1000}, "25": {800}, "50": {690}}})
	d := Study(results.Of(records), p)
	if d.Title != "Studies" {
		t.Errorf("the title is %q", d.Title)
	}
	headings, said := sections(d)
	for _, text := range slices.Concat(headings, said) {
		if lower := strings.ReplaceAll(strings.ToLower(text), p.Study.Name, ""); strings.Contains(lower, "the paper") || strings.Contains(lower, "publi") {
			t.Errorf("it says %q", text)
		}
	}
	for _, table := range d.Tables() {
		for _, c := range table.Columns {
			if c.Key == "of" || strings.Contains(c.Name, "paper") {
				t.Errorf("a column is called %q", c.Name)
			}
		}
	}
	if !slices.Contains(headings, "Tables and figures") || !slices.Contains(headings, "What was run") {
		t.Errorf("headings %q", headings)
	}
}

func TestASettingThatTheFullGridDoesNotHaveIsAChange(t *testing.T) {
	planned := study.Spec{Connections: 2}
	measured := study.Spec{BrokerWarmup: study.Duration(5e9)}
	planned.Curve.Fractions = []float64{0.1, 0.2, 0.3, 0.5, 0.8, 1}
	measured.Curve.Fractions = []float64{0.1, 0.2, 0.4, 0.5, 0.8, 1}
	want := []settingChange{
		{path: "brokerWarmup", here: "5s"},
		{path: "connections", full: "2"},
		{path: "curve.fractions", full: "[0.1,0.2,0.3,0.5,0.8,1]", here: "[0.1,0.2,0.4,0.5,0.8,1]"},
	}
	if got := changesBetween(planned, measured); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
