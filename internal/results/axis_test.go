package results

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// swept is a record of one cell of a sweep.
func swept(broker string, size study.Size, rate float64, axes map[string]string) store.Record {
	r := store.Record{PointID: fmt.Sprint(broker, size, rate, axes), Status: store.OK, Axes: axes, Spec: study.Spec{
		Broker: broker, MessageSize: study.Sizes{{Size: size, Weight: 1}}, Delivery: "at-least-once", Persistence: "log", Acks: "leader", Replicas: 1, Nodes: 1,
		Measure: "rate", Load: study.Load{Shape: "constant", Rate: rate},
	}}
	r.Result = &store.Result{Measurement: store.Measurement{PublishRate: rate}}
	return r
}

func axisText(a Axis) string { return fmt.Sprintf("%s%v%v", a.Name, a.Values, a.Numbers) }

func TestAxesAreWhatLevelsDifferIn(t *testing.T) {
	for _, c := range []struct {
		name    string
		records []store.Record
		want    []string
	}{
		{"one point", []store.Record{swept("kafka", 100, 10, nil)}, nil},
		{"brokers", []store.Record{swept("nats", 100, 10, nil), swept("kafka", 100, 10, nil)}, []string{"broker[kafka nats][]"}},
		{
			"rates and sizes in their order",
			[]store.Record{swept("kafka", 2048, 1000, nil), swept("kafka", 512, 90, nil)},
			[]string{"load[rate 90/s rate 1k/s][90 1000]", "messageSize[512 B 2 KiB][512 2048]"},
		},
		{"an axis of the study before what follows from it", []store.Record{
			swept("kafka", 100, 10, map[string]string{"client.linger.ms": "5"}), swept("kafka", 100, 10, map[string]string{"client.linger.ms": "10"}),
		}, []string{"client.linger.ms[5 10][5 10]"}},
		{"words without numbers come first", []store.Record{
			swept("kafka", 100, 10, map[string]string{"window": "10ms"}), swept("kafka", 100, 10, map[string]string{"window": "none"}), swept("kafka", 100, 10, map[string]string{"window": "2ms"}),
		}, []string{"window[none 2ms 10ms][]"}},
		{"names that the spec has its own axes for", []store.Record{
			swept("kafka", 100, 10, map[string]string{"size": "100", "rate": "10"}), swept("kafka", 200, 10, map[string]string{"size": "200", "rate": "10"}),
		}, []string{"messageSize[100 B 200 B][100 200]"}},
	} {
		points := pointsOf(c.records)
		axes, index := Axes(LoadPointsOf(points))
		var got []string
		for _, a := range axes {
			got = append(got, axisText(a))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: axes %q, want %q", c.name, got, c.want)
		}
		for i, l := range allCoordinates(LoadPointsOf(points)) {
			for k, a := range axes {
				if v, _ := l.on(a.Name); a.Values[index[i][k]] != v.text {
					t.Errorf("%s: level %d lies at %s of %s, not at %s", c.name, i, a.Values[index[i][k]], a.Name, v.text)
				}
			}
		}
	}
}

func TestWhatFollowsFromAnotherAxisIsNone(t *testing.T) {
	weak, strong := swept("kafka", 100, 10, nil), swept("kafka", 100, 10, nil)
	weak.PointID, weak.Spec.Delivery, weak.Spec.Acks = "weak", "at-most-once", "none"
	names := func(records ...store.Record) string {
		points := pointsOf(records)
		axes, _ := Axes(LoadPointsOf(points))
		var out []string
		for _, a := range axes {
			out = append(out, a.Name)
		}
		return strings.Join(out, " ")
	}
	// Both part the load points in the same way; the first by name says it all.
	if got := names(weak, strong); got != "acks" {
		t.Errorf("axes %s, want acks", got)
	}
	// What the study names itself says it before.
	weak.Axes, strong.Axes = map[string]string{"delivery": "at-most-once"}, map[string]string{"delivery": "at-least-once"}
	if got := names(weak, strong); got != "delivery" {
		t.Errorf("axes %s, want delivery", got)
	}
	// A third one that shares one value but not the other is told apart by both.
	mixed := strong
	mixed.PointID, mixed.Spec.Acks = "mixed", "none"
	if got := names(weak, strong, mixed); got != "delivery acks" {
		t.Errorf("axes %s, want delivery acks", got)
	}
	// So is one whose value two of the other's have in common.
	once := strong
	once.PointID, once.Spec.Delivery, once.Axes = "once", "exactly-once", map[string]string{"delivery": "exactly-once"}
	if got := names(weak, mixed, once); got != "delivery acks" {
		t.Errorf("axes %s, want delivery acks", got)
	}
}

func TestAnAxisThatALoadPointLacksIsUnset(t *testing.T) {
	points := pointsOf([]store.Record{swept("kafka", 100, 10, map[string]string{"window": "5"}), swept("nats", 100, 10, nil), swept("kafka", 100, 10, map[string]string{"window": "6"})})
	loadPoints := LoadPointsOf(points)
	axes, index := Axes(loadPoints)
	at := slices.IndexFunc(axes, func(a Axis) bool { return a.Name == "window" })
	if at < 0 {
		t.Fatalf("axes %v", axes)
	}
	for i, l := range loadPoints {
		if without := l.Point.Spec.Broker == "nats"; (index[i][at] == Unset) != without {
			t.Errorf("%s lies at %d", l.Point.Name, index[i][at])
		}
	}
}

func TestSharesAndRatesHaveNoCommonNumbers(t *testing.T) {
	curve := swept("kafka", 100, 0, nil)
	curve.Spec.Measure = "curve"
	curve.Result.Curve = []store.CurvePoint{{Fraction: 0.5, Rate: 400, Status: store.OK}, {Fraction: 0.8, Rate: 700, Status: store.OK}}
	load := func(records ...store.Record) string {
		points := pointsOf(records)
		axes, _ := Axes(LoadPointsOf(points))
		for _, a := range axes {
			if a.Name == "load" {
				return axisText(a)
			}
		}
		return ""
	}
	if got, want := load(curve), "load[50.0 % of sustainable 80.0 % of sustainable][0.5 0.8]"; got != want {
		t.Errorf("shares: %s, want %s", got, want)
	}
	if got, want := load(curve, swept("kafka", 100, 500, nil)), "load[50.0 % of sustainable 80.0 % of sustainable rate 500/s][]"; got != want {
		t.Errorf("shares and a rate: %s, want %s", got, want)
	}
	if got, want := load(swept("kafka", 100, 600, nil), swept("kafka", 100, 500, nil)), "load[rate 500/s rate 600/s][500 600]"; got != want {
		t.Errorf("rates: %s, want %s", got, want)
	}
	if got, want := load(swept("kafka", 100, 1, nil), swept("kafka", 100, 0.5, nil)), "load[rate 0.500/s rate 1/s][0.5 1]"; got != want {
		t.Errorf("low rates: %s, want %s", got, want)
	}
}

func TestAValueMeasuresANumberASizeOrATime(t *testing.T) {
	for text, want := range map[string]float64{"5m": 300e9, "5": 5, "-0.5": -0.5, "1KiB": 1024, "2MiB": 2 << 20, "10ms": float64(10 * time.Millisecond), "1m30s": 90e9} {
		if v, ok := Magnitude(text); !ok || v != want {
			t.Errorf("%s measures %v, %v; want %v", text, v, ok, want)
		}
	}
	for _, text := range []string{"", "zstd", "5 apples", "leader", "inf", "-Infinity", "nan"} {
		if v, ok := Magnitude(text); ok || v != 0 {
			t.Errorf("%q measures %v", text, v)
		}
		if v := valueOf(text); v.text != text || !math.IsNaN(v.number) {
			t.Errorf("%q lies at %v", text, v)
		}
	}
}

func TestLevelsAreThePointAndTheRatesOfItsCurve(t *testing.T) {
	curve := func(status store.Status, fractions bool, loadPoints ...store.Status) store.Record {
		r := swept("kafka", 100, 0, nil)
		r.PointID, r.Spec.Measure, r.Status, r.Reason = "p", "curve", status, "of "+string(status)
		for i, s := range loadPoints {
			c := store.CurvePoint{Rate: float64(1000 - 100*i), Status: s, Reason: "at " + string(s)}
			if fractions {
				c.Fraction = 0.9 - 0.1*float64(i)
			}
			r.Result.Curve = append(r.Result.Curve, c)
		}
		return r
	}
	searched := curve(store.OK, true, store.OK)
	searched.Result.Sustainable = &store.Sustainable{HeldNs: 20e9, Low: 1000}
	refused := swept("kafka", 100, 10, nil)
	refused.Status, refused.Reason, refused.Result = store.Refused, "can't", nil
	bursts := swept("kafka", 100, 10, nil)
	bursts.Spec.Load.Shape = "bursts"
	poisson := swept("kafka", 100, 10, nil)
	poisson.Spec.Load.Shape = "poisson"
	failed := swept("kafka", 100, 10, nil)
	failed.Status, failed.Reason = store.Failed, "lost"
	for _, c := range []struct {
		name    string
		records []store.Record
		want    string
	}{
		{"a rate", []store.Record{swept("kafka", 100, 10, nil)}, "rate 10/s at 10 ok×1"},
		{"poisson arrivals", []store.Record{poisson}, "rate 10/s poisson at 10 ok×1"},
		{"bursts have no rate", []store.Record{bursts}, "rate 10/s bursts at 0 ok×1"},
		{"failed", []store.Record{failed}, "rate 10/s at 10 failed (lost)×1"},
		{"refused", []store.Record{refused}, "rate 10/s at 10 refused (can't)×0"},
		{"a curve of given rates", []store.Record{curve(store.OK, false, store.OK, store.Void)}, "rate 900/s at 900 void (at void)×1; rate 1k/s at 1000 ok (at ok)×1"},
		{"a searched curve", []store.Record{searched}, "sustainable at 0 ok (of ok)×1; 90.0 % of sustainable at 1000 ok (at ok)×1"},
		{
			"repetitions that ended differently",
			[]store.Record{curve(store.OK, false, store.OK), curve(store.OK, false, store.Void), curve(store.OK, false, store.OK)},
			"rate 1k/s at 1000 ok (at ok)×2; rate 1k/s at 1000 void (at void)×1",
		},
		{
			"a repetition that failed at every rate",
			[]store.Record{curve(store.OK, false, store.OK), curve(store.Failed, false, store.Failed)},
			"rate 1k/s at 1000 ok (at ok)×1; rate 1k/s at 1000 failed (at failed)×1",
		},
	} {
		for i := range c.records {
			c.records[i].Repetition = i + 1
		}
		points := pointsOf(c.records)
		var got []string
		for _, l := range points[0].LoadPoints() {
			reason := ""
			if l.Why.Text != "" {
				reason = " (" + l.Why.Text + ")"
			}
			got = append(got, fmt.Sprintf("%s at %v %s%s×%d", l.Name, l.Rate, l.Status, reason, len(l.Records)))
			if l.Point.ID != points[0].ID || l.Closed {
				t.Errorf("%s: %+v", c.name, l)
			}
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: got %q, want %q", c.name, text, c.want)
		}
	}
	cutDown := pointsOf([]store.Record{searched})[0].LoadPoints()[1].Records[0]
	if cutDown.Result.Sustainable != nil || cutDown.Result.OfferedRate != 1000 || searched.Result.Sustainable == nil {
		t.Errorf("a level is its own measurement: %+v", cutDown.Result)
	}
}

// A stranger's record may have many axes and many rates, whose product would fill the memory.
func TestLoadsOfAPointShareTheAxesOfItsStudy(t *testing.T) {
	r := store.Record{PointID: "a", Status: store.OK, Axes: map[string]string{}, Spec: study.Spec{Broker: "kafka", Measure: "curve"}, Result: &store.Result{}}
	for i := range 10_000 {
		r.Axes[fmt.Sprint("a", i)] = "1"
	}
	for i := range 1000 {
		r.Result.Curve = append(r.Result.Curve, store.CurvePoint{Rate: float64(i + 1), Status: store.OK})
	}
	loads := LoadPointsOf(pointsOf([]store.Record{r}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	allCoordinates(loads)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; len(loads) != 1000 || took > 50<<20 {
		t.Errorf("%d loads took %d MB", len(loads), took>>20)
	}
}
