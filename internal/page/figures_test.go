package page_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/browsertest"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// choose sets the select of a section whose label begins so, and returns what is chosen then.
func choose(t *testing.T, b *browsertest.Tab, section, label, value string) {
	t.Helper()
	got := browsertest.Eval[string](t, b, fmt.Sprintf(`(() => { const l = [...document.querySelectorAll("#%s label")].find(l => l.innerText.startsWith(%q));
		if (!l) return "no such choice"; const s = l.querySelector("select"); const o = [...s.options].find(o => o.text === %q); if (!o) return "no such option";
		s.value = o.value; s.dispatchEvent(new Event("change")); return o.text; })()`, section, label, value))
	if got != value {
		t.Fatalf("%s, %s: %s: %s", section, label, value, got)
	}
}

// rows are the texts of a section's table, by the text that heads the row.
func rows(t *testing.T, b *browsertest.Tab, selector string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, row := range browsertest.Eval[[][]string](t, b, fmt.Sprintf(`new Promise(r => setTimeout(() => r([...document.querySelectorAll(%q)].map(tr => [...tr.children].map(c => c.innerText))), 200))`, selector+" tbody tr")) {
		out[strings.Fields(row[0])[0]] = row[1:]
	}
	return out
}

// at are the sound records of a fixed rate, by broker.
func at(records []store.Record, setting, load string) map[string][]store.Record {
	out := map[string][]store.Record{}
	for _, p := range results.Of(records).Points {
		if p.Setting() == setting && p.Load() == load && len(p.Ok()) > 0 {
			out[p.Name] = p.Ok()
		}
	}
	return out
}

const (
	setting = "100 B, at-least-once"
	load    = "rate 20k/s"
)

func TestThePercentilesAreThoseOfTheMergedHistograms(t *testing.T) {
	records := stored(t, sweep(3))
	b := open(t, summary(t, "percentiles", records), desktop)
	browsertest.Eval[bool](t, b, `(document.querySelector("#percentiles details").open = true)`)
	choose(t, b, "percentiles", "Messages", setting)
	choose(t, b, "percentiles", "Load", load)
	shown := rows(t, b, "#percentiles details")
	all := at(records, setting, load)
	if len(all) != 3 {
		t.Errorf("%d brokers to compare, want 3", len(all))
	}
	for name, rs := range all {
		var merged hist.Snapshot
		for _, r := range rs {
			merged = merged.Merge(r.Result.Latency.EndToEnd)
		}
		want := []string{unit.Count.Format(float64(merged.Count()))}
		for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
			want = append(want, unit.Nanoseconds.Format(float64(merged.Quantile(q))))
		}
		got := shown[name]
		if len(got) < len(want) {
			t.Errorf("%s has %d figures: %q", name, len(got), got)
			continue
		}
		if !slices.Equal(got[:len(want)], want) {
			t.Errorf("%s: the page shows %q, the store has %q", name, got, want)
		}
	}
	b.Quiet(t)
}

func TestTheCostsAreTheStores(t *testing.T) {
	records := stored(t, sweep(3))
	b := open(t, summary(t, "costs", records), desktop)
	choose(t, b, "cost", "Messages", setting)
	choose(t, b, "cost", "Load", load)
	shown := rows(t, b, "#cost")
	compared := 0
	for name, rs := range at(records, setting, load) {
		for i, key := range []string{"broker_cpu_s_per_million", "generator_cpu_s_per_million", "", "broker_rss_bytes"} {
			m, err := results.MetricByKey(key)
			if err != nil {
				continue
			}
			want := m.Unit.Format(results.Summarize(m.Values(rs)).Median)
			if got := shown[name]; len(got) < 4 || !strings.HasPrefix(got[i], want) {
				t.Errorf("%s, %s: the page shows %q, the store has %s", name, key, got, want)
			}
			compared++
		}
	}
	if compared != 9 {
		t.Errorf("%d figures compared, want three of three brokers", compared)
	}
	b.Quiet(t)
}

func TestTheHeatMapHoldsTheStoresMedians(t *testing.T) {
	records := stored(t, linger(4, 3, 3))
	b := open(t, summary(t, "heat", records), desktop)
	choose(t, b, "sweeps", "Figure", "e2e p99")
	choose(t, b, "sweeps", "client.linger.ms", "row")
	choose(t, b, "sweeps", "client.batch.size", "column")
	sizes := browsertest.Eval[[]string](t, b, `[...document.querySelectorAll("#sweeps thead th")].slice(1).map(th => th.innerText)`)
	shown := rows(t, b, "#sweeps")
	m, err := results.MetricByKey("e2e_p99_ns")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, p := range results.Of(records).Points {
		axes := p.Records[0].Axes
		want := m.Unit.Format(results.Summarize(m.Values(p.Ok())).Median)
		column := slices.Index(sizes, axes["client.batch.size"])
		if got := shown[axes["client.linger.ms"]]; column < 0 || column >= len(got) || got[column] != want {
			t.Errorf("%v: the page shows %q in %q, the store has %s", axes, got, sizes, want)
		}
		compared++
	}
	if compared != 12 {
		t.Errorf("%d cells compared", compared)
	}
	b.Quiet(t)
}

func TestTheCourseIsTheStoresSeries(t *testing.T) {
	records := stored(t, sweep(1))
	b := open(t, summary(t, "course", records), desktop)
	browsertest.Eval[bool](t, b, `(document.querySelector("#course details").open = true)`)
	notes := browsertest.Eval[string](t, b, `document.querySelector("#course .figure-notes").innerText`)
	var series []store.Tick
	for _, r := range records {
		if len(r.Spec.Faults) > 0 && r.Spec.Delivery == "at-least-once" && strings.Contains(notes, "kafka, 100 B, at-least-once, rate 10k/s") {
			series = r.Result.Series
		}
	}
	if series == nil {
		t.Fatalf("another course is shown than that of the fault: %s", notes)
	}
	shown := rows(t, b, "#course details")
	for _, tick := range series {
		want := []string{
			tick.Phase, unit.PerSecond.Format(tick.PublishRate), unit.PerSecond.Format(tick.ReceiveRate), unit.Count.Format(float64(tick.Backlog)),
			unit.Nanoseconds.Format(float64(tick.EndToEndP50)), unit.Nanoseconds.Format(float64(tick.EndToEndP99)),
		}
		at := fmt.Sprint(float64(tick.OffsetNs) / 1e9)
		if got := shown[at]; len(got) < len(want) || !slices.Equal(got[1:len(want)], want[1:]) {
			t.Errorf("at %s s the page shows %q, the store has %q", at, got, want)
		}
	}
	b.Quiet(t)
}
