package reports

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// byTables are, by their numbers, the claims that don't read reproduced if the paper's own tables had been measured here three times. All
// others do, but for those that are absolute.
var byTables = map[string]struct {
	figures      int    // published points
	contradicted string // by the paper's own figures
	tooClose     string // to a bound, or two figures to each other, for the least spread that is believed: they only point to reproduced
	untold       string // the tables have no figures of what the claim is about
	anyOrder     string // reproduced, but also by most tables whose rows were shuffled: it is about all rows together, or there is one
}{
	"rabiee-2018":         {500, "", "19", "1 2 3 4 5 6 6b 7 7b 8 9b 11 11b 13c 14c 18 21", "12 16 16b"},
	"nilsson-pregen-2020": {1, "", "", "2 3 4a 4b 5 6 7 8a 8b 8c 9 10 11 12 13 14 15 16a 16b 17a 17b 18a 18b 19a 19b 20 21 22a 22b 22c 23 24a 24b 24c 25 26 27", ""},
	"raje-2019":           {0, "", "", "1 1b 2 3 4 5 8 9 9b 10 10b 11 12 13 13b 14 14b 15 15b 15c 16 16b 17 18 19 19b 19c 19d 20 20b 21", ""},
	"chen-2024":           {16, "15", "", "6 11", "5"},
	"dyjach-2024":         {62, "", "10a 22", "4a 7a 7c 10c 10d 10e 11a 11c 12a 12b 13a 14a 15a 15b 16a 16b 16c 17 18 20 21 23 24", ""},
}

// asMeasured are published figures as if each had been measured here by a number of repetitions.
func asMeasured(figures []store.Record, repetitions int) (out []store.Record) {
	for _, f := range figures {
		for i := range repetitions {
			r := f
			r.ID, r.PointID, r.Status, r.Repetition, r.Axes = int64(len(out)+1), "measured "+f.PointID, store.OK, i+1, maps.Clone(f.Axes)
			r.Axes["when"] = claim.Now
			out = append(out, r)
		}
	}
	return out
}

// shuffled are figures under the labels of others.
func shuffled(random *rand.Rand, figures []store.Record) []store.Record {
	out := slices.Clone(figures)
	for i, from := range random.Perm(len(figures)) {
		out[i].Result = figures[from].Result
	}
	return out
}

// What a paper concludes from its own tables is reproduced by them, and by chance alone it is not.
func TestTheTablesOfAPaperReproduceItsClaimsAndShuffledOnesDoNot(t *testing.T) {
	const times = 20
	for _, p := range papers(t) {
		name, random := p.Study.Name, rand.New(rand.NewPCG(45, 7))
		want := byTables[name]
		if len(p.Figures) != want.figures {
			t.Errorf("%s: %d published points, want %d", name, len(p.Figures), want.figures)
		}
		answers := claim.Answers(p.Claims, results.Of(asMeasured(p.Figures, 3)), name, claim.Now)
		byChance := make([]int, len(answers))
		for range times {
			for i, a := range claim.Answers(p.Claims, results.Of(asMeasured(shuffled(random, p.Figures), 1)), name, claim.Now) {
				if a.PointsTo == claim.Reproduced {
					byChance[i]++
				}
			}
		}
		var contradicted, tooClose, untold, anyOrder []string
		for i, a := range answers {
			id := p.Claims[i].ID
			switch {
			case a.Verdict == claim.Reproduced && byChance[i] > times/2:
				anyOrder = append(anyOrder, id)
			case a.Verdict == claim.Reproduced, a.Verdict == claim.NotComparable:
			case a.Verdict == claim.NotReproduced:
				contradicted = append(contradicted, id)
			case a.PointsTo == claim.Reproduced && a.Reason == claim.WithinSpread:
				tooClose = append(tooClose, id)
			case a.PointsTo == claim.Undecided:
				untold = append(untold, id)
			default:
				t.Errorf("%s, claim %s: %s (%s); %s", name, id, a.Verdict, a.Why, measuredText(p.Claims[i], a))
			}
		}
		for what, c := range map[string]struct {
			got  []string
			want string
		}{"contradicted": {contradicted, want.contradicted}, "too close": {tooClose, want.tooClose}, "untold": {untold, want.untold}, "any order": {anyOrder, want.anyOrder}} {
			if got := strings.Join(c.got, " "); got != c.want {
				t.Errorf("%s, %s: %q, want %q", name, what, got, c.want)
			}
		}
	}
}

func TestTablesThatAreAPapersOwnAreLikeIt(t *testing.T) {
	compared := 0
	for _, p := range papers(t) {
		same := p.ownResults(results.Of(asMeasured(p.Figures, 1)))
		mixed := p.ownResults(results.Of(asMeasured(shuffled(rand.New(rand.NewPCG(45, 8)), p.Figures), 1)))
		for _, e := range p.Study.Exhibits {
			for _, s := range p.fillExhibit(e, same).similarities() {
				compared += s.rows
				if !math.IsNaN(s.ranks) && math.Abs(s.ranks-1) > 1e-9 || math.Abs(s.ratio.Median-1) > 1e-9 {
					t.Errorf("%s, %s: %+v", p.Study.Name, e.Title, s)
				}
			}
			for _, s := range p.fillExhibit(e, mixed).similarities() {
				if s.rows > 20 && s.ranks > 0.7 {
					t.Errorf("%s, %s, shuffled: %+v", p.Study.Name, e.Title, s)
				}
			}
		}
	}
	if compared < 1000 {
		t.Errorf("%d figures were compared", compared)
	}
}

func TestRankCorrelation(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{1, 10, 100, 1000}, 1},
		{[]float64{1, 2, 3, 4}, []float64{9, 8, 7, -7}, -1},
		// 1 − 6·Σd²/(n(n²−1)) with the differences 1, 1, 0, 1 and 1
		{[]float64{106, 86, 100, 101, 99}, []float64{7, 2, 3, 9, 1}, 1 - 6*float64(1+1+0+1+1)/(5*24)},
		// of equal values: the correlation of 1, 2.5, 2.5, 4 and 1, 2, 3, 4
		{[]float64{3, 7, 7, 9}, []float64{1, 2, 3, 4}, 4.5 / math.Sqrt(4.5*5)},
	} {
		if got := spearman(c.x, c.y); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v and %v: %v, want %v", c.x, c.y, got, c.want)
		}
	}
	if got := spearman([]float64{1, 1, 1, 1}, []float64{1, 2, 3, 4}); !math.IsNaN(got) {
		t.Errorf("of equal values: %v", got)
	}
}
