package results

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// ofCurve is a repetition of a curve with doubts of its own, after a search or at given rates.
func ofCurve(searched bool, loadPoints ...store.CurvePoint) store.Record {
	r := swept("kafka", 100, 0, nil)
	r.PointID, r.Spec.Measure, r.Reason = "curve", "curve", "of the repetition"
	r.Doubts = []store.Doubt{{Code: "shared-cores", Text: "of the repetition"}, {Code: "bad-levels", Text: "some"}, {Code: "old-version", Text: "of the repetition"}}
	if searched {
		r.Result.Sustainable = &store.Sustainable{HeldNs: 20e9, Low: 1000, High: 1050}
	}
	r.Result.Curve = loadPoints
	return r
}

func doubtsOf(r store.Record) string {
	var words []string
	for _, d := range r.Doubts {
		words = append(words, d.Code+" "+d.Text)
	}
	return strings.Join(words, ", ")
}

func TestADoubtConcernsTheRatesThatWereMeasuredInItsLight(t *testing.T) {
	counted := store.Measurement{Books: store.Books{Sent: 5}}
	own := append(make([]store.Doubt, 0, 8), store.Doubt{Code: "shared-cores", Text: "of the rate"})
	loadPoints := []store.CurvePoint{
		{Rate: 10, Status: store.OK, Measurement: counted, Doubts: own},
		{Rate: 20, Status: store.Void, Reason: "late", Measurement: counted},
		{Rate: 30, Status: store.OK, Doubts: own},                 // doubted, though nothing was counted
		{Rate: 40, Status: store.Failed, Reason: "no connection"}, // before anything was sent
	}
	const all = "shared-cores of the repetition, bad-levels some, old-version of the repetition"
	for _, c := range []struct {
		searched bool
		doubts   []string
	}{
		{false, []string{"shared-cores of the rate, old-version of the repetition", "shared-cores of the repetition, old-version of the repetition", "shared-cores of the rate, old-version of the repetition", "shared-cores of the repetition, old-version of the repetition"}},
		{true, []string{all, "shared-cores of the rate", "", "shared-cores of the rate", ""}},
	} {
		r := ofCurve(c.searched, loadPoints...)
		loads := Loads(r)
		if len(loads) != len(c.doubts) {
			t.Fatalf("searched %v: %d loads", c.searched, len(loads))
		}
		for i, l := range loads {
			if got := doubtsOf(l.Record); got != c.doubts[i] {
				t.Errorf("searched %v: %s has the doubts %q, want %q", c.searched, l.Name, got, c.doubts[i])
			}
			if l.Rate == 0 {
				continue
			}
			at := loadPoints[slices.IndexFunc(loadPoints, func(p store.CurvePoint) bool { return p.Rate == l.Rate })]
			if l.Record.Status != at.Status || l.Record.Reason != at.Reason || l.Record.Result.OfferedRate != at.Rate || l.Record.Result.Books != at.Books {
				t.Errorf("searched %v: %s is %+v", c.searched, l.Name, l.Record)
			}
			if l.Record.Result.Curve != nil || l.Record.Result.Sustainable != nil {
				t.Errorf("searched %v: %s holds more than its own measurement", c.searched, l.Name)
			}
		}
		if doubtsOf(r) != all || len(r.Result.Curve) != len(loadPoints) || own[:2][1].Code != "" {
			t.Errorf("searched %v: the record was changed", c.searched)
		}
	}
}

func TestALoadIsNamedAfterItsRateOrShare(t *testing.T) {
	text := func(r store.Record) string {
		var words []string
		for _, l := range Loads(r) {
			words = append(words, fmt.Sprintf("%s|%s|%v", l.Name, l.RowTitle, l.Rate))
		}
		return strings.Join(words, "; ")
	}
	given, shares := store.CurvePoint{Rate: 2000, Status: store.OK}, store.CurvePoint{Rate: 500, Fraction: 0.5, Status: store.OK}
	nothing := ofCurve(true)
	nothing.Result = nil
	for want, r := range map[string]store.Record{
		"rate 5/s|rate 5/s|0":       swept("kafka", 1, 5, nil),
		"curve|curve|0":             nothing,
		"rate 2k/s|curve 2k/s|2000": ofCurve(false, given),
		"curve|curve|0 ":            ofCurve(true),
		"sustainable|curve, searched|0; 50.0 % of sustainable|curve 50.0 %|500": ofCurve(true, shares),
	} {
		if got := text(r); got != strings.TrimSpace(want) {
			t.Errorf("loads %q, want %q", got, want)
		}
	}
}

func TestALevelIsOfAFixedRateOnlyWhereTheRateWasGiven(t *testing.T) {
	rate, peak := swept("kafka", 100, 0.5, nil), swept("kafka", 100, 0, nil)
	peak.Spec.Measure = "peak"
	for _, c := range []struct {
		name string
		r    store.Record
		want []bool
	}{
		{"a rate", rate, []bool{true}},
		{"a peak", peak, []bool{false}},
		{"a curve of rates", ofCurve(false, store.CurvePoint{Rate: 10, Status: store.OK}), []bool{true}},
		{"a curve of shares", ofCurve(true, store.CurvePoint{Rate: 10, Fraction: 0.1, Status: store.OK}), []bool{false, false}},
	} {
		loadPoints := LoadPointsOf(pointsOf([]store.Record{c.r}))
		var got []bool
		for _, l := range loadPoints {
			got = append(got, l.Fixed())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: fixed %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTheWholeOfACurveIsALevelOnlyWhereItSaysMore(t *testing.T) {
	refused := ofCurve(false)
	refused.Status, refused.Reason, refused.Result = store.Refused, "can't", nil
	aborted := refused
	aborted.Status, aborted.Reason, aborted.Repetition = store.Aborted, "interrupted", 2
	peak := swept("kafka", 100, 10, nil)
	peak.Spec.Measure = "peak"
	for _, c := range []struct {
		name    string
		records []store.Record
		want    string
	}{
		{"a curve of which nothing is known", []store.Record{refused}, "sustainable|curve|0 refused (can't), closed false"},
		{"the last attempt speaks", []store.Record{refused, aborted}, "sustainable|curve|0 aborted (interrupted), closed false"},
		{"a peak has no rate", []store.Record{peak}, "peak|peak|0 ok (), closed true"},
	} {
		loadPoints := pointsOf(c.records)[0].LoadPoints()
		if len(loadPoints) != 1 {
			t.Fatalf("%s: %d levels", c.name, len(loadPoints))
		}
		l := loadPoints[0]
		if got := fmt.Sprintf("%s|%s|%v %s (%s), closed %v", l.Name, l.RowTitle, l.Rate, l.Status, l.Why.Text, l.Closed); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	searched := pointsOf([]store.Record{ofCurve(true, store.CurvePoint{Rate: 500, Fraction: 0.5, Status: store.OK})})[0].LoadPoints()
	if len(searched) != 2 || searched[0].RowTitle != "curve, searched" || searched[1].RowTitle != "curve 50.0 %" || searched[1].Point.ID != "curve" {
		t.Errorf("%+v", searched)
	}
}

func TestACellOfALevelIsItsSumItsMedianOrItsBracket(t *testing.T) {
	loadPoint := LoadPoint{Status: store.OK}
	for i := range 3 {
		r := swept("kafka", 100, 10, nil)
		r.Result.Books = store.Books{Sent: 10, Lost: int64(i)}
		r.Result.PublishRate = float64(10 * i)
		r.Result.Sustainable = &store.Sustainable{HeldNs: 20e9, Low: float64(100 + i), High: float64(200 + i)}
		loadPoint.Records = append(loadPoint.Records, r)
	}
	if c := loadPoint.Cell("lost"); c.Kind != document.Figure || c.Number != 3 || c.Unused {
		t.Errorf("lost %+v", c)
	}
	if c := loadPoint.Cell("publish_rate"); c.Kind != document.Interval || c.Number != 10 || c.Low != 0 || c.High != 20 {
		t.Errorf("published %+v", c)
	}
	if c := loadPoint.Cell("sustainable_low"); c.Kind != document.Interval || c.Number != 101 || c.Low != 100 || c.High != 202 {
		t.Errorf("sustainable %+v", c)
	}
	if c := loadPoint.Cell("total_s"); c.Kind != document.Blank {
		t.Errorf("what wasn't measured is %+v", c)
	}
	loadPoint.Status = store.Void
	if !loadPoint.Cell("lost").Unused || !loadPoint.Cell("sustainable_low").Unused {
		t.Error("a void level's figures count")
	}
}

func TestWhatMeasuresNothingHasNoNumberOnItsAxis(t *testing.T) {
	peak := swept("kafka", 100, 10, nil)
	peak.PointID, peak.Spec.Measure, peak.Spec.Load = "peak", "peak", study.Load{}
	points := pointsOf([]store.Record{peak, swept("kafka", 100, 10, nil)})
	axes, index := Axes(LoadPointsOf(points))
	if len(axes) != 1 || axes[0].Name != "load" || axes[0].Numbers != nil {
		t.Errorf("axes %+v", axes)
	}
	for i, l := range LoadPointsOf(points) {
		if got := axes[0].Values[index[i][0]]; got != l.Name {
			t.Errorf("level %s lies at %s", l.Name, got)
		}
	}
}

func TestPausesOfAllRepetitionsAreMerged(t *testing.T) {
	var records []store.Record
	for i := range 3 {
		r := measured()
		r.Repetition, r.Spec.Measure, r.Spec.Load.Rate = i, "rate", 5
		if i > 0 {
			r.Result.Pauses = &store.Pauses{Late: latencies(10*i, 1000)}
		}
		records = append(records, r)
	}
	all := Distributions(pointsOf(records), LatencyKinds[0])
	if len(all) != 1 || all[0].N != 3 || all[0].Pauses.Count() != 30 || all[0].Latencies.Count() != 3000 {
		t.Errorf("%+v", all)
	}
}

func TestALoadThatNeverEndedOkEndedAsItsLastRepetitionDid(t *testing.T) {
	ended := func(repetition int, status store.Status, reason string) store.Record {
		r := swept("kafka", 100, 10, nil)
		r.Repetition, r.Status, r.Reason = repetition, status, reason
		return r
	}
	for name, c := range map[string]struct {
		records []store.Record
		want    string
	}{
		"alike, for other reasons": {[]store.Record{ended(1, store.Failed, "first"), ended(2, store.Failed, "second")}, "failed (second) of 2"},
		"in different ways":        {[]store.Record{ended(1, store.Failed, "lost"), ended(2, store.Void, "late")}, "void (late) of 2"},
		"ok between others":        {[]store.Record{ended(1, store.Failed, "lost"), ended(2, store.OK, ""), ended(3, store.Void, "late")}, "ok () of 1"},
	} {
		loads := pointsOf(c.records)[0].MeasuredLoads()
		if len(loads) != 1 {
			t.Fatalf("%s: %d loads", name, len(loads))
		}
		l := loads[0]
		if got := fmt.Sprintf("%s (%s) of %d", l.Status, l.Why.Text, len(l.Records)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Each repetition finds another sustainable rate, so that 80 % of one may be less than 50 % of another.
func TestSharesOfTheSustainableRateAreInTheirOrderThoughTheirRatesAreNot(t *testing.T) {
	counted := store.Measurement{Books: store.Books{Sent: 5}}
	first := ofCurve(true,
		store.CurvePoint{Fraction: 0.5, Rate: 20_000, Status: store.OK, Measurement: counted},
		store.CurvePoint{Fraction: 0.8, Rate: 32_000, Status: store.OK, Measurement: counted})
	second := ofCurve(true,
		store.CurvePoint{Fraction: 0.5, Rate: 10_000, Status: store.OK, Measurement: counted},
		store.CurvePoint{Fraction: 0.8, Rate: 16_000, Status: store.Void, Measurement: counted})
	second.Repetition = first.Repetition + 1
	var titles []string
	for _, l := range pointsOf([]store.Record{first, second})[0].LoadPoints() {
		titles = append(titles, l.RowTitle+" "+string(l.Status))
	}
	if want := []string{"curve, searched ok", "curve 50.0 % ok", "curve 80.0 % void", "curve 80.0 % ok"}; !slices.Equal(titles, want) {
		t.Errorf("rows are %q, want %q", titles, want)
	}
}

// A repetition whose broker died at the second rate failed as a whole: its first rate counts messages, and has no part in a median.
func TestAFailedRepetitionAddsNoFigureToARateThatEndedOk(t *testing.T) {
	at := func(rate float64, status store.Status, published float64, lost int64) store.CurvePoint {
		return store.CurvePoint{Rate: rate, Status: status, Measurement: store.Measurement{
			PublishRate: published, Books: store.Books{Sent: 100, Expected: 100, Lost: lost},
		}}
	}
	var records []store.Record
	for i, published := range []float64{10, 20} {
		r := ofCurve(false, at(1000, store.OK, published, 1), at(2000, store.OK, published, 0))
		r.Repetition = i + 1
		records = append(records, r)
	}
	died := ofCurve(false, at(1000, store.OK, 900, 5), at(2000, store.Failed, 900, 7))
	died.Status, died.Repetition = store.Failed, 3
	point := pointsOf(append(records, died))[0]
	rate, lost := MustMetric(KeyPublishRate), MustMetric(KeyLost)
	var shown, measured []string
	for _, l := range point.LoadPoints() {
		shown = append(shown, fmt.Sprintf("%s %s: %g, lost %g, n=%d", l.RowTitle, l.Status, l.Over(rate).Median, l.Over(lost).Median, len(l.Records)))
	}
	for _, l := range point.MeasuredLoads() {
		measured = append(measured, fmt.Sprintf("%s %s: %g, lost %g, n=%d", l.RowTitle, l.Status, l.Over(rate).Median, l.Over(lost).Median, len(l.Records)))
	}
	wantShown := []string{"curve 1k/s ok: 15, lost 7, n=2", "curve 2k/s ok: 15, lost 0, n=2", "curve 2k/s failed: 900, lost 7, n=1"}
	wantMeasured := []string{"curve 1k/s ok: 15, lost 7, n=2", "curve 2k/s ok: 15, lost 7, n=2"}
	if !slices.Equal(shown, wantShown) {
		t.Errorf("shown\n%q, want\n%q", shown, wantShown)
	}
	if !slices.Equal(measured, wantMeasured) {
		t.Errorf("measured\n%q, want\n%q", measured, wantMeasured)
	}
}

// Conclusions are drawn from repetitions that ended ok only, so a rate that ended ok before its repetition broke off is as unused as
// the repetition, in tables, figures and exports alike.
func TestARateOfRepetitionsThatAllBrokeOffIsNotUsed(t *testing.T) {
	at := func(rate float64, status store.Status) store.CurvePoint {
		return store.CurvePoint{Rate: rate, Status: status, Measurement: store.Measurement{
			PublishRate: rate, Books: store.Books{Sent: 100, Expected: 100, Lost: 1},
		}}
	}
	for _, status := range []store.Status{store.Failed, store.Void, store.Aborted} {
		var records []store.Record
		for i := range 2 {
			r := ofCurve(false, at(1000, store.OK), at(2000, status))
			r.Repetition, r.Status, r.Reason = i+1, status, "broke off"
			records = append(records, r)
		}
		point := pointsOf(records)[0]
		lost := 2.0 // of both repetitions: counts are facts
		loads := point.MeasuredLoads()
		if len(loads) != 2 {
			t.Fatalf("%s: %d loads", status, len(loads))
		}
		for _, l := range append(loads, point.LoadPoints()...) {
			if l.Used() || l.Status != status || l.RowTitle == "curve 1k/s" && l.Why.Text != "broke off" {
				t.Errorf("%s: %s is %s (%s), used %v, n=%d", status, l.RowTitle, l.Status, l.Why.Text, l.Used(), len(l.Records))
			}
			if got := l.Over(MustMetric(KeyLost)).Median; status == store.Failed && got != lost {
				t.Errorf("%s: %s lost %g, want %g", status, l.RowTitle, got, lost)
			}
		}
		for _, f := range Flat(records[0]) {
			if got := f.Value("status"); got != string(status) {
				t.Errorf("%s: %s is %s in flat records", status, f.Value("load"), got)
			}
		}
	}
}
