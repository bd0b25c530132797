package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// tuned is a sweep of two client settings and the window of brokers, at one fixed rate.
func tuned(brokers ...string) []store.Record {
	var records []store.Record
	for _, p := range products {
		if !slices.Contains(brokers, p.Name) {
			continue
		}
		for _, linger := range []string{"0", "5"} {
			for _, batch := range []string{"16KiB", "1MiB"} {
				for _, window := range []string{"10", "1000"} {
					r := p.record(100, "at-least-once", 1000, 1)
					r.ID = int64(len(records) + 1)
					r.PointID = fmt.Sprint("p", r.ID)
					r.Axes = map[string]string{"broker": p.Name, "client.linger.ms": linger, "client.batch.size": batch, "inFlight.messages": window}
					r.Spec.Client = map[string]any{"linger.ms": linger, "batch.size": batch}
					records = append(records, r)
				}
			}
		}
	}
	return records
}

func TestASweepHasAColumnForEachAxisAndSaysConstantsOnce(t *testing.T) {
	records := tuned("kafka")
	golden(t, "sweep.txt", rendered(t, build(t, "summary", records), "terminal", 80))
	golden(t, "sweep.md", rendered(t, build(t, "summary", records), "markdown", 0))
	for _, name := range []string{"summary", "headtohead"} {
		table := build(t, name, records).Tables()[0]
		var keys []string
		for _, c := range table.Columns {
			if c.Identifies && !c.MachinesOnly {
				keys = append(keys, c.Key)
			}
		}
		if want := []string{"axis:client.batch.size", "axis:client.linger.ms", "axis:inFlight.messages"}; !slices.Equal(keys, want) {
			t.Errorf("%s: rows are told apart by %q, want %q", name, keys, want)
		}
		if row := table.Rows[0]; row["broker"].Text != "kafka client.batch.size=16KiB client.linger.ms=0 inFlight.messages=10" || row["axis:client.batch.size"].Text != "16KiB" {
			t.Errorf("%s: for machines a row is of %q, with %q", name, row["broker"].Text, row["axis:client.batch.size"].Text)
		}
	}
}

func TestASweepOfSeveralBrokersKeepsTheirColumn(t *testing.T) {
	text := string(rendered(t, build(t, "summary", tuned("kafka", "rabbitmq")), "terminal", 100))
	for _, says := range []string{"All points: rate 1k/s, persistence log,", "broker    batch.size  linger.ms", "rabbitmq  1MiB        5"} {
		if !strings.Contains(text, says) {
			t.Errorf("the summary doesn't say %q:\n%s", says, text)
		}
	}
}

// What a table could only show by leaving no room for figures stands in the names.
func TestALayoutHasColumnsForAFewAxesOnly(t *testing.T) {
	wide := tuned("kafka")
	for i := range wide {
		for axis := range maxAxisColumns {
			wide[i].Axes[fmt.Sprintf("client.setting%d", axis)] = fmt.Sprint(i % 2)
		}
	}
	for _, c := range []struct {
		name    string
		records []store.Record
		axes    int
	}{
		{"brokers alone", demo(1), 0},
		{"three axes", tuned("kafka"), 3},
		{"eight axes", wide, 0},
		{"one point", tuned("kafka")[:1], 0},
		{"points of which one axis is constant", tuned("kafka")[:4], 2},
	} {
		points := results.Of(c.records).Points
		l := layoutOf(points)
		if len(l.axes) != c.axes || (l.sentence() == "") != (c.axes == 0) {
			t.Errorf("%s: columns for %q, above them %q", c.name, l.axes, l.sentence())
		}
		if !l.byName() {
			continue
		}
		if columns := l.columns(); len(columns) != 1 || columns[0].cell(points[0]).Text != points[0].Name {
			t.Errorf("%s: %d columns, want the name alone", c.name, len(columns))
		}
	}
}

func TestASettingThatAllPointsOfATableShareStandsAboveIt(t *testing.T) {
	records := tuned("kafka") // two sizes, of which the larger was measured with one window
	for _, r := range tuned("kafka") {
		if r.Axes["inFlight.messages"] == "10" {
			r.PointID += "-large"
			r.Spec.MessageSize[0].Size = 1024
			records = append(records, r)
		}
	}
	points := results.Of(records).Points
	for _, g := range results.BySetting(points) {
		l := layoutOf(g.Members).withConstants(g.Members, results.LoadPointsOf(g.Members))
		if large := strings.HasPrefix(g.Name, "1 KiB"); large != strings.Contains(l.sentence(), "kafka, rate 1k/s, inFlight.messages 10, persistence log") {
			t.Errorf("%s: above stands %q", g.Name, l.sentence())
		}
	}
}

func TestASweepOfOneBrokerIsAnsweredByItsRecommendation(t *testing.T) {
	records := tuned("kafka")
	records[0].Status, records[0].Reason = store.Void, "the generator was late"
	text := strings.Join(strings.Fields(string(rendered(t, build(t, "summary", records), "terminal", 100))), " ")
	if strings.Contains(text, "then kafka client") || !strings.Contains(text, "Of 8 points client.batch.size=16KiB client.linger.ms=0 inFlight.messages=1000 is the best") || !strings.Contains(text, "Not considered: 1 without a usable figure (1 void).") {
		t.Errorf("the summary of a sweep says:\n%s", text)
	}
	records = altered(tuned("kafka"), "", func(r *store.Record) {})
	records[0].Result.Latency.EndToEnd = hist.Snapshot{}
	if text := string(rendered(t, build(t, "summary", records), "jsonl", 0)); !strings.Contains(text, "Not considered: 1 without a known e2e p99.") {
		t.Errorf("a point that ended ok without the figure: %s", text)
	}
	both := string(rendered(t, build(t, "summary", tuned("kafka", "rabbitmq")), "terminal", 100))
	if !strings.Contains(both, "e2e p99, undecided: the runs point to rabbitmq") {
		t.Errorf("brokers of a sweep aren't ranked:\n%s", both)
	}
}

// A study of each broker as it is shipped names every one by a setting; that is no sweep.
func TestOnePointOfEachBrokerIsRankedAndNothingRecommended(t *testing.T) {
	var records []store.Record
	for _, p := range products {
		r := p.record(100, "at-least-once", 1000, 1)
		r.Axes = map[string]string{"shipped": r.Spec.Broker}
		records = append(records, r)
	}
	if len(records) < minSweepPoints {
		t.Fatalf("%d brokers are too few for a sweep anyway", len(records))
	}
	if sweeps := sweepsOf(results.Of(records).Points); len(sweeps) > 0 {
		t.Errorf("recommends %v", sweeps[0].verdict())
	}
}

func TestASweepWhoseAxesChangeTogetherHasNoTableOfTheirChanges(t *testing.T) {
	var records []store.Record
	for i := range minSweepPoints {
		r := products[0].record(100, "at-least-once", 1000, 1)
		r.Axes = map[string]string{"client.linger.ms": fmt.Sprint(i), "client.batch.size": fmt.Sprint(i)}
		r.PointID += fmt.Sprint(i)
		records = append(records, r)
	}
	tables := build(t, "recommend", records).Tables()
	if len(tables) == 0 {
		t.Fatal("nothing is recommended")
	}
	for _, table := range tables {
		if len(table.Rows) == 0 {
			t.Errorf("the table %q is empty", table.Title)
		}
	}
}

func TestBrokersUnderDifferentGuaranteesAreToldWhyTheyStandAlone(t *testing.T) {
	nats, jetstream := products[2], products[3]
	apart := []store.Record{nats.record(100, "at-most-once", 1000, 1), jetstream.record(100, "at-least-once", 1000, 1)}
	const said = "jetstream and nats are not compared: they were asked for different guarantees (at-least-once, at-most-once). With the same --delivery they are."
	together := append(apart[:1:1], jetstream.record(100, "at-most-once", 1000, 1), apart[1])
	otherSize := []store.Record{apart[0], jetstream.record(1024, "at-least-once", 1000, 1)}
	for name, c := range map[string]struct {
		records []store.Record
		says    bool
	}{"apart": {apart, true}, "one of them at another rate, too": {append(apart[:2:2], jetstream.record(100, "at-least-once", 500, 1)), true}, "compared once": {together, false}, "another size": {otherSize, false}, "one broker": {apart[:1], false}, "nothing": {nil, false}} {
		text := strings.Join(strings.Fields(string(rendered(t, build(t, "summary", c.records), "terminal", 100))), " ")
		if strings.Contains(text, said) != c.says {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}
