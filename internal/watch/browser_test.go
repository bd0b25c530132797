package watch

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/browsertest"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
)

var pictures = flag.String("pictures", "", "directory to leave pictures of the page in")

func TestMain(m *testing.M) { browsertest.Main(m) }

// until waits for the page to say something somewhere.
func until(t *testing.T, b *browsertest.Tab, selector, text string) {
	t.Helper()
	wait := `(async () => {
		let seen = "";
		for (let i = 0; i < 200; i++) {
			seen = document.querySelector(%q).textContent;
			if (seen.includes(%q)) return "";
			await new Promise(r => setTimeout(r, 50));
		}
		return "it says: " + seen;
	})()`
	if missing := browsertest.Eval[string](t, b, fmt.Sprintf(wait, selector, text)); missing != "" {
		t.Errorf("%s never said %q; %s", selector, text, missing)
	}
}

func TestThePageShowsWhatTheRunDoesAsTextWithoutComplaints(t *testing.T) {
	for name, c := range map[string]struct {
		width int64
		dark  bool
	}{"desktop-light": {width: 1280}, "phone-dark": {width: 390, dark: true}} {
		t.Run(name, func(t *testing.T) {
			w := newWatched()
			s := w.serve(t)
			w.event(lab.Event{Kind: lab.Began, Run: run(1), Total: 3})
			w.ended(1, store.Void)
			w.event(lab.Event{Kind: lab.Began, Run: run(2), Done: 1, Total: 3, Left: 90 * time.Minute})
			w.trial(2, 1000)
			w.f.ticks = curve() // of two minutes, which no test waits for
			b := browsertest.Open(t, s.URL, s.URL, browsertest.Screen{Width: c.width, Height: 800, Dark: c.dark})
			until(t, b, "#rate .value", "1k/s")
			for selector, text := range map[string]string{
				"#rate .beside": "of 1k/s · received 1.98k/s", "#backlog .value": "7", "#latency .value": "2 ms", "#latency .beside": "p50 1 ms",
				"#cpu .value": "0.50 + 0.25", "#cpu .beside": "broker + 2 agents", "#agents li:last-child": "right on h0.15",
				"#quiet": "At least one agent is silent", "#stage": "fixed load · draining", "#done": "1 of 3 repetitions", "#left": "about 1 h ",
				"#title": "<script>alert(1)</script>", "#endings tbody": "<script>alert(1)</script>", "#rate .top": "up to ",
			} {
				until(t, b, selector, text)
			}
			if drawn := browsertest.Eval[int](t, b, `document.querySelectorAll("svg path").length`); drawn != 8 {
				t.Errorf("%d lines are drawn, want 8", drawn)
			}
			if wide := browsertest.Eval[int](t, b, `document.documentElement.scrollWidth`); int64(wide) > c.width {
				t.Errorf("the page is %d wide on a screen of %d", wide, c.width)
			}
			if *pictures != "" {
				b.Shoot(t, filepath.Join(*pictures, name+".png"))
			}
			t.Run("no rule of accessibility is broken", b.Accessible)
			w.ended(2, store.OK)
			w.ended(3, store.OK)
			for selector, text := range map[string]string{
				"#endings tbody tr:first-child .outcome": "received 900/s", "#endings tbody tr:first-child .p99": "2 ms", "#endings tbody tr:first-child .doubts": "generator, too short",
				"#endings tbody tr:first-child .took": "5 s", "#endings tbody tr:last-child .outcome": "late", "#strips .rows": "2 ms (median of 2)",
			} {
				until(t, b, selector, text)
			}
			s.Close()
			until(t, b, "#title", "The run is over.")
			until(t, b, "#stage", "1 void, 2 ok")
			until(t, b, "#rate .value", "/s") // what was seen last stays
			until(t, b, "#strips .rows", "2 ms (median of 2)")
			if marks := browsertest.Eval[int](t, b, `document.querySelectorAll("#strips path").length`); marks != 2 {
				t.Errorf("%d marks are drawn, want one for each repetition with a latency", marks)
			}
			if *pictures != "" {
				b.Shoot(t, filepath.Join(*pictures, name+"-over.png"))
			}
			if wide := browsertest.Eval[int](t, b, `document.documentElement.scrollWidth`); int64(wide) > c.width {
				t.Errorf("at the end the page is %d wide on a screen of %d", wide, c.width)
			}
			t.Run("at the end neither", b.Accessible)
			b.Quiet(t)
		})
	}
}

func curve() []Tick {
	var ticks []Tick
	for i := range 240 {
		f := float64(i%40) / 40
		ticks = append(ticks, Tick{
			AtNs: int64(i-240) * 5e8, Target: 1000, Sent: 1000 - 100*f, Received: 1980 - 300*f, Backlog: int64(200 * f), P50Ns: 1e6, P99Ns: int64(2e6 + 6e6*f),
			BrokerCPU: 0.5 + 0.2*f, GeneratorCPU: 0.25,
		})
	}
	return ticks
}

// A long outcome beside a long name leaves the other columns room for their words.
func TestTheColumnsOfWhatFinishedBreakNoWord(t *testing.T) {
	w := newWatched()
	w.f.Outcome = func(store.Record) Outcome {
		return Outcome{Text: strings.Repeat("received 900/s of 1k/s, ", 20), P99Ns: 2_000_000, Doubts: []string{"generator", "too short", "busy machine"}}
	}
	s := w.serve(t)
	defer s.Close()
	r := run(1)
	r.Point.Label = strings.Repeat("rabbitmq rate 5k/s at-least-once ", 3)
	w.event(lab.Event{Kind: lab.Ended, Run: r, Done: 1, Total: 3, Record: &store.Record{Status: store.OK, Began: time.Unix(0, 0), Ended: time.Unix(5, 0)}})
	b := browsertest.Open(t, s.URL, s.URL, browsertest.Screen{Width: 1200, Height: 800})
	until(t, b, "#endings tbody", "received 900/s")
	const broken = `(() => {
		const words = [];
		for (const cell of document.querySelectorAll("#endings th, #endings td")) {
			for (const m of cell.textContent.matchAll(/\S+/g)) {
				const range = document.createRange();
				range.setStart(cell.firstChild, m.index);
				range.setEnd(cell.firstChild, m.index + m[0].length);
				if (range.getClientRects().length > 1) words.push(m[0]);
			}
		}
		return words.join(" ");
	})()`
	if words := browsertest.Eval[string](t, b, broken); words != "" {
		t.Errorf("broken over lines: %s", words)
	}
	if *pictures != "" {
		b.Shoot(t, filepath.Join(*pictures, "columns-1200.png"))
	}
}
