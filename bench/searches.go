package main

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// search is how long the search for what a broker sustains takes, from the start of the broker to the record.
func search(broker string) func(*bench, context.Context) error {
	return func(b *bench, ctx context.Context) error {
		const most = 50 * time.Second
		s := section{
			Title:    "Search on " + broker + ", 100 B",
			Settings: "1 topic, 1 producer, 1 consumer, every default; bounds within 5 %; the broker is started for each search",
		}
		c := runs{Name: "Brokermark"}
		for n := range b.pairs {
			r, err := b.program(ctx, broker, []string{"sustainable.width=0.05"}, "--measure", "sustainable")
			if err != nil {
				return fmt.Errorf("%s: %w", s.Title, err)
			}
			x := r.sample()
			x.Took = int64(r.record.Took())
			x.Rate, x.Note = searched(r.record)
			c.Samples = append(c.Samples, x)
			progress("%s, %s, search %d of %d: %s, %s", s.Title, c.Name, n+1, b.pairs, time.Duration(x.Took).Round(100*time.Millisecond), x.Note)
		}
		s.bound(c, "time of a search", func(x sample) float64 { return float64(x.Took) }, float64(most), timeForm)
		s.Runs = append(s.Runs, c)
		b.report.Sections = append(b.report.Sections, s)
		return nil
	}
}

// searched is the rate that a search found, and what else there is to say of it.
func searched(r store.Record) (rate float64, note string) {
	note = string(r.Status)
	if r.Reason != "" {
		note += ": " + r.Reason
	}
	for _, d := range r.Doubts {
		if d.Code == "incomplete-search" {
			note += ", " + d.Code
		}
	}
	if r.Result == nil || r.Result.Sustainable == nil {
		return 0, note
	}
	found := r.Result.Sustainable
	return found.Low, fmt.Sprintf("%s, %d trials, %s", results.BoundsText(found.Low, found.High, found.HeldNs), len(found.Trials), note)
}
