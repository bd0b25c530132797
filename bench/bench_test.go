package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTheReportsOfPeerToolsAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		of             interval
		report         string
		sent, received float64
		ok             bool
	}{
		"a log line":        {producerPerformance, "[2026-11-20] WARN something (org.apache.kafka)", 0, 0, false},
		"no rates yet":      {perfTestReport, "id: test-1, starting producer #0", 0, 0, false},
		"records":           {producerPerformance, "1443211 records sent, 1443211.0 records/sec (137.64 MB/sec), 0.9 ms avg latency, 9.0 ms max latency.", 1443211, 0, true},
		"without confirms":  {perfTestReport, "id: test-1, time 5.000 s, sent: 70,123 msg/s, received: 69998 msg/s, min/median: 1/2 µs", 70123, 69998, true},
		"with confirms":     {perfTestReport, "id: test-1, time 2.0 s, sent: 41000 msg/s, returned: 0 msg/s, confirmed: 40990 msg/s, nacked: 0 msg/s, received: 40980 msg/s", 41000, 40980, true},
		"over four lines":   {artemisPerfReport, "\n--- warmup false\n--- sent:         14858 msg/sec\n--- blocked:         22 msg/sec\n--- completed:    15548 msg/sec\n--- received:     15033 msg/sec", 14858, 15033, true},
		"not all the lines": {artemisPerfReport, "\n--- warmup false\n--- sent:         14858 msg/sec\n--- blocked:         22 msg/sec\n--- completed:    15548 msg/sec", 0, 0, false},
		"a line too late":   {artemisPerfReport, "--- sent:         14858 msg/sec\n--- blocked:         22 msg/sec\n--- completed:    15548 msg/sec\n--- received:     15033 msg/sec\n", 0, 0, false},
		"publishing only":   {perfTestReport, "id: test-1, time 2.0 s, sent: 41000 msg/s", 0, 0, false},
		"a summary of both": {perfTestReport, "id: test-1, sending rate avg: 41000 msg/s", 0, 0, false},
	} {
		var lines []line
		for text := range strings.SplitSeq(c.report, "\n") {
			lines = append(lines, line{text: text})
		}
		sent, received, ok := c.of.parse(lines)
		if ok != c.ok || ok && (sent != c.sent || received != c.received) {
			t.Errorf("%s: %v, %v, %v; want %v, %v, %v", name, sent, received, ok, c.sent, c.received, c.ok)
		}
	}
}

func TestQuantilesOfTheBareLoopAreWithinASixteenth(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var l latencies
	var all []int64
	for range 10_000 {
		ns := int64(math.Exp(3 + 17*random.Float64()))
		all = append(all, ns)
		l.add(ns)
	}
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.5, 0.99} {
		want := all[int(q*float64(len(all)))-1]
		if got := l.quantile(q); got > want || float64(got) < float64(want)*15/16-1 {
			t.Errorf("quantile %v: %d, the sorted list says %d", q, got, want)
		}
	}
}

func TestRatiosArePairwiseAndMissedTargetsAreCalledMissed(t *testing.T) {
	s := section{Title: "x", Runs: []runs{
		{"a", []sample{{Rate: 90, CPU: 2}, {Rate: 50, CPU: 4}, {Rate: 80, CPU: 3}}},
		{"b", []sample{{Rate: 100, CPU: 1}, {Rate: 100, CPU: 4}, {Rate: 80, CPU: 2}}},
	}}
	s.judge(target{of: "a", against: "b", rate: 0.9, cpu: 1.15})
	rate, cpu := s.Verdicts[0], s.Verdicts[1]
	if rate.Value != 0.9 || rate.Low != 0.5 || rate.High != 1 || !rate.met() {
		t.Errorf("rate: %+v, met %v", rate, rate.met())
	}
	if cpu.Value != 1.5 || cpu.met() {
		t.Errorf("processor time: %+v, met %v", cpu, cpu.met())
	}
}

func TestAContenderThatFailsTakesNoFiguresOfOthersAway(t *testing.T) {
	calls := 0
	peer := contender{"peer", func(context.Context) (sample, error) {
		if calls++; calls == 2 {
			return sample{}, errors.New("crashed")
		}
		return sample{Rate: 50, CPU: 1}, nil
	}}
	bare := contender{"bare", func(context.Context) (sample, error) { return sample{Rate: 100, CPU: 1}, nil }}
	broken := contender{"broken", func(context.Context) (sample, error) { return sample{}, errors.New("never starts") }}
	b := &bench{pairs: 3}
	err := b.compare(t.Context(), section{Title: "x", oneMode: true}, []contender{bare, peer, broken},
		[]target{{of: "peer", against: "bare", rate: 0.9}, {of: "broken", against: "bare", rate: 0.9}}, nil)
	if err == nil || !strings.Contains(err.Error(), "crashed") || !strings.Contains(err.Error(), "never starts") {
		t.Errorf("error %v", err)
	}
	if len(b.report.Sections) != 1 {
		t.Fatalf("%d sections", len(b.report.Sections))
	}
	s := b.report.Sections[0]
	if len(s.samples("bare")) != 3 || len(s.samples("peer")) != 1 || len(s.Runs) != 2 || calls != 2 {
		t.Errorf("runs %+v after %d calls", s.Runs, calls)
	}
	if len(s.Verdicts) != 1 || s.Verdicts[0].Value != 0.5 {
		t.Errorf("verdicts %+v", s.Verdicts)
	}
}

func TestPartsAreChosenByNameOrGroup(t *testing.T) {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	for only, want := range map[string]string{
		"": strings.Join(names, ","), "nats": "nats", "day,search-nats": "day,search-nats",
		"many-topics": "many-topics-nats,many-topics-redis",
		"search":      "search-kafka,search-rabbitmq,search-jetstream,search-nats,search-pulsar,search-redis",
		"none":        "",
	} {
		got, err := choose(only, names)
		if strings.Join(got, ",") != want || (err == nil) != (want != "") {
			t.Errorf("%q chooses %v, %v; want %s", only, got, err, want)
		}
	}
}

func TestDeliveriesAreReadOffAScrape(t *testing.T) {
	for line, want := range map[string]bool{
		`messaging_client_consumed_messages_total{messaging_system="nats"} 17`:      true,
		`messaging_client_consumed_messages_total{messaging_system="nats"} 1.5e+06`: true,
		`messaging_client_consumed_messages_total{messaging_system="nats"} 0`:       false,
		`# TYPE messaging_client_consumed_messages_total counter`:                   false,
		`messaging_client_sent_messages_total{messaging_system="nats"} 17`:          false,
	} {
		if got := delivered(line); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestTheMemoryOfASimulatedDayIsReadOffTheTests(t *testing.T) {
	const output = "=== RUN   TestADay\n    === ATTR  TestADay/an_hour grown_bytes 1234\n=== ATTR  TestADayOfSamples grown_bytes 5\n--- PASS: TestADay"
	got := grownBytes.FindAllStringSubmatch(output, -1)
	if len(got) != 2 || got[0][1] != "TestADay/an_hour" || got[0][2] != "1234" || got[1][2] != "5" {
		t.Errorf("%q", got)
	}
}

func TestTheBusiestWindowLeavesOutWhatStartingCosts(t *testing.T) {
	begin := time.Unix(0, 0)
	w := &watched{}
	// A second of starting at half a core, two of load at one core, a second of ending at a tenth.
	for _, r := range []struct{ at, cpu time.Duration }{{0, 0}, {time.Second, 500 * time.Millisecond}, {2 * time.Second, 1500 * time.Millisecond}, {3 * time.Second, 2500 * time.Millisecond}, {4 * time.Second, 2600 * time.Millisecond}} {
		w.readings = append(w.readings, reading{begin.Add(r.at), r.cpu})
	}
	if used, err := w.busiest(2 * time.Second); err != nil || used != 2*time.Second {
		t.Errorf("%v, %v; want the 2 s of the load", used, err)
	}
	if used, err := w.busiest(time.Minute); err == nil {
		t.Errorf("%v of a window longer than the run; want an error", used)
	}
}

func TestTheTimeOfAChildCountsAsTheProcesss(t *testing.T) {
	const work = `i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done`
	w, err := watch(t.Context(), nil, "/bin/sh", "-c", "/bin/sh -c '"+work+"'; true")
	if err != nil {
		t.Fatal(err)
	}
	if len(w.readings) == 0 {
		t.Fatal("no reading")
	}
	if last := w.readings[len(w.readings)-1].cpu; last < w.total/2 {
		t.Errorf("%v were seen from outside of the %v that the child used", last, w.total)
	}
	if w.memory == 0 {
		t.Error("no memory was seen")
	}
}

// A tool may work in a child of the process that was started, as brokermark does, and be ended before it has waited for it.
func TestTheProcessorTimeOfAChildCountsWhereTheToolIsEnded(t *testing.T) {
	const work = `i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo worked; sleep 1`
	w, err := watch(t.Context(), func([]line) bool { return true }, "sh", "-c", `sh -c "$0"; exit`, work)
	if err != nil {
		t.Fatal(err)
	}
	if used := w.lines[0].cpu; w.total < used/2 { // the last sample was up to 50 ms earlier
		t.Errorf("%v were used, %v counted", used, w.total)
	}
}
