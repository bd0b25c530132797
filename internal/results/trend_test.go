package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// inOrder are the repetitions of a peak with these throughputs, in the order in which they were made.
func inOrder(broker string, size study.Size, throughputs ...float64) []store.Record {
	var records []store.Record
	for i, throughput := range throughputs {
		r := swept(broker, size, 0, nil)
		r.Spec.Measure = study.MeasurePeak
		r.Repetition, r.Began = i+1, time.Unix(int64(1000*i), 0)
		r.Result.Throughput = throughput
		records = append([]store.Record{r}, records...) // the order in the store is another
	}
	return records
}

func TestABrokerThatGetsFasterFromRepetitionToRepetitionIsTold(t *testing.T) {
	var rising, steady []store.Record
	for size := range study.Size(3) {
		rising = append(rising, inOrder("kafka", 100+size, 270, 340, 820, 1010)...)
		steady = append(steady, inOrder("nats", 100+size, 1000, 1010, 990, 1005)...)
	}
	failed := inOrder("kafka", 100, 1, 2, 3, 4, 5000)[0]
	failed.Status = store.Failed
	got := Trends(pointsOf(append(append(rising, failed), steady...)))
	if len(got) != 1 {
		t.Fatalf("got %+v, want kafka's alone", got)
	}
	const want = "Throughput of kafka rose from repetition to repetition: in the median of 3 points the later half had 3.00 times that of the earlier."
	if got[0].Finding != want {
		t.Errorf("got  %q\nwant %q", got[0].Finding, want)
	}
	if !strings.Contains(got[0].Detail, "a broker of its own") {
		t.Errorf("each repetition had a broker of its own, but %q", got[0].Detail)
	}
	for i := range rising {
		rising[i].Spec.Attach = []string{"kafka.example:9092"}
	}
	if got := Trends(pointsOf(rising)); len(got) != 1 || !strings.Contains(got[0].Detail, "The broker or a machine changed") {
		t.Errorf("an attached broker, but %+v", got)
	}
}

func TestNoTrendIsToldWhereThereIsNone(t *testing.T) {
	for name, throughputs := range map[string][]float64{
		"one repetition":             {100},
		"too few for any conclusion": {100, 200, 400},
		"the same":                   {100, 100, 100, 100, 100, 100},
		"up and down":                {100, 300, 200, 50, 310, 120},
		"less than a search shows":   {100, 101, 102, 103, 104, 105, 106},
		"nothing":                    {0, 0, 0, 0, 0, 0},
	} {
		if got := Trends(pointsOf(inOrder("kafka", 100, throughputs...))); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := Trends(pointsOf(inOrder("kafka", 100, 600, 550, 500, 300, 250, 230))); len(got) != 1 || !strings.Contains(got[0].Finding, "fell") {
		t.Errorf("a fall: %+v", got)
	}
}

// Two points rise steadily, and the three others, of two repetitions each, fall.
func TestNoTrendIsToldOfPointsThatContradictEachOther(t *testing.T) {
	var records []store.Record
	for size := range study.Size(5) {
		throughputs := []float64{100, 88}
		if size < 2 {
			throughputs = []float64{100, 110, 120, 130, 140, 150, 160, 170, 180, 190}
		}
		records = append(records, inOrder("kafka", 100+size, throughputs...)...)
	}
	if got := Trends(pointsOf(records)); got != nil {
		t.Errorf("got %+v", got)
	}
}

// At most one of twenty stores in which nothing changed may have a trend, however its repetitions are spread over points and brokers.
func TestChanceShowsFewTrends(t *testing.T) {
	const stores = 2000
	random := rand.New(rand.NewPCG(7, 7))
	for _, shape := range []struct{ brokers, points, repetitions int }{{1, 1, 5}, {1, 1, 12}, {1, 6, 2}, {1, 4, 4}, {4, 3, 5}} {
		told := 0
		for range stores {
			var records []store.Record
			for broker := range shape.brokers {
				for size := range shape.points {
					var throughputs []float64
					for range shape.repetitions {
						throughputs = append(throughputs, math.Exp(random.NormFloat64()))
					}
					records = append(records, inOrder(fmt.Sprint("b", broker), study.Size(100+size), throughputs...)...)
				}
			}
			if Trends(pointsOf(records)) != nil {
				told++
			}
		}
		if share := float64(told) / stores; share > 0.055 { // 0.05 and its standard deviation, 0.005
			t.Errorf("%+v: %.1f %% of stores without a trend have one", shape, 100*share)
		}
	}
}
