package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/studies"
)

// allPapers reads them once: they are large.
var allPapers = sync.OnceValues(func() (out []Paper, err error) {
	for _, name := range studies.Names() {
		p, err := ReadPaper(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(p.Claims) > 0 {
			out = append(out, p)
		}
	}
	return out, nil
})

// papers are the studies that stand for a publication.
func papers(t *testing.T) []Paper {
	t.Helper()
	out, err := allPapers()
	if err != nil || len(out) != 5 {
		t.Fatalf("%d studies have claims, want 5: %v", len(out), err)
	}
	return slices.Clone(out)
}

// made is a measurement in which everything is known; x tells points apart.
func made(x float64) store.Measurement {
	h := hist.New()
	for i := range int64(20) {
		h.Record(int64(1e6*x) + 1e5*i)
	}
	latency := h.Snapshot()
	backlog := int64(100 * x)
	return store.Measurement{
		Books:   store.Books{Due: 1000, Sent: 1000, Acked: 1000, Expected: 1000, Received: 1000},
		Seconds: 1, PublishRate: 1000 * x, ReceiveRate: 900 * x, PayloadSize: 100, BacklogMax: &backlog,
		Latency:   store.Latency{EndToEnd: latency, EndToEndService: latency, Publish: latency, Service: latency},
		Corrected: &store.Corrected{IntervalNs: 1, MeanNs: 1e6 * x, P99Ns: int64(2e6 * x)},
		Series:    []store.Tick{{OffsetNs: 5e8, Phase: "measure", FromSendNs: 1e6 * x, FromSendCount: 10}},
		Cost: store.Cost{
			BrokerKnown: true, BrokerUserSeconds: x, BrokerSystemSeconds: x, BrokerDiskWriteBytes: int64(1e6 * x), Messages: 1000,
			Shares: &store.Shares{Seconds: 1, Broker: x, BrokerUser: x / 2, BrokerSystem: x / 2},
		},
	}
}

// curve makes a curve whose latency jumps at the highest rate, of a search where the rates are shares of what it finds.
func curve(r *store.Result, c study.Curve, x float64) {
	add := func(fraction, rate float64) {
		m := made(x + float64(len(r.Curve)))
		r.Curve = append(r.Curve, store.CurvePoint{Fraction: fraction, Rate: rate, Status: store.OK, Measurement: m})
		r.Knee = &store.Knee{Rate: 900 * x, JumpedAt: rate}
	}
	for _, fraction := range c.Fractions {
		r.Sustainable = &store.Sustainable{HeldNs: 20e9, Low: 1000 * x, High: 1100 * x}
		add(fraction, fraction*1000*x)
	}
	for _, rate := range c.Rates {
		add(0, rate)
	}
}

// ran makes repetitions of every point, as if all of it had ended ok.
func ran(points []study.Point, repetitions int) []store.Record {
	var out []store.Record
	for i, p := range points {
		for repetition := 1; repetition <= repetitions; repetition++ {
			x := 1 + float64(i%7)/10 + float64(repetition)/100
			result := &store.Result{Measurement: made(x)}
			switch p.Spec.Measure {
			case "sustainable":
				result.Sustainable = &store.Sustainable{HeldNs: 20e9, Low: 1000 * x, High: 1100 * x}
			case "count":
				result.Count = &store.Count{TotalSeconds: x}
			case "backlog":
				result.Backlog = &store.Backlog{DrainRate: 1000 * x}
			}
			if p.Spec.Pipeline != nil {
				result.Pipeline = &store.Pipeline{
					Response: result.Latency.Service, QueueMax: new(int64(10 * x)), QueueBytes: new(int64(3e4 * x)), ConsumerCapacity: new(x / 2),
					Parts: []store.PipelinePart{{Name: "consumer", PeakCPU: x / 2}},
				}
			}
			if c := p.Spec.Curve; len(c.Fractions)+len(c.Rates) > 0 {
				curve(result, c, x)
			}
			out = append(out, store.Record{
				ID: int64(len(out) + 1), Study: p.Study, PointID: p.ID, Label: p.Label, Axes: p.Axes, Repetition: repetition, Status: store.OK, Spec: p.Spec, Result: result,
			})
		}
	}
	return out
}

func TestEveryClaimCanBeEvaluatedAtEveryScale(t *testing.T) {
	for _, p := range papers(t) {
		for _, scale := range p.Study.Scales() {
			s := p.Study
			if err := s.Scale(scale); err != nil {
				t.Fatal(err)
			}
			points, err := s.Points()
			if err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			full := scale == study.Full
			set := results.Of(ran(points, map[bool]int{true: 1, false: 2}[full]))
			sides := claim.Sides(set, s.Name)
			if !slices.Contains(sides, claim.Now) {
				t.Errorf("%s, scale %s: sides %v", s.Name, scale, sides)
			}
			for _, side := range sides {
				if scale == study.SmokeTest || side == claim.Then && lacksBrokers(points) {
					continue // a smoke test answers nothing, and of a broker that can't be had in the version of then, nothing can be answered
				}
				for i, a := range claim.Answers(p.Claims, set, s.Name, side) {
					c := p.Claims[i]
					if a.Reason != claim.Decided && a.Reason != claim.WithinSpread && a.Reason != claim.OneRun && a.Reason != claim.FewPlaces && a.Reason != claim.Undecidable {
						t.Errorf("%s, claim %s, %s, scale %s: %s: %s", s.Name, c.ID, side, scale, a.Reason, a.Why)
					}
					for i, part := range a.Parts {
						if part.Figure.N == 0 || math.IsNaN(part.Figure.Value) || part.Missing > 0 || part.Reason == claim.Misfit || part.Reason == claim.NothingMeasured {
							t.Errorf("%s, claim %s, %s, scale %s, statement %d: %+v", s.Name, c.ID, side, scale, i+1, part)
						}
					}
				}
			}
			if !full {
				if d := Study(set, p); len(d.Tables()) < 2 {
					t.Errorf("%s, scale %s: %d tables", s.Name, scale, len(d.Tables()))
				}
			}
			for _, b := range exhibitsOf(p, set) {
				if full && len(b.rows) == 0 || len(b.columns) != len(b.Columns) {
					t.Errorf("%s, scale %s, %s: %d rows, %d of %d columns are metrics", s.Name, scale, b.Title, len(b.rows), len(b.columns), len(b.Columns))
				}
			}
		}
	}
}

// lacksBrokers reports whether a broker is measured in its version of now alone.
func lacksBrokers(points []study.Point) bool {
	sides := map[string]map[string]bool{claim.Then: {}, claim.Now: {}}
	for _, p := range points {
		if of := sides[p.Axes["when"]]; of != nil {
			of[p.Spec.Broker] = true
		}
	}
	return len(sides[claim.Then]) < len(sides[claim.Now])
}

func exhibitsOf(p Paper, set *results.Set) (out []exhibit) {
	beside := p.ownResults(set)
	for _, e := range p.Study.Exhibits {
		out = append(out, p.fillExhibit(e, beside))
	}
	return out
}

func TestStudiesHaveAtLeastTenClaimsThatCanBeDecided(t *testing.T) {
	for _, p := range papers(t) {
		n := 0
		for _, c := range p.Claims {
			if c.Undecidable == "" {
				n++
			}
		}
		if n < 10 {
			t.Errorf("%s: %d of %d claims can be decided", p.Study.Name, n, len(p.Claims))
		}
	}
}

func TestARatioIsSaidWithTheBoundsThatItHas(t *testing.T) {
	for want, f := range map[string]claim.Figure{
		"1.20× to 3.00×": {Unit: unit.Factor, Low: 1.2, High: 3},
		"2.00×":          {Unit: unit.Factor, Low: 2, High: 2},
		"at most 3.00×":  {Unit: unit.Factor, High: 3},
		"at least 1.20×": {Unit: unit.Factor, Low: 1.2, High: math.Inf(1)},
		"0× or more":     {Unit: unit.Factor, High: math.Inf(1)},
		"0/s to 10/s":    {Unit: unit.PerSecond, High: 10},
	} {
		if got := rangeText(f); got != want {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
}

func TestAMeasuredTrendNamesTheValuesThatItIsWithout(t *testing.T) {
	s := claim.Statement{Kind: claim.Shape}
	p := claim.Part{Figure: claim.Figure{Value: 2, Low: 2, High: 2, N: 3, Unit: unit.Factor}, Without: []string{"topics=50"}}
	if got := partText(s, p); got != "2.00× (n=3, without topics=50)" {
		t.Errorf("got %q", got)
	}
}

func TestAMeasuredFigureSaysWhereItWasJudgedAndWhatWouldTurnTheAnswer(t *testing.T) {
	figure, cells := claim.Figure{Value: 2, Low: 1, High: 3, N: 3, Unit: unit.Factor}, []claim.Cell{{Verdict: claim.Reproduced}, {Verdict: claim.NotReproduced}}
	sure := figure
	sure.Low = 0.5
	for want, c := range map[string]struct {
		s claim.Statement
		p claim.Part
	}{
		"0.500× to 3.00× (at 2 of 6 places, reproduced at 1, n=3)": {
			claim.Statement{Kind: claim.Ratio, Grouping: claim.Grouping{Take: claim.TakeEach}}, claim.Part{Figure: figure, Sure: sure, Cells: cells, Missing: 4},
		},
		"2.00× [1.00× to 3.00×] (median of 2 of 2 places, n=3, bound 1.20×, would turn at 1.40×)": {
			claim.Statement{Kind: claim.Ratio, Grouping: claim.Grouping{Take: "median"}},
			claim.Part{Figure: figure, Cells: cells, Turn: claim.Turn{Bound: 1.2, At: 1.4, Unit: unit.Factor}},
		},
		"2.00× [1.00× to 3.00×] (at 1 of 1 place, n=3)": {
			claim.Statement{Kind: claim.Ratio, Grouping: claim.Grouping{Take: claim.TakeEach, Places: 1}}, claim.Part{Figure: figure, Cells: cells[:1]},
		},
	} {
		if got := partText(c.s, c.p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A generator that stood still adds a delay to a latency. It takes its share off the rate of a closed loop.
func TestAStandstillIsSaidToLowerARateByItsShare(t *testing.T) {
	d := results.Doubt{Code: "pauses", Share: 0.286, Text: "so it was"}
	for key, want := range map[string]string{
		"throughput":          "generator: it stood still, by which the rate is up to 29 % too low",
		"e2e_service_mean_ns": "generator: part of the figure may be the generator's own delay, not the broker's",
	} {
		c := claim.Claim{Statements: []claim.Statement{{Kind: claim.Threshold, Selection: claim.Selection{Metric: results.MustMetric(key)}}}}
		var notes document.Footnotes
		measuredCell(c, claim.Answer{Parts: []claim.Part{{Figure: claim.Figure{N: 3}, Doubts: []results.Doubt{d}}}}, &notes)
		if got := fmt.Sprint(notes.Blocks()); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

// What the answers come to is said first, and a smoke test gives none.
func TestASmokeTestIsSaidToGiveNoVerdicts(t *testing.T) {
	p, err := ReadPaper(paperFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	records := rerun(t, p, map[string]map[string][]float64{"now": {"1": {1000, 1001, 999}, "25": {800, 801, 799}, "50": {690, 691, 689}}})
	for scale, want := range map[string]struct {
		finding string
		answers []string
	}{
		"":              {"1 of 3 claims is reproduced, 1 is not, 1 is undecided.", []string{"reproduced", "not reproduced", "undecided"}},
		study.SmokeTest: {"no verdict on 3 claims, as scale quick is a smoke test, with 1 pointing to reproduced and 1 to not reproduced.", []string{"points to reproduced", "points to not reproduced", "undecided"}},
	} {
		for i := range records {
			records[i].Scale = scale
		}
		d := Study(results.Of(records), p)
		if got := column(d, 0, "answer_now"); !slices.Equal(got, want.answers) {
			t.Errorf("scale %q: %q", scale, got)
		}
		found := slices.ContainsFunc(d.Blocks, func(b document.Block) bool {
			v, ok := b.(document.Verdict)
			return ok && v.Finding == want.finding
		})
		if !found {
			t.Errorf("scale %q: nothing says %q in %v", scale, want.finding, d.Blocks[:4])
		}
	}
}
